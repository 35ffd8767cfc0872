"""What a scenario lacks to be one at all. PURE."""

from __future__ import annotations

from collections.abc import Collection

from planner.contract.answer.common import ScenarioKey
from planner.contract.purchase_options import COMMITTED, ON_DEMAND, SPOT
from planner.costing.cost_model.ownership import first_arrival_month
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Plan
from pricing.common.pluralize import pluralize


def missing_option(inputs: ModelInputs, key: ScenarioKey) -> str:
    """What a scenario lacks to be one at all, "" if nothing."""
    options = {s.purchase_option for s in inputs.sources if s.existing is None}
    if key is ScenarioKey.ON_DEMAND and not options & ON_DEMAND:
        return "no offer on demand fits"
    if key is ScenarioKey.SPOT and not options & SPOT:
        return "no spot offer fits"
    if key is ScenarioKey.SPOT and inputs.max_spot_share == 0:
        return "the most spot is 0%"
    if key is ScenarioKey.ON_PREM:
        return _missing_server(inputs)
    if not inputs.sources:
        return "nothing fits"
    return ""


def _missing_server(inputs: ModelInputs) -> str:
    owned = [s for s in inputs.sources if s.is_owned]
    if not owned:
        return "no server fits"
    months = inputs.calendar.months
    offered = [s for s in owned if s.existing is None]
    to_buy = [s for s in offered if s.max_units != 0]
    if offered and not to_buy and not has_existing_servers(inputs):
        return "no server may be bought: the most units of each is 0"
    if to_buy and first_arrival_month(to_buy, months) >= months:
        return f"a server bought now arrives after the horizon of {pluralize(months, 'month')}"
    return ""


def has_existing_servers(inputs: ModelInputs) -> bool:
    return any(s.existing is not None and s.existing.any() for s in inputs.sources)


def has_commitments(inputs: ModelInputs, plan: Plan, units_started: Collection[str]) -> bool:
    """Whether a plan pays for anything before it is used."""
    used = {key for key, hours in plan.rented_hours.items() if hours.any()} | set(units_started)
    return any(inputs.by_key[key].purchase_option in COMMITTED for key in used)
