"""Months that were not over when the last file with their costs was uploaded."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from math import isfinite

from django.db.models import Max

from planner.contract.months import add_months, name_month, parse_month
from planner.models import ActualLine, Project
from planner.usage.demand.history import EDGE_DAYS


def find_open_months(project: Project, currency: str) -> frozenset[str]:
    """Months of the uploads in `currency` whose latest upload is of before their end, in UTC: what
    is paid of them is a part, as in a bill of the running month."""
    lines = ActualLine.objects.filter(upload__project=project, upload__currency=currency)
    latest = lines.order_by().values_list("month").annotate(Max("upload__created_at"))
    return frozenset(month for month, moment in latest if moment < _end(month))


def leave_outside(months: frozenset[str], planned: Collection[str]) -> frozenset[str]:
    """Months without those before the first or after the last that a plan pays in: nothing more is
    expected of these.

    >>> sorted(leave_outside(frozenset({"2026-11", "2027-02"}), ["2027-01", "2027-04"]))
    ['2027-02']
    """
    if not planned:
        return months
    first, last = min(planned), max(planned)
    return frozenset(month for month in months if first <= month <= last)


def describe_cut_month(until_s: float) -> Iterator[str]:
    """What to look at where the use of a bill ends days before its last month does."""
    if not isfinite(until_s):
        return
    last = dt.datetime.fromtimestamp(until_s - 1, dt.UTC)
    month = f"{last:%Y-%m}"
    if last < _end(month) - dt.timedelta(days=EDGE_DAYS):
        yield (
            f"The use of {name_month(month)} ends on day {last.day} in this file. If the bill goes "
            "on after it, upload the rest: the month counts as whole."
        )


def _end(month: str) -> dt.datetime:
    first_after = add_months(parse_month(month), 1)
    return dt.datetime(first_after.year, first_after.month, 1, tzinfo=dt.UTC)


def describe_open_months(months: frozenset[str]) -> Iterator[str]:
    """What a month that was not over counts as."""
    if months:
        named = ", ".join(name_month(month) for month in sorted(months))
        was, they = ("was", "it is") if len(months) == 1 else ("were", "they are")
        yield (
            f"{named} {was} uploaded before the end of the month: the estimate at completion "
            f"expects the rest of it at the observed use. When {they} over, upload what is "
            "missing, or take the upload out and upload the whole month."
        )
