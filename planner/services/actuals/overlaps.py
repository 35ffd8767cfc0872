"""Months that an upload holds and an earlier one, still counted, holds too."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from planner.contract.months import name_day, name_month
from planner.models import ActualLine, ActualsUpload

PaidMonths = dict[str, set[str]]
"""Month → providers that were paid, empty text where the file does not say."""


def upload_warnings(upload: ActualsUpload) -> list[str]:
    """What whoever uploads a file is to look at: rows that are doubtful, months counted twice."""
    return [*upload.doubtful, *overlaps(upload)]


def overlaps(upload: ActualsUpload) -> list[str]:
    """A sentence for each other upload of the project that counts the same months again.

    Files of different providers may hold the same month; one that names none may hold any.
    """
    others = ActualsUpload.objects.filter(project=upload.project_id, currency=upload.currency)
    others = others.exclude(pk=upload.pk)
    mine = _paid_months(ActualLine.objects.filter(upload=upload))[upload.pk]
    theirs = _paid_months(ActualLine.objects.filter(upload__in=others))
    shared = ((other, _shared(mine, theirs[other.pk])) for other in others)
    return [_sentence(other, months) for other, months in shared if months]


def _paid_months(lines: QuerySet[ActualLine, Any]) -> dict[UUID, PaidMonths]:
    purchases: dict[UUID, PaidMonths] = defaultdict(lambda: defaultdict(set))
    rows = lines.order_by().values_list("upload", "month", "provider").distinct()
    for upload, month, provider in rows:
        purchases[upload][month].add(provider)
    return purchases


def _shared(mine: PaidMonths, theirs: PaidMonths) -> list[str]:
    both = sorted(set(mine) & set(theirs))
    return [m for m in both if mine[m] & theirs[m] or "" in mine[m] | theirs[m]]


def _sentence(other: ActualsUpload, months: list[str]) -> str:
    first, last = name_month(months[0]), name_month(months[-1])
    when = f"{first} is" if len(months) == 1 else f"{first} to {last} are"
    return (
        f"{when} counted in an earlier upload too: {other}, of {name_day(other.created_at)}. "
        "If this file restates them, take that one out, beside its name under Uploads or with "
        f"DELETE /api/v1/projects/{other.project_id}/actuals/{other.pk}/."
    )
