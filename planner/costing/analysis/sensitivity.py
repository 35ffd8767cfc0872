"""What moves the answer: one figure at a time, and utilisation against price. PURE.

The plan's purchases stay; its hours of use follow the changed circumstances (`plan_exposure`), so a
row tells how far a mistaken figure would throw the plan off, and which scenario would then
have been the cheaper one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from planner.contract.answer.common import ScenarioKey
from planner.contract.labels import ON_DEMAND
from planner.costing.analysis.break_even import find_best_rents, list_hours_to_break_even
from planner.costing.analysis.plan_exposure import cost_as_planned, measure_exposures
from planner.costing.assumptions.assumptions import Assumption, all_defaults
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import Scenario
from pricing.common.copies import replace

DEFAULT_CHANGE = 0.2
"""Share by which a figure without a published range is moved: demand, prices, figures given."""
FIELDS = (
    "electricity_per_kwh",
    "pue",
    "colocation_per_kw_month",
    "support_rate_per_year",
    "staff_cost_per_year",
    "network_storage_rate",
    "useful_life_months",
    "residual_rate",
    "utilisation_ceiling",
    "discount_rate_per_year",
    "cloud_price_trend_per_year",
    "cloud_support_rate",
)
"""Assumptions that are moved, where they move anything."""
CASE_UNITS = 300
"""Units of work for one figure at both its values, and for every 100 months of sources."""
UPPER_LIMITS = {"utilisation_ceiling": 1.0, "residual_rate": 1.0, "discount_rate_per_year": 1.0}
LOWER_LIMITS = {"pue": 1.0}


@dataclass(frozen=True)
class TornadoBar:
    """One figure at its low and high value, all else as it is."""

    field: str
    unit: str
    low: float
    high: float
    total_at_low: float
    """Undiscounted cost of the advised plan."""
    total_at_high: float
    net_present_cost_at_low: float
    net_present_cost_at_high: float
    cheapest_at_low: ScenarioKey
    """Of the scenarios' plans the one of least net present cost there."""
    cheapest_at_high: ScenarioKey
    break_even_at_low: float | None
    """Hours for the server that pays back first against on demand; None: never, or no server."""
    break_even_at_high: float | None
    value: float = math.nan
    """What the plan has: a factor of 1, or the assumption as it is."""

    def is_as_planned(self, at: float) -> bool:
        """Whether nothing is changed at one of the ends."""
        return math.isclose(at, self.value, abs_tol=1e-12)

    @property
    def span(self) -> float:
        """How far the net present cost moves in all."""
        return abs(self.net_present_cost_at_high - self.net_present_cost_at_low)


Change = Callable[[ModelInputs, float], ModelInputs]


@dataclass(frozen=True)
class _Parameter:
    field: str
    unit: str
    low: float
    high: float
    change: Change
    value: float = 1.0
    """Where nothing is changed."""


def one_way_sensitivity(
    inputs: ModelInputs,
    scenarios: Mapping[ScenarioKey, Scenario],
    advised: ScenarioKey,
    demand_range: tuple[float, float],
    request_fields: frozenset[str],
    work: WorkMeter | None = None,
) -> list[TornadoBar]:
    """One row for each figure that moves anything, the furthest reaching first; those that the
    `work` that may be spent allows for."""
    work = WorkMeter() if work is None else work
    plans = distinct_plans(scenarios, advised)
    keys = {key for s in plans for key in (*s.units_started, *s.used_hours)}
    hours = _break_even_hours(inputs, request_fields)
    if hours:
        keys.add(f"server:{min(hours, key=lambda slug: (hours[slug], slug))}")
    rents = find_best_rents(inputs.sources, inputs.calendar)
    keys |= {rent.source.key for rent in rents if rent.source.purchase_option in ON_DEMAND}
    restricted = inputs.select_sources(keys)
    units = case_units(restricted)
    rows = []
    with suppress(WorkSpentError):
        for parameter in _parameters(restricted, demand_range):
            work.charge(units)
            low, high = (
                _CaseResult.evaluate(parameter, at, restricted, plans, request_fields)
                for at in (parameter.low, parameter.high)
            )
            row = TornadoBar(
                parameter.field,
                parameter.unit,
                parameter.low,
                parameter.high,
                low.total,
                high.total,
                low.costs[0],
                high.costs[0],
                plans[int(np.argmin(low.costs))].key,
                plans[int(np.argmin(high.costs))].key,
                low.break_even,
                high.break_even,
                parameter.value,
            )
            if row.span > 0.005 or row.break_even_at_low != row.break_even_at_high:
                rows.append(row)
    # Beyond nine digits lies what rounding leaves: there the order of the fields holds.
    return sorted(rows, key=lambda row: -float(f"{row.span:.9g}"))


def case_units(inputs: ModelInputs) -> float:
    """Units of work for one figure at both its values."""
    return CASE_UNITS * (1 + len(inputs.sources) * inputs.calendar.length / 100)


def distinct_plans(
    scenarios: Mapping[ScenarioKey, Scenario], advised: ScenarioKey
) -> list[Scenario]:
    """The advised scenario, then the others with plans of their own."""
    first = scenarios[advised]
    distinct, seen = [first], {first.net_present_cost}
    for scenario in scenarios.values():
        if scenario.feasible and scenario.net_present_cost not in seen:
            distinct.append(scenario)
            seen.add(scenario.net_present_cost)
    return distinct


