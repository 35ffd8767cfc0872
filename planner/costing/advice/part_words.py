"""How the parts of a plan are told: together, in numbers, and when what is rented works. PURE."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from planner.contract.answer.verdict import DecisionPart
from planner.contract.purchase_options import traits
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.workload import AcceleratorHours
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of
from planner.costing.run_peaks import Floats, nodes_at_once
from pricing.common.sentences import capitalize_first
from pricing.market.offers import HOURS_PER_MONTH

AT_ANY_TIME, EACH_AT_ANY_TIME = "at any time", "in all, each run at any time in its months,"
"""Of runs that all have the same months, and of others."""
IN_TURN = f"(at once or one after another) {AT_ANY_TIME}"
"""Of several runs that all have the same months."""
MOST_STARTS = 3
"""Months named one by one in a sentence at most; an assumption of this project, 2026."""


def write_units(units: float) -> str:
    """
    >>> write_units(8.0), write_units(13_698_630.0)
    ('8', '13,698,630')
    """
    return f"{units:,.10g}"


def describe_starts(started: Floats, calendar: Calendar) -> str:
    """When what is bought or signed for begins, after what it is: ` in May 2027`; in a few months,
    how much in each; in more, the first and the last of them."""
    starts = [
        (f"{calendar.month(int(month)):%B %Y}", write_units(float(started[month])))
        for month in np.flatnonzero(started)
    ]
    if len(starts) == 1:
        return f" in {starts[0][0]}"
    if len(starts) > MOST_STARTS:
        return f" between {starts[0][0]} and {starts[-1][0]}"
    each = [f"{units} in {month}" for month, units in starts]
    return f", {', '.join(each[:-1])} and {each[-1]}"


def describe_parts(parts: Iterable[DecisionPart], most: int = 3) -> str:
    """The dearest parts as one sentence without its full stop, the rest counted."""
    sentences = [part.sentence for part in parts]
    shown, more = sentences[:most], len(sentences) - most
    if more > 0:
        shown.append(f"{more} smaller {'part' if more == 1 else 'parts'}")
    text = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return capitalize_first(text)


def describe_choice(request: ComparisonRequest) -> str:
    """When sized work that a plan lays evenly over the months to its deadlines may be done, as
    people do it when they like; empty where anything else of the request goes by the month."""
    workload, existing, data = request.workload, request.existing, request.data
    by_month = (
        request.constraints.monthly_budget is not None
        or existing.credits
        or existing.minimum_spend
        or request.other_costs
        or data.storage_gib
        or data.egress_gib_per_month
    )
    if isinstance(workload, AcceleratorHours) or by_month:
        return ""
    months = {(run.start, run.deadline) for run in workload.runs or ()}
    has_choice = any(start != end for start, end in months)
    if not has_choice or any(end is None for _, end in months):
        return ""
    if len(months) > 1:
        return EACH_AT_ANY_TIME
    is_one_run = sum(run.count for run in workload.runs or ()) == 1
    return AT_ANY_TIME if is_one_run else IN_TURN


def choice_of_months(
    choice: str, plan: Scenario, inputs: ModelInputs, source: CapacitySource
) -> str:
    """What a `choice` comes to for machines of one source: nothing where they do the work over
    several months, and several runs may follow one another only where one machine has the time."""
    if not choice or not fits_any_month(plan, inputs, source):
        return ""
    if choice != IN_TURN:
        return choice
    peak_hours = peak_hours_of(plan, inputs, source)
    nodes = float(nodes_at_once(plan.used_hours[source.key], peak_hours).max())
    busy = np.flatnonzero(inputs.hours)
    time = (busy[-1] - busy[0] + 1) * HOURS_PER_MONTH
    is_open = nodes > 1 and nodes * float(peak_hours[busy].sum()) <= time
    return IN_TURN if is_open else AT_ANY_TIME


def fits_any_month(plan: Scenario, inputs: ModelInputs, source: CapacitySource) -> bool:
    """Whether machines of one source, rented by the hour, do all the work, laid over several
    months, within the hours of any one of them."""
    option = traits(source.purchase_option)
    is_by_hour = not (option.is_paid_ahead or option.is_commitment or source.is_owned)
    if source.existing is not None or not is_by_hour:
        return False
    busy = np.flatnonzero(inputs.hours)
    used = plan.used_hours.get(source.key)
    if used is None or len(plan.used_hours) > 1 or plan.units_started or busy.size < 2:
        return False
    at_peak = peak_hours_of(plan, inputs, source)[busy]
    return bool((used[busy] > 0).all()) and float(at_peak.sum()) <= HOURS_PER_MONTH
