"""Sweeps of a team: thousands of requests compared by many processes, a row for each.

The requests stand in the arguments of the sweep's job. Its chunks are jobs too, each of which
writes its rows at once: a chunk that is done twice writes once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.comparison.sweeps import Fields, combine, summarize, vary
from planner.contract.amounts import format_month, next_month
from planner.costing.optimizer.work import WorkCancelledError
from planner.models import Access, Job, JobState, SweepRow, Team
from planner.services.jobs import jobs
from planner.services.jobs.jobs import (
    DATABASE_GONE,
    OPEN_STATES,
    QUESTIONS_PER_CHUNK,
    SWEEP,
    SWEEP_CHUNK,
    CancelledError,
    Progress,
)
from planner.services.projects.comparisons import compare_for_team
from planner.services.teams.access import EDIT, require
from planner.services.work_budget import current_budget
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.common.problems import list_errors
from pricing.market.snapshot import Catalog

logger = logging.getLogger(__name__)
MAX_REQUESTS = 5_000
MAX_FIELDS, MAX_VALUE_CHARACTERS = 20, 500
"""Of the variations: every row shows its values."""


@transaction.atomic
def start_sweep(
    access: Access,
    team: Team,
    *,
    requests: Sequence[Any] = (),
    request: Mapping[str, Any] | None = None,
    variations: Mapping[str, Sequence[Any]] | None = None,
) -> Job:
    """Queues a comparison of each of `requests`, or of `request` with each combination of the
    values in `variations`, all at the prices in force now. What is refused says so in its row."""
    require(access, team.pk, EDIT)
    total = prod(map(len, variations.values())) if variations else len(requests)
    if not 1 <= total <= MAX_REQUESTS:
        field = "variations" if variations else "requests"
        raise InvalidInput(field, f"make {total:,} requests; a sweep has 1 to {MAX_REQUESTS:,}")
    if variations and len(variations) > MAX_FIELDS:
        raise InvalidInput("variations", f"vary {len(variations)} fields; at most {MAX_FIELDS}")
    for field, values in (variations or {}).items():
        if any(len(json.dumps(value)) > MAX_VALUE_CHARACTERS for value in values):
            most = f"has a value of more than {MAX_VALUE_CHARACTERS} characters"
            raise InvalidInput(f"variations.{field[:60]}", f"{most}; put it into requests")
    if request is not None and variations:
        next(vary(request, variations))  # A field that leads nowhere is refused at once.
    arguments = {
        "requests": list(requests),
        "request": request,
        "variations": variations,
        "revisions": {info.provider: info.revision for info in catalogs.current().revisions},
    }
    sweep = jobs.add(
        access,
        SWEEP,
        arguments,
        team,
        state=JobState.RUNNING,
        started_at=timezone.now(),
        total=total,
    )
    starts = range(0, total, QUESTIONS_PER_CHUNK)
    for part, start in enumerate(starts, start=1):
        chunk = {"start": start, "stop": min(start + QUESTIONS_PER_CHUNK, total)}
        whose = {"team": team, "created_by_id": sweep.created_by_id, "owner": sweep.owner}
        Job.objects.create(
            kind=SWEEP_CHUNK,
            arguments=chunk,
            parent=sweep,
            part=part,
            request_id=sweep.request_id,
            **whose,
        )
    jobs.wake_up(len(starts))
    sweep.refresh_from_db()
    return sweep


def values_at(sweep: Job, index: int) -> Fields:
    """The values in which a request of a sweep differs; none of one that was listed."""
    grid = sweep.arguments["variations"]
    return next(combine(grid, index)) if grid else {}


def chunk_job(job: Job, progress: Progress) -> None:
    """Compares the requests of a chunk that have no row yet, and writes the rows at once."""
    sweep, start, stop = job.parent, job.arguments["start"], job.arguments["stop"]
    assert sweep is not None
    market = catalogs.at(sweep.arguments["revisions"])
    month = format_month(next_month(sweep.created_at.date()))
    stored = sweep.arguments
    requests = stored["requests"][start:stop]
    if stored["variations"]:
        varied = vary(stored["request"], stored["variations"], start, stop)
        requests = [request for _, request in varied]
    rows = []
    for index, request in enumerate(requests, start):
        progress.step(index - start, stop - start)
        current_budget().renew()
        dated = {"start": month, **request} if isinstance(request, Mapping) else request
        rows.append(SweepRow(sweep=sweep, index=index, **_compare(dated, job.team, market)))
    with transaction.atomic():
        if Job.objects.select_for_update().get(pk=sweep.pk).is_over:
            raise CancelledError
        SweepRow.objects.bulk_create(rows, ignore_conflicts=True)
        done = SweepRow.objects.filter(sweep=sweep).count()
        Job.objects.filter(pk=sweep.pk).update(done=done)


def _compare(request: Any, team: Team | None, market: Catalog) -> Fields:
    try:
        return {"row": summarize(compare_for_team(request, team, market).answer)}
    except InvalidInput as refusal:
        return {"errors": list_errors(refusal, request)}
    except (CancelledError, WorkCancelledError, *DATABASE_GONE):
        raise
    except Exception:
        logger.exception("A request of a sweep failed.")
        return {"errors": _say("Internal error; see the server log.")}


def _say(message: str) -> list[Fields]:
    return list_errors(InvalidInput("", message))


@transaction.atomic
def settle(job: Job) -> None:
    """Ends a sweep, or that of a chunk, once all chunks are over; the requests of a chunk that
    failed say so."""
    sweep = Job.objects.select_for_update().get(pk=job.parent_id or job.pk)
    chunks = sweep.parts.order_by("part")
    if sweep.is_over or chunks.filter(state__in=OPEN_STATES).exists():
        return
    for chunk in chunks.filter(state=JobState.FAILED):
        places = range(chunk.arguments["start"], chunk.arguments["stop"])
        errors = _say((chunk.error or {}).get("detail", ""))
        SweepRow.objects.bulk_create(
            [SweepRow(sweep=sweep, index=index, errors=errors) for index in places],
            ignore_conflicts=True,
        )
    sweep.state, sweep.done, sweep.finished_at = JobState.SUCCEEDED, sweep.total, timezone.now()
    sweep.save(update_fields=["state", "done", "finished_at"])
    chunks.delete()
