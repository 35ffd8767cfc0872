"""Who gains by each default: what it does to the difference between owning and renting. PURE.

Both plans stay as they are; one default at a time is put to the value at which it does nothing,
as the tornado moves one figure at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.contract.answer.common import ScenarioKey
from planner.contract.purchase_options import OWNED
from planner.costing.analysis.sensitivity import case_units, cost_plans
from planner.costing.assumptions.assumption import Assumption
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import Scenario

Side = Literal["own", "rent"]
RENTED = (
    ScenarioKey.ON_DEMAND,
    ScenarioKey.SPOT,
    ScenarioKey.COMMITTED,
    ScenarioKey.CLOUD_MIX,
)
NEUTRAL: Mapping[str, float] = {
    "interest_rate_per_year": 0.0,
    "electricity_per_kwh": 0.0,
    "pue": 1.0,
    "colocation_per_kw_month": 0.0,
    "support_rate_per_year": 0.0,
    "network_storage_rate": 0.0,
    "install_cost_rate": 0.0,
    "staff_cost_per_year": 0.0,
    "spare_rate": 0.0,
    "insurance_rate_per_year": 0.0,
    "residual_rate": 0.0,
    "resale_cost_rate": 0.0,
    "lead_time_months": 0.0,
    "workstation_lead_time_months": 0.0,
    "utilisation_ceiling": 1.0,
    "discount_rate_per_year": 0.0,
    "cloud_price_trend_per_year": 0.0,
    "electricity_trend_per_year": 0.0,
    "staff_cost_trend_per_year": 0.0,
    "colocation_trend_per_year": 0.0,
    "support_trend_per_year": 0.0,
    "server_price_trend_per_year": 0.0,
    "tax_rate": 0.0,
    "upfront_deduction_spread": 0.0,
    "cloud_support_rate": 0.0,
    "cloud_staff_fte_per_accelerator": 0.0,
    "storage_per_gib_month": 0.0,
    "egress_per_gib": 0.0,
    "on_prem_storage_per_tib_month": 0.0,
}
"""The value of each figure at which it costs nothing, or moves nothing."""
STAFF_BY_ACCELERATOR, STAFF_BY_SERVER = "staff_accelerators_per_fte", "on_prem.staff_fte_per_server"
HALF_CENT = 0.005


@dataclass(frozen=True)
class DefaultEffect:
    """One default: what it adds to the net present cost of owning less that of renting."""

    field: str
    unit: str
    value: float
    neutral: float
    """Value at which it does nothing."""
    effect: float
    """(own − rent) as it is, less the same at `neutral`; negative where owning gains by it."""

    @property
    def gains(self) -> Side:
        """The side that the default makes look cheaper."""
        return "own" if self.effect < 0 else "rent"


def measure_default_effects(
    inputs: ModelInputs,
    scenarios: Mapping[ScenarioKey, Scenario],
    allowed: Mapping[ScenarioKey, Scenario],
    work: WorkMeter | None = None,
) -> list[DefaultEffect]:
    """A row for each default that tells the on-prem plan from the cheapest rented one that is
    allowed, the strongest first; none where there is no such pair, nothing is owned, or both are
    not held to the same rules. Those that the `work` that may be spent allows for."""
    own = scenarios.get(ScenarioKey.ON_PREM)
    rented = [allowed[key] for key in RENTED if key in allowed and allowed[key].feasible]
    if own is None or not own.feasible or not rented or not _owns(own, inputs):
        return []
    if not inputs.assumptions.is_level:
        return []
    rent = min(rented, key=lambda s: s.net_present_cost)
    keys = {key for plan in (own, rent) for key in (*plan.units_started, *plan.used_hours)}
    on_demand = inputs.fallback
    restricted = inputs.select_sources(keys | ({on_demand.key} if on_demand else set()))
    work = WorkMeter() if work is None else work
    units = case_units(restricted) / 4  # two plans, at one value
    rows = []
    with suppress(WorkSpentError):
        work.charge(units)
        now = _difference(own, rent, restricted)
        for row, neutral in _neutral_values(restricted):
            work.charge(units)
            effect = now - _difference(own, rent, restricted.with_assumption(row.name, neutral))
            if abs(effect) > HALF_CENT:
                rows.append(_as_requested(row, neutral, effect, own, restricted))
    return sorted(rows, key=lambda row: -float(f"{abs(row.effect):.9g}"))


def _as_requested(
    row: Assumption, neutral: float, effect: float, own: Scenario, inputs: ModelInputs
) -> DefaultEffect:
    """The effect of a default under the field that a request gives it by: people by the server, of
    the kind that the plan has most accelerators in, where the default is by the accelerator."""
    value = inputs.assumptions[row.name]
    if row.name != STAFF_BY_ACCELERATOR:
        return DefaultEffect(row.field, row.unit, value, neutral, effect)
    size = _accelerators_of_server(own, inputs)
    return DefaultEffect(
        STAFF_BY_SERVER, "full-time equivalents per server", size / value, size / neutral, effect
    )


def _accelerators_of_server(plan: Scenario, inputs: ModelInputs) -> float:
    """Accelerators of one server of the kind that serves most of what a plan owns."""
    owned = [inputs.by_key[key] for key in plan.used_hours if inputs.by_key[key].is_owned]

    def hours(source: CapacitySource) -> float:
        return float(np.sum(plan.used_hours[source.key])) * source.accelerators

    return max(owned, key=hours).accelerators if owned else 1.0


def _owns(plan: Scenario, inputs: ModelInputs) -> bool:
    sources = (inputs.by_key[key] for key in (*plan.units_started, *plan.used_hours))
    return any(source.purchase_option == OWNED for source in sources)


def _difference(own: Scenario, rent: Scenario, inputs: ModelInputs) -> float:
    """Net present cost of owning less that of renting."""
    cost_of_own, cost_of_rent = cost_plans([own, rent], inputs)
    return cost_of_own - cost_of_rent


def _neutral_values(inputs: ModelInputs) -> Iterator[tuple[Assumption, float]]:
    """Each default with the value at which it does nothing: owned machines are then looked after
    by as few people as rented ones."""
    for row in inputs.assumptions.rows:
        name = row.name
        neutral = NEUTRAL.get(name)
        if name == STAFF_BY_ACCELERATOR:
            of_rented = inputs.assumptions["cloud_staff_fte_per_accelerator"]
            neutral = 1.0 / of_rented if of_rented else None
        if row.given or neutral is None or inputs.assumptions[name] == neutral:
            continue
        yield row, neutral