def _parameters(inputs: ModelInputs, demand_range: tuple[float, float]) -> Iterator[_Parameter]:
    low, high = (
        demand_range if demand_range != (1.0, 1.0) else (1 - DEFAULT_CHANGE, 1 + DEFAULT_CHANGE)
    )
    yield _Parameter("workload.hours", "factor", low, high, ModelInputs.with_demand)
    yield _Parameter(
        "rental_prices",
        "factor",
        1 - DEFAULT_CHANGE,
        1 + DEFAULT_CHANGE,
        ModelInputs.with_rental_prices,
    )
    if inputs.servers.to_buy:
        ranges = [s.price_range for s in inputs.servers.to_buy if s.price_range is not None]
        low_price = min((r.low for r in ranges), default=1 - DEFAULT_CHANGE)
        yield _Parameter(
            "on_prem.servers.unit_price",
            "factor",
            low_price,
            max((r.high for r in ranges), default=1 + DEFAULT_CHANGE),
            lambda r, at: r.with_unit_prices(at, in_range=True),
        )
    for row in inputs.assumptions.rows:
        if row.name in FIELDS:
            yield _assumption_case(row, row.name, inputs)


def _assumption_case(row: Assumption, name: str, inputs: ModelInputs) -> _Parameter:
    value, default = inputs.assumptions[name], all_defaults()[name]
    scale = value / default.value if default.value and not row.given else 1.0
    low, high = default.low * scale, default.high * scale
    if row.given:
        low, high = sorted((value * (1 - DEFAULT_CHANGE), value * (1 + DEFAULT_CHANGE)))
    low, high = max(low, LOWER_LIMITS.get(name, low)), min(high, UPPER_LIMITS.get(name, high))
    if name == "useful_life_months":
        low, high = float(round(low)), float(round(high))
        low = max(low, inputs.assumptions["lead_time_months"] + 1)
    return _Parameter(
        row.field, row.unit, low, high, lambda r, at: r.with_assumption(name, at), value
    )


@dataclass(frozen=True)
class _CaseResult:
    total: float
    costs: tuple[float, ...]
    """Net present cost by plan, the advised one first."""
    break_even: float | None

    @classmethod
    def evaluate(
        cls,
        parameter: _Parameter,
        at: float,
        inputs: ModelInputs,
        plans: Sequence[Scenario],
        request_fields: frozenset[str],
    ) -> _CaseResult:
        changed = parameter.change(inputs, at)
        nominal = replace(changed.calendar, discount_rate_per_year=0.0)
        return cls(
            total=cost_plans(plans[:1], changed, nominal)[0],
            costs=tuple(cost_plans(plans, changed)),
            break_even=min(_break_even_hours(changed, request_fields).values(), default=None),
        )


def cost_plans(
    plans: Sequence[Scenario], inputs: ModelInputs, calendar: Calendar | None = None
) -> list[float]:
    """Cost of each plan in the circumstances of `inputs`: net present, or in the money of
    `calendar`. That of a plan which only rents is worked out once for all circumstances that leave
    rentals and demand as they are."""
    calendar = calendar or inputs.calendar
    shared = inputs.worked_out_from_rentals
    keys = [
        (id(plan), calendar, id(inputs.hours), id(inputs.peak)) if _only_rents(plan, inputs) else ""
        for plan in plans
    ]
    others = [plan for plan, key in zip(plans, keys, strict=True) if key not in shared]
    exposures = measure_exposures(others, inputs, calendar) if others else []
    costs = iter(cost_as_planned(exposures, inputs.hours, inputs.peak) if others else [])
    every = []
    for plan, key in zip(plans, keys, strict=True):
        cost = shared[key][0] if key in shared else next(costs)
        if key:  # with what the key names by its id, so that each id stays its own
            shared[key] = (cost, plan, inputs.hours, inputs.peak)
        every.append(cost)
    return every


def _only_rents(plan: Scenario, inputs: ModelInputs) -> bool:
    servers = inputs.servers
    is_signed = inputs.existing.commitments or inputs.existing.leases
    is_plain = not (servers.owned or servers.leased or is_signed or inputs.other_costs)
    is_plain = is_plain and not inputs.data.has_data
    keys = plan.units_started.keys() | plan.used_hours.keys()
    return is_plain and keys <= {rental.key for rental in inputs.rentals}


def _break_even_hours(inputs: ModelInputs, request_fields: frozenset[str]) -> dict[str, float]:
    rents = find_best_rents(inputs.sources, inputs.calendar)
    against = [rent for rent in rents if rent.source.purchase_option in ON_DEMAND] or rents
    hours: dict[str, float] = {}
    for server in inputs.servers.to_buy:
        r = inputs.throughput[server.accelerator]
        every = list_hours_to_break_even(
            server, r, against, inputs.assumptions, inputs.calendar, request_fields
        )
        finite = [one for one in every if one is not None]
        if finite:
            hours[server.slug] = min(finite)
    return hours
