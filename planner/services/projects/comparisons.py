"""Comparisons and estimates for a team: its rates applied, their source named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from planner.comparison import PlanTotal, compare, find_total
from planner.comparison_steps.work_limits import TooLarge, TooMuchWork
from planner.contract.answer.calibration import CalibrationAnswer
from planner.contract.answer.comparison import AssumptionRow, ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.versions import read_answer
from planner.contract.request.comparison import with_rules
from planner.costing.analysis.progress import Report, nobody_waits
from planner.costing.optimizer.work import WorkMeter
from planner.models import Job, Team
from planner.services.jobs.jobs import Progress
from planner.services.projects.lowest_rents import LowestRents
from planner.services.teams.team_rates import inherit, with_sources
from planner.services.work_budget import current_budget
from planner.sizing.calibration.pilot import calibrate_request
from planner.sizing.candidates.price_time import with_prices
from planner.sizing.estimate import estimate
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

MAX_BATCH = 100


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
    needs_job: bool = False
    """Whether it asks for more than a page computes while a visitor waits."""

    @property
    def has_answer(self) -> bool:
        return self.result is not None

    @property
    def answer(self) -> ComparisonAnswer:
        """The answer. Raises `ValueError` where there is none."""
        if self.result is None:
            raise ValueError("This request has no answer.")
        return self.result


def compare_for_team(
    request: object,
    team: Team | None = None,
    catalog: Catalog | None = None,
    previous_assumptions: Sequence[AssumptionRow] = (),
    report: Report = nobody_waits,
) -> ComparisonOutcome:
    """Compares `request` with the team's rates and defaults applied, at the prices of `catalog`
    (today's for None), within the budget of the request or job. Raises `InvalidInput`.

    `previous_assumptions` of an earlier answer replace defaults that have changed since; `report`
    is told how far a simulation is.
    """
    if not isinstance(request, Mapping):
        raise InvalidInput("", "a request is a JSON object")
    market = catalogs.current() if catalog is None else catalog
    resolved, inherited = _resolve(request, team, market)
    with _spend() as meter:
        result = compare(
            resolved,
            market,
            previous_assumptions=previous_assumptions,
            work=meter,
            report=report,
        )
    if team:
        result = with_sources(result, inherited)
    return ComparisonOutcome(dict(request), resolved, inherited, result)


def find_total_for_team(
    request: Mapping[str, Any], team: Team | None = None, catalog: Catalog | None = None
) -> PlanTotal:
    """The total that `compare_for_team` comes to, without the rest. Raises `InvalidInput`."""
    market = catalogs.current() if catalog is None else catalog
    resolved, _ = _resolve(request, team, market)
    with _spend() as meter:
        return find_total(resolved, market, work=meter)


def _resolve(
    request: Mapping[str, Any], team: Team | None, market: Catalog
) -> tuple[dict[str, Any], dict[str, str]]:
    """A request with the team's rates, defaults and the edition of the rules, and which of its
    fields come from where in the team's settings."""
    resolved, inherited = dict(request), dict[str, str]()
    if team:
        resolved, inherited = inherit(request, team, market.exchange_rates)
    return with_rules(resolved), inherited


@contextmanager
def _spend() -> Iterator[WorkMeter]:
    """The meter of the request or job; a question that takes more than it has says who may ask
    for more."""
    budget = current_budget()
    try:
        yield budget.meter
    except TooLarge:
        raise
    except TooMuchWork as refusal:
        raise TooMuchWork(refusal.field, f"{refusal.message} {budget.hint}".strip()) from None


def compare_batch(
    items: Sequence[Mapping[str, Any]], team: Team | None = None
) -> Iterator[dict[str, Any]]:
    """An answer or the errors of each `{key, request}`, in order; one error stops nothing."""
    market = catalogs.current()
    for item in items:
        try:
            outcome = compare_for_team(item["request"], team, market)
            yield {"key": item["key"], "answer": outcome.answer.to_json()}
        except InvalidInput as refusal:
            yield {"key": item["key"], "errors": refusal.to_errors()}


def comparison_job(job: Job, progress: Progress) -> dict[str, Any]:
    """The answer to `request`, at `revisions` where they are named: then without the team's
    rates, which the request of a shared link holds already."""
    progress.step(0, None, "Comparing")
    revisions = job.arguments.get("revisions")
    catalog = None if revisions is None else catalogs.at(revisions)
    team = job.team if revisions is None else None

    def report(done: int, total: int) -> None:
        progress.step(done, total, "Simulating outcomes")

    request = job.arguments["request"]
    return compare_for_team(request, team, catalog, report=report).answer.to_json()


def read_job_outcome(job: Job) -> ComparisonOutcome:
    """The answer of a finished comparison job, with the request it belongs to."""
    request = dict(job.arguments["request"])
    resolved, inherited = request, dict[str, str]()
    if job.team and job.arguments.get("revisions") is None:
        resolved, inherited = inherit(request, job.team, catalogs.current().exchange_rates)
    result = read_answer(job.result) if job.result else None
    return ComparisonOutcome(request, resolved, inherited, result)


def batch_job(job: Job, progress: Progress) -> dict[str, Any]:
    items = job.arguments["items"]
    results = []
    for result in compare_batch(items, job.team):
        results.append(result)
        progress.step(len(results), len(items), f"Compared {result['key']}")
    return {"results": results}


def estimate_request(request: object) -> EstimateAnswer:
    """Hours, memory and layout of the workload of `request`, with what each accelerator rents for
    at the current prices."""
    if not isinstance(request, Mapping):
        raise InvalidInput("", "a request is a JSON object")
    return price_estimate(estimate(request).answer, request)[0]


def price_estimate(
    answer: EstimateAnswer, request: Mapping[str, Any]
) -> tuple[EstimateAnswer, LowestRents]:
    """The estimate with the lowest current prices on demand that a plan of `request` may take,
    and what sells at them."""
    rents = LowestRents.read(request, catalogs.current(), answer.candidates)
    return with_prices(answer, rents.usd_per_hour, rents.at_work), rents


def calibrate_run(request: object) -> CalibrationAnswer:
    """What the log and the pilot of `request` say."""
    if not isinstance(request, Mapping):
        raise InvalidInput("", "a request is a JSON object")
    return calibrate_request(request)
