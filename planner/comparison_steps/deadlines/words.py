"""What an answer says of when work is done: its months, and runs done sooner than asked. PURE."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.scenario_results import Sooner
from planner.contract.money import format_money
from planner.costing.advice.part_words import (
    EACH_AT_ANY_TIME,
    describe_choice,
    fits_any_month,
)
from planner.costing.advice.warnings import has_no_deadline
from planner.costing.results.scenario_result import Scenario
from pricing.common.pluralize import pluralize


def describe_span(results: ComparisonResults, plan: Scenario, *, is_small: bool) -> str:
    """Over how long a total falls due: all months of the plan, of small jobs and of work without a
    deadline those alone in which anything is paid; `in all` where that is one."""
    months = results.calendar.months
    paid = sorted({line.month for line in plan.lines})
    if is_done_at_any_time(results, plan):
        return "in all"
    if paid and (is_small or has_no_deadline(results.request.workload)):
        months = min(months, paid[-1] - paid[0] + 1)
    if months == 1 < results.calendar.months:
        return "in all"
    years = pluralize(months // 12, "year")
    return f"over {years}" if months % 12 == 0 else f"over {pluralize(months, 'month')}"


def is_done_at_any_time(results: ComparisonResults, plan: Scenario) -> bool:
    """Whether the plan's months are those in which its work may be done, in any one of them."""
    if describe_choice(results.request) in ("", EACH_AT_ANY_TIME):
        return False
    sources = (results.inputs.by_key[key] for key in plan.used_hours)
    return any(fits_any_month(plan, results.inputs, one) for one in sources)


def warn_of_even_payments(results: ComparisonResults) -> Iterator[str]:
    """That the payments by month are those of work laid evenly over months of which people choose
    one."""
    advised = results.recommendation.scenario
    if advised is None or results.is_small:
        return
    if not is_done_at_any_time(results, results.scenarios[advised]):
        return
    busy = np.flatnonzero(results.inputs.hours)
    first, last = (results.calendar.month(int(month)) for month in busy[[0, -1]])
    yield (
        f"The work may be done at any time from {first:%B %Y} to {last:%B %Y}, and the payments of "
        "the plan are spread evenly over these months: done in one go, all of it falls due in the "
        "month of the work."
    )


def describe_sooner(sooner: Sooner, results: ComparisonResults) -> str:
    """When the work is done, and what it would cost if it were spread to its deadlines."""
    cost = "no plan would keep to the limits"
    if sooner.total is not None:
        cost = f"the plan would cost {format_money(sooner.total, results.request.currency)}"
    run = sooner.runs[0]
    if len(sooner.runs) > 1 or run.count > 1 or run.deadline is None:
        return (
            f"Runs are finished before their deadlines: spread evenly up to the deadlines, {cost}."
        )
    last = results.calendar.month(int(np.flatnonzero(results.inputs.hours)[-1]))
    return (
        f"The run is finished by the end of {last:%B %Y}, before its deadline at the end of "
        f"{run.deadline:%B %Y}: spread evenly up to the deadline, {cost}."
    )
