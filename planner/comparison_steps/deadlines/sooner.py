"""Runs that are done sooner than their deadlines ask, where that costs less. PURE.

A run with a deadline is laid evenly over its months, on as few accelerators as finish in time. What
is reserved by date is then paid for in whole days of each month, for no more months than one
reservation lasts: a run of 21 days is four times six days, the last of them rented by the hour. And
fewer accelerators may take more hours. A plan for an earlier deadline keeps to a later one too, so
runs are laid over their first month, two and three as well, as long as clouds reserve machines for.
The cheapest plan stands; of some about as cheap that of the fewest machines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from planner.comparison_steps.alternatives import (
    ROUNDED,
    count_machines,
    find_best_allowed,
    find_most_machines,
    share_known,
)
from planner.comparison_steps.preparation import Preparation
from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.scenario_results import Sooner
from planner.contract.months import add_months
from planner.contract.request.attempts import Run
from planner.contract.request.workload import AcceleratorHours
from planner.costing.advice.decision import leave_unnamed, list_parts
from planner.costing.advice.verdict import choose
from planner.costing.optimizer.work import WorkSpentError
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput

SOONER_RULES = 6
"""Edition of the rules from which runs may be done sooner, 2026."""
DONE_SOONER = 6
"""Edition of runs from which they may be, 2026."""
MOST_MONTHS = 3
"""Months that runs are laid over beside all of theirs: those of the longest reservation whose
prices are listed (90 days, Google Cloud's calendar mode)."""
_AS_GOOD = 0.01
"""Share by which a plan of fewer machines, then of fewer months, may cost more than another and be
taken: the gap that the proof of a plan may leave."""
_OF_NO_RUN = ("units_per_usd", "custom", "calendar", "all_servers")
"""What is worked out of a question whatever the deadlines of its runs."""


def finish_sooner(results: ComparisonResults) -> ComparisonResults:
    """The same question with its runs done sooner where that costs less, else as it is."""
    runs = _runs_of(results)
    plan = choose(results.allowed_scenarios) if runs else None
    if plan is None:
        return results
    cheaper_ones: list[tuple[float, float, ComparisonResults]] = []
    least, most = float(plan.net_present_cost) - ROUNDED, find_most_machines(results, plan)
    for earlier in _list_earlier(runs):
        with suppress(WorkSpentError, InvalidInput):  # more at once than there are, say
            other = ComparisonResults(
                _prepare(results.preparation, earlier),
                results.work,
                report=results.report,
                sooner=Sooner(results.preparation, plan.total_cost),
            )
            cheaper = find_best_allowed(results, other, least)
            if cheaper is None or float(cheaper.net_present_cost) > least:
                continue
            parts = list_parts(cheaper, other.inputs, leave_unnamed, "")
            machines = count_machines(parts)
            if machines <= most:
                cheaper_ones.append((float(cheaper.net_present_cost), machines, other))
    enough = min((cost for cost, _, _ in cheaper_ones), default=0.0) * (1.0 + _AS_GOOD)
    as_good = [(machines, other) for cost, machines, other in cheaper_ones if cost <= enough]
    return min(as_good, key=lambda one: one[0], default=(0.0, results))[1]


def _runs_of(results: ComparisonResults) -> tuple[Run, ...]:
    """The runs of a question; none where they may not be done sooner, or have no deadline."""
    workload = results.request.workload
    if results.request.rules < SOONER_RULES or isinstance(workload, AcceleratorHours):
        return ()
    if results.preparation.assumptions["run_edition"] < DONE_SOONER:
        return ()
    runs = workload.runs or ()
    return runs if any(run.deadline and run.deadline > run.start for run in runs) else ()


def _list_earlier(runs: tuple[Run, ...]) -> Iterator[tuple[Run, ...]]:
    """The runs done in their first month, in two and in three, where that is sooner."""
    tried = {runs}
    for months in range(1, MOST_MONTHS + 1):
        earlier = tuple(_end_within(run, months) for run in runs)
        if earlier not in tried:
            tried.add(earlier)
            yield earlier


def _end_within(run: Run, months: int) -> Run:
    """A run whose deadline is no later than so many months from its start; one without as it is."""
    last = add_months(run.start, months - 1)
    if run.deadline is None or run.deadline <= last:
        return run
    return run.model_copy(update={"deadline": last})


def _prepare(preparation: Preparation, runs: tuple[Run, ...]) -> Preparation:
    workload = preparation.request.workload.model_copy(update={"runs": runs})
    request = preparation.request.model_copy(update={"workload": workload})
    earlier = replace(preparation, request=request)
    share_known(_OF_NO_RUN, vars(preparation), earlier)
    return earlier
