"""Runs that are finished before their deadlines, where that costs less. PURE.

A run with a deadline is laid evenly over its months, on as few accelerators as finish in time. What
is reserved by date is then paid for in whole days of each month, for no more months than one
reservation lasts: a run of 21 days is four times six days, the last of them rented by the hour. A
plan for an earlier deadline keeps to a later one too, so runs are laid over one to three months as
well, as long as clouds reserve machines for. The cheapest plan stands.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from planner.comparison.alternatives import (
    ROUNDED,
    count_machines,
    find_best_allowed,
    find_most_machines,
    least_reserved,
    may_pay_to_reserve,
    share_known,
)
from planner.comparison.preparation import Preparation
from planner.comparison.results import PREPARATION_UNITS, ComparisonResults, EarlyFinish
from planner.contract.amounts import add_months, count_months
from planner.contract.copies import replace
from planner.contract.request.workload import Run
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import Floats, ModelInputs
from planner.costing.optimizer.work import WorkSpentError
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of
from planner.costing.run_peaks import nodes_at_once
from pricing.common.invalid_input import InvalidInput

MOST_MONTHS = 3
"""Most months that runs are laid over beside all of theirs: those of the longest reservation whose
prices are listed (90 days, Google Cloud's calendar mode)."""
_ROUNDING = 1e-6
_WORTH_ANOTHER, _NEAR = 0.005, 0.02
"""Share that another number of months has to save, and above the least that reserving by date could
cost within which none other is looked for; 2026."""
_AS_OFTEN = 2
"""Times the work of the plan as asked that has to be left for another number of months: it takes as
much again, and so does the answer; 2026."""


def finish_early(results: ComparisonResults) -> ComparisonResults:
    """The same question with its runs finished early where that costs less, else as it is.

    The months in which the machines of the plan do the work are tried first; the others of one to
    three only where that costs more than its hours alone, reserved by date, by more than a little.
    Where no plan for the runs as asked keeps to the limits, each of them is tried; and first, with
    as many machines as keep the deadlines on average.
    """
    results = _loosen(results)
    runs = runs_to_lay(results.preparation)
    plan = results.advised if runs else None
    if not runs or not may_pay_to_reserve(results, plan):
        return results
    least = least_reserved(results, is_present=True)
    best, most = results, float(plan.net_present_cost) - ROUNDED if plan else math.inf
    tried, machines = {runs}, find_most_machines(results, plan)
    needed = _months_needed(results, plan, runs) if plan else 1
    for months in sorted(range(1, MOST_MONTHS + 1), key=lambda m: (m != needed, m)):
        earlier = tuple(_end_within(run, months) for run in runs)
        spent = PREPARATION_UNITS + sum(part.done for part in results.parts.values())
        if earlier in tried or results.work.remaining < _AS_OFTEN * spent:
            continue
        tried.add(earlier)
        with suppress(WorkSpentError, InvalidInput):  # more at once than there are, say
            preparation = _prepare(results.preparation, earlier)
            if preparation.offers.filters == results.preparation.offers.filters:
                share_known(("coverage",), results.preparation, preparation)
            other = ComparisonResults(
                preparation,
                results.work.share(1 / _AS_OFTEN),
                report=results.report,
                early_finish=EarlyFinish(results.preparation, plan.total_cost if plan else None),
            )
            cheaper = find_best_allowed(results, other, most)
            if cheaper is None or float(cheaper.net_present_cost) > most:
                continue
            if count_machines(cheaper, other.inputs) <= machines:
                best, most = other, float(cheaper.net_present_cost) * (1.0 - _WORTH_ANOTHER)
            if most <= least * (1.0 + _NEAR):
                break
    return results if best is results else replace(best, work=results.work)


def _loosen(results: ComparisonResults) -> ComparisonResults:
    preparation = results.preparation
    has_deadline = any(run.deadline for run in preparation.demand.runs)
    if not has_deadline or results.advised is not None or preparation.is_on_average:
        return results
    on_average = replace(preparation, is_on_average=True)
    share_known(("units_per_usd", "custom", "calendar", "all_servers"), preparation, on_average)
    with suppress(WorkSpentError):
        other = ComparisonResults(on_average, results.work, report=results.report)
        return other if other.advised is not None else results
    return results


def runs_to_lay(preparation: Preparation) -> tuple[Run, ...]:
    """The runs of a question; none where they cannot finish early, or have no deadline."""
    runs = preparation.demand.runs
    return runs if any(run.deadline and run.deadline > run.start for run in runs) else ()


def _months_needed(results: ComparisonResults, plan: Scenario, runs: tuple[Run, ...]) -> int:
    available, hours = hours_of_machines(plan, results.inputs), results.inputs.hours
    busy = (hours > 0) & (available > 0)
    share = float((hours[busy] / available[busy]).max(initial=0.0))
    longest = max(count_months(run.start, run.deadline) + 1 for run in runs if run.deadline)
    return min(max(math.ceil(share * longest - _ROUNDING), 1), MOST_MONTHS)


def _end_within(run: Run, months: int) -> Run:
    last = add_months(run.start, months - 1)
    if run.deadline is None or run.deadline <= last:
        return run
    return run.model_copy(update={"deadline": last})


def _prepare(preparation: Preparation, runs: tuple[Run, ...]) -> Preparation:
    workload = preparation.request.workload.model_copy(update={"runs": runs})
    request = preparation.request.model_copy(update={"workload": workload})
    earlier = replace(preparation, request=request, is_on_average=True)
    share_known(("units_per_usd", "custom", "calendar", "all_servers"), preparation, earlier)
    vars(earlier)["windows"] = preparation.windows
    return earlier


def hours_of_machines(plan: Scenario, inputs: ModelInputs) -> Floats:
    """[T] reference accelerator-hours that the machines of a plan give if they go on all month."""
    available = np.zeros(inputs.calendar.months)
    for key in {*plan.used_hours, *plan.units_started}:
        source = inputs.by_key[key]
        available += _nodes(source, plan, inputs) * source.capacity * source.hours_per_month
    return available


def _nodes(source: CapacitySource, plan: Scenario, inputs: ModelInputs) -> Floats:
    if source.term is not None:
        started = plan.units_started.get(source.key, np.zeros(inputs.calendar.months))
        return source.units_in_service(np.asarray(started, dtype=np.float64))
    nodes = nodes_at_once(plan.used_hours[source.key], peak_hours_of(plan, inputs, source))
    return np.ceil(nodes - _ROUNDING) if inputs.whole_nodes else nodes
