"""The only way to an answer: `compare(request, catalog)`, the same for page, API and commands.

No figure depends on the day it is asked, the order of offers or the number of cores; only the
ages of prices are counted from `today`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from planner.comparison_steps.build_answer import build_answer
from planner.comparison_steps.deadlines.sooner import finish_sooner
from planner.comparison_steps.preparation import Preparation
from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.work_limits import DEFAULT_WORK_UNITS, refuse_large
from planner.contract.answer.comparison import AssumptionRow, ComparisonAnswer
from planner.contract.request.comparison import ComparisonRequest, read_request
from planner.costing.advice.verdict import choose
from planner.costing.analysis.progress import Report, nobody_waits
from planner.costing.assumptions.assumption import read_previous_assumptions
from planner.costing.optimizer.work import TooLargeError, WorkMeter, WorkSpentError
from planner.sizing.job_in_peak import refuse_job_above_peak
from pricing.market.snapshot import Catalog


def compare(
    request: Mapping[str, object] | ComparisonRequest,
    catalog: Catalog,
    *,
    today: dt.date | None = None,
    previous_assumptions: Iterable[AssumptionRow] = (),
    work: WorkMeter | None = None,
    report: Report = nobody_waits,
) -> ComparisonAnswer:
    """What renting, owning and mixing cost for `request` at the prices of `catalog`.

    Raises `InvalidInput` with every field refused. `today` dates ages and the default start.
    `previous_assumptions` of an earlier answer stand in for defaults that have changed since.
    `report` is told how far the simulation is, and may end it by raising.
    `work` bounds what the answer may take: searches and analyses that would take more end early
    and say so, and a request that leaves no room for a first plan raises `TooMuchWork`.
    """
    results = solve(request, catalog, today, previous_assumptions, work, report)
    if not results.preparation.previous_assumptions:
        refuse_job_above_peak(results.request.workload)
    with _refuse_large(results):
        return build_answer(finish_sooner(results))


@dataclass(frozen=True)
class PlanTotal:
    """What the advised plan costs in all, undiscounted; None where no plan keeps to the limits."""

    total: Decimal | None
    currency: str


def find_total(
    request: Mapping[str, object] | ComparisonRequest,
    catalog: Catalog,
    *,
    today: dt.date | None = None,
    work: WorkMeter | None = None,
) -> PlanTotal:
    """The total of the plan that `compare` advises, to the cent, without the rest of its answer:
    a quarter of the time. Raises as `compare` does, with what only the rest refuses left out."""
    results = solve(request, catalog, today, work=work)
    refuse_job_above_peak(results.request.workload)
    with _refuse_large(results):
        plan = choose(finish_sooner(results).allowed_scenarios)
    return PlanTotal(plan.total_cost if plan else None, results.request.currency)


@contextmanager
def _refuse_large(results: ComparisonResults) -> Iterator[None]:
    """Says in a refusal what is large about a question that there is too little work for."""
    try:
        yield
    except WorkSpentError as error:
        is_too_large = isinstance(error, TooLargeError)
        raise refuse_large(results.request, is_too_large=is_too_large) from None


def solve(
    request: Mapping[str, object] | ComparisonRequest,
    catalog: Catalog,
    today: dt.date | None = None,
    previous_assumptions: Iterable[AssumptionRow] = (),
    work: WorkMeter | None = None,
    report: Report = nobody_waits,
) -> ComparisonResults:
    """The results behind the answer, plans and analyses in the core's own types."""
    preparation = Preparation(
        read_request(request),
        catalog,
        today or dt.datetime.now(dt.UTC).date(),
        read_previous_assumptions(previous_assumptions),
    )
    preparation.check()
    return ComparisonResults(preparation, work or WorkMeter(DEFAULT_WORK_UNITS), report=report)
