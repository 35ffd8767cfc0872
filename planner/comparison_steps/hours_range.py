"""How sure the hours of a plan are: the range of the accelerator that it uses. PURE."""

from __future__ import annotations

from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.sizing.demand import Demand


def range_of_plan(
    plan: Scenario | None, inputs: ModelInputs, demand: Demand
) -> tuple[float, float]:
    """Factors on the hours at p10 and p90: of the accelerator that does most of the plan's work,
    else, and without a plan, of the reference accelerator."""
    if plan is None:
        return demand.range_p10_p90
    hours: dict[str, float] = {}
    for key, used in plan.used_hours.items():
        source = inputs.by_key[key]
        work = float(used.sum()) * source.accelerators
        hours[source.accelerator] = hours.get(source.accelerator, 0.0) + work
    most = max(hours, key=lambda slug: hours[slug], default=demand.accelerator)
    ranges = {one.accelerator: one.range_p10_p90 for one in demand.candidates}
    return ranges.get(most, demand.range_p10_p90)
