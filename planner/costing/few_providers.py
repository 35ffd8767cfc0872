"""Plans without a provider that somebody would not open an account with for what it saves. PURE.

Credits and minimum spends split months among providers to the hour: a few hours that a credit does
not reach are rented where they cost least. Where a machine of the same accelerator and size of a
provider in use does the same, they move there, unless that costs more than a day of a person or
one per cent of the plan. The bound on all plans stays: the gap says what that may cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Floats, Plan

WORKING_DAYS = 220
"""Days a year that a person works. An assumption of this project, 2026."""
WORTH_A_PROVIDER = 0.01
"""Share of the cost of a plan from which a saving is worth a provider more, however small the plan.
An assumption of this project, 2026."""
Price = Callable[[Plan], tuple[float, float]]
"""What a plan costs with all that counts, and by how much it is over budgets."""


def keep_few_providers(plan: Plan, inputs: ModelInputs, price: Price) -> Plan:
    """The plan without providers that save less than a day of a person's work; as it is where
    limits tell providers apart, and under rules before 6."""
    if not inputs.keeps_books or inputs.supply.tells_providers_apart:
        return plan
    day = inputs.assumptions["staff_cost_per_year"] / WORKING_DAYS
    most = min(day, WORTH_A_PROVIDER * plan.cost)
    pooled = {pool.provider for pool in inputs.pools}
    _, over = price(plan)
    for provider in sorted({source.provider for source, _ in _rented(plan, inputs)} - pooled):
        moved = _leave(plan, provider, inputs)
        if moved is not None:
            cost, moved_over = price(moved)
            if cost - plan.cost <= most and moved_over <= over:
                plan = replace(moved, cost=cost)
    return plan


def _rented(plan: Plan, inputs: ModelInputs) -> list[tuple[CapacitySource, Floats]]:
    rented = sorted(plan.rented_hours.items())
    return [(inputs.by_key[key], hours) for key, hours in rented if hours.any()]


def _leave(plan: Plan, provider: str, inputs: ModelInputs) -> Plan | None:
    """The plan with what it rents from a provider at others that it rents from; None where it is
    bound to that provider, or no machine of another does the same."""
    held = {**plan.units_started, **plan.used_hours}
    if any(row.any() and inputs.by_key[key].provider == provider for key, row in held.items()):
        return None
    rented, hours_of = _rented(plan, inputs), dict(plan.rented_hours)
    for source, hours in rented:
        if source.provider != provider:
            continue
        others = [one for one, _ in rented if _replaces(one, source, hours, inputs)]
        if not others:
            return None
        best = min(others, key=lambda one: (float(hours @ one.hour_cash(inputs.calendar)), one.key))
        hours_of[source.key] = np.zeros_like(hours)
        hours_of[best.key] = hours_of[best.key] + hours
    return replace(plan, rented_hours=hours_of)


def _replaces(
    one: CapacitySource, other: CapacitySource, hours: Floats, inputs: ModelInputs
) -> bool:
    """Whether a machine may stand in for another in the months of its `hours`."""
    limited = {quota.group for quota in inputs.quotas}
    is_alike = (
        one.provider != other.provider
        and one.accelerator == other.accelerator
        and abs(one.capacity - other.capacity) < 1e-9
        and one.is_spot == other.is_spot
        and limited.intersection(one.limit_groups) == limited.intersection(other.limit_groups)
    )
    return is_alike and (one.available is None or bool(one.available[hours > 0].all()))
