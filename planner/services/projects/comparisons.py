"""Comparisons, estimates and sweeps for a team: its rates applied, their source named."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from threading import BoundedSemaphore
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone

from planner.comparison import TooLarge, TooMuchWork, compare_in_steps
from planner.comparison.lowest_rents import price_estimate
from planner.comparison.sweeps import Fields, combine, summarize, vary
from planner.contract.amounts import format_month, next_month
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.costing.analysis.simulation import Report, nobody_waits
from planner.costing.optimizer.work import WorkCancelledError
from planner.models import Access, Job, JobState, SweepRow, Team
from planner.services.jobs import jobs
from planner.services.teams.access import EDIT, require
from planner.services.teams.teams import inherit, with_sources
from planner.services.work_budget import current_budget
from planner.sizing.estimate import estimate
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.common.problems import list_errors
from pricing.market.snapshot import Catalog

AT_ONCE = 2
"""Comparisons that a process computes at the same time: more of them only take the interpreter's
lock from each other, and a short one goes on beside a long one; measured at 8 clients, 2026."""
MOST_WAIT_S = 2.0
"""Seconds that a comparison waits for two long ones before it goes on beside them; 2026."""
_places = BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True)
class ComparisonOutcome:
    """A comparison request with its answer, or the reasons why there is none."""

    request: dict[str, Any]
    """As the caller wrote it."""
    resolved_request: dict[str, Any] = field(default_factory=dict)
    """With the team's rates and defaults applied."""
    inherited: dict[str, str] = field(default_factory=dict)
    """Request field → where in the team's settings its value comes from."""
    result: ComparisonAnswer | None = None
    errors: tuple[InvalidInput, ...] = ()

    @property
    def answer(self) -> ComparisonAnswer:
        """The answer. Raises `ValueError` where there is none."""
        if self.result is None:
            raise ValueError("This request has no answer.")
        return self.result


def compare_for_team(
    request: Any,
    team: Team | None = None,
    catalog: Catalog | None = None,
    report: Report = nobody_waits,
    runs_already: bool = False,
) -> ComparisonOutcome:
    """Compares `request` with the team's rates and defaults applied, at the prices of `catalog`
    (today's for None), within the budget of the request or job. Raises `InvalidInput`.

    `report` is told how far a simulation is; `runs_already` lets the plan begin before today.
    """
    *_, whole = compare_in_steps_for_team(request, team, catalog, report, runs_already)
    return whole


def compare_in_steps_for_team(
    request: Any,
    team: Team | None = None,
    catalog: Catalog | None = None,
    report: Report = nobody_waits,
    runs_already: bool = False,
) -> Iterator[ComparisonOutcome]:
    """The same, first with what is advised and what it costs, last with everything."""
    market = catalogs.current() if catalog is None else catalog

    def begin(resolved: Request) -> tuple[ComparisonAnswer, Iterator[ComparisonAnswer]]:
        meter = current_budget().meter
        steps = _compute_few_at_once(
            compare_in_steps(resolved, market, work=meter, report=report, runs_already=runs_already)
        )
        return next(steps), steps

    resolved, inherited, (first, later) = answer_at_rates(request, team, market, begin)
    for answer in chain([first], later):
        yield ComparisonOutcome(dict(request), resolved, inherited, with_sources(answer, inherited))


def _compute_few_at_once(steps: Iterator[ComparisonAnswer]) -> Iterator[ComparisonAnswer]:
    """Each step as it comes; no place is held while a step is sent."""
    while True:
        has_place = _places.acquire(timeout=MOST_WAIT_S)
        try:
            answer = next(steps, None)
        finally:
            if has_place:
                _places.release()
        if answer is None:
            return
        yield answer


Request = dict[str, Any]
Answered = TypeVar("Answered")


def answer_at_rates(
    request: object,
    team: Team | None,
    market: Catalog,
    answer: Callable[[Request], Answered],
    *without: str,
) -> tuple[Request, dict[str, str], Answered]:
    """`request` with the rates and defaults of the team, `without` some sections, where each came
    from, and the answer to it. What is too much work here is refused with who may ask for more."""
    if not isinstance(request, Mapping):
        raise InvalidInput("", "a request is a JSON object")
    resolved, inherited = dict(request), dict[str, str]()
    if team:
        resolved, inherited = inherit(request, team, market.exchange_rates, *without)
    try:
        return resolved, inherited, answer(resolved)
    except TooLarge:
        raise
    except TooMuchWork as refusal:
        hint = current_budget().hint
        raise TooMuchWork(refusal.field, f"{refusal.message} {hint}".strip()) from None


def comparison_job(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    progress.step(0, None, "Comparing")

    def report(done: int, total: int) -> None:
        progress.step(done, total, "Simulating outcomes")

    request = job.arguments["request"]
    return compare_for_team(request, job.team, report=report).answer.to_json()


def estimate_request(request: object) -> EstimateAnswer:
    """Hours, memory and layout of the workload of `request`, with what each accelerator rents for
    at the current prices."""
    if not isinstance(request, Mapping):
        raise InvalidInput("", "a request is a JSON object")
    return price_estimate(estimate(request).answer, request, catalogs.current())[0]


# Sweeps -----------------------------------------------------------------------------------

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
    values in `variations`, all at the prices in force now. What is refused says so in its row.

    The requests stand in the arguments of the sweep's job. Its chunks are jobs too, each of which
    writes its rows at once: a chunk that is done twice writes once.
    """
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
        jobs.SWEEP,
        arguments,
        team,
        state=JobState.RUNNING,
        started_at=timezone.now(),
        total=total,
    )
    starts = range(0, total, jobs.QUESTIONS_PER_CHUNK)
    for part, start in enumerate(starts, start=1):
        chunk = {"start": start, "stop": min(start + jobs.QUESTIONS_PER_CHUNK, total)}
        whose = {"team": team, "created_by_id": sweep.created_by_id, "owner": sweep.owner}
        Job.objects.create(
            kind=jobs.SWEEP_CHUNK,
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


def chunk_job(job: Job, progress: jobs.Progress) -> None:
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
            raise jobs.CancelledError
        SweepRow.objects.bulk_create(rows, ignore_conflicts=True)
        done = SweepRow.objects.filter(sweep=sweep).count()
        Job.objects.filter(pk=sweep.pk).update(done=done)


def _compare(request: Any, team: Team | None, market: Catalog) -> Fields:
    try:
        return {"row": summarize(compare_for_team(request, team, market).answer)}
    except InvalidInput as refusal:
        return {"errors": list_errors(refusal, request)}
    except (jobs.CancelledError, WorkCancelledError, *jobs.DATABASE_GONE):
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
    if sweep.is_over or chunks.filter(state__in=jobs.OPEN_STATES).exists():
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
