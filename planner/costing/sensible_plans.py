"""Which plans somebody would run, what is in the way of others, and which are the same. PURE."""

from __future__ import annotations

from math import ceil

import numpy as np

from planner.contract.request.rules import LARGEST_NODE
from planner.costing.advice.decision import leave_unnamed, list_parts
from planner.costing.advice.verdict import NEGLIGIBLE
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario

FEW_MACHINES, MOST_TIMES_THE_MACHINES = 8, 4
"""Machines that nobody minds, and how many times those of the advised plan somebody would run to
save money: work that fits one machine of eight is not spread over dozens of small ones. An
assumption of this project, 2026."""
MOST_KINDS = 2
"""Kinds of accelerator that somebody would tune one piece of work for. An assumption of this
project, 2026."""


def count_machines(plan: Scenario, inputs: ModelInputs) -> float:
    """Machines of a plan, of each part as many as it has at once: contracts that follow one another
    are for the same machines."""
    count = 0.0
    for part in list_parts(plan, inputs, leave_unnamed, ""):
        source, started = inputs.by_key[part.source], plan.units_started.get(part.source)
        units = part.units or 0.0
        if source.term is not None and started is not None:
            in_service = source.units_in_service(started.astype(np.float64))
            units = min(units, float(in_service.max()))
        count += units
    return count


def count_kinds(plan: Scenario, inputs: ModelInputs) -> int:
    """Kinds of accelerator that a plan runs on."""
    keys = {*plan.used_hours, *plan.units_started}
    return len({inputs.by_key[key].accelerator for key in keys})


def limit_machines(plan: Scenario | None, inputs: ModelInputs, peak: float) -> float:
    """Machines of the largest plan that is worth naming beside `plan`; where there is none, beside
    the machines of eight that a peak of so many accelerators fills."""
    machines = ceil(peak / LARGEST_NODE) if plan is None else count_machines(plan, inputs)
    return max(float(FEW_MACHINES), MOST_TIMES_THE_MACHINES * machines)


def next_larger_node(plan: Scenario, inputs: ModelInputs) -> int:
    """Accelerators of a machine from which none is as small as those of which a plan has most."""
    parts = list_parts(plan, inputs, leave_unnamed, "")
    most = max(parts, key=lambda part: part.units or 0.0)
    return int(inputs.by_key[most.source].accelerators) + 1


def is_same_plan(one: Scenario, other: Scenario) -> bool:
    """Whether two scenarios come to one plan: the same lines, or as much from the same offers and
    servers, as where the bills that credits pay could be others."""
    if one.lines == other.lines:
        return True
    sources = [{*plan.used_hours, *plan.units_started} for plan in (one, other)]
    apart = abs(one.net_present_cost - other.net_present_cost)
    is_as_cheap = apart <= abs(one.net_present_cost) * NEGLIGIBLE
    return is_as_cheap and sources[0] == sources[1]
