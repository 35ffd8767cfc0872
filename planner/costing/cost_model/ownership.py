"""Owning servers: everything one unit costs from its purchase to its resale. PURE.

Per unit, with P its unit price, all in the request's currency:

- at purchase: P, P · network_storage_rate, P · install_cost_rate, P · spare_rate
- usable `lead_time_months` (workstations: `workstation_lead_time_months`) later for
  `useful_life_months`; in each of those months colocation on nameplate power, support and
  insurance (P · rate / 12 each), staff, and electricity at idle for 730 h; colocation, support
  and staff move by their trends
- for each hour of use: electricity for (draw at work − idle) · PUE on top of idle
- when it is sold, at the end of its life or at the horizon:
  −P · residual_rate ^ (years since purchase) · (1 − resale_cost_rate), at most what a new one
  costs then, less the cost of the sale; under edition 1 of the rules at the horizon alone, 0 once
  its life is over
- P of the month of purchase: it moves by its trend

A given running cost per hour of use replaces power, colocation, support and staff.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.purchase_options import OWNED
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.assumptions.lead_time import lead_months
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import HourCharge, ScheduledCharge, Stream, UnitCharge
from planner.costing.cost_model.finance import Depreciation, trend_factors
from planner.costing.cost_model.financing import build_financing_charges
from planner.costing.cost_model.resale import counts_in_place, sale_value
from planner.costing.cost_model.server import ServerBatch, ServerToBuy
from planner.costing.cost_model.terms import Calendar, ChargeTiming, Term
from pricing.common.copies import replace
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


def build_server_source(
    server: ServerToBuy, r: float, assumptions: Assumptions, calendar: Calendar
) -> CapacitySource:
    """A server to buy; `r` is the relative throughput of its accelerator."""
    assumptions = server.assumptions(assumptions)
    term = _term(server, assumptions, calendar)
    return replace(
        _source_without_units(server, r, assumptions, calendar),
        key=f"server:{server.slug}",
        unit_charges=(
            *_purchase_charges(server, assumptions, calendar),
            *_financing_charges(server, assumptions, calendar),
            *_operating_charges(server, assumptions, calendar),
            *_residual_charges(server, assumptions, calendar, term),
        ),
        term=term,
        max_units=server.max_units,
        available=_months_to_sign(server, term),
    )


def _term(server: ServerToBuy, assumptions: Assumptions, calendar: Calendar) -> Term:
    life = int(assumptions["useful_life_months"])
    if server.is_leased:
        assert server.financing is not None
        life = min(life, server.financing.months)
    return Term(
        months=calendar.months,
        length=calendar.length,
        lead_months=lead_months(assumptions, comes_from_stock=server.comes_from_stock),
        duration_months=life,
        depreciation=_depreciation(assumptions),
        sells_when_retired=assumptions.is_level,
    )


def _months_to_sign(server: ServerToBuy, term: Term) -> NDArray[np.bool_] | None:
    """[T] months in which a lease may begin that must end within the horizon; None: any."""
    if not server.is_leased or server.financing is None or server.financing.term_end != "within":
        return None
    ends = np.arange(term.months) + term.lead_months + server.financing.months
    return np.asarray(ends <= term.months)


def build_existing_server_source(
    server: ServerToBuy,
    batches: Sequence[ServerBatch],
    r: float,
    assumptions: Assumptions,
    calendar: Calendar,
) -> CapacitySource:
    """Servers already owned: no capex, operated whatever the plan, and aging on; what they fetch is
    counted in no plan from rules 6 on."""
    assumptions = server.assumptions(assumptions)
    life = int(assumptions["useful_life_months"])
    term = Term(calendar.months, calendar.length, 0, life, depreciation=_depreciation(assumptions))
    existing = np.zeros(calendar.months, dtype=np.int64)
    for batch in batches:
        existing[: max(0, life - batch.age_months)] += batch.units
    fixed_streams = [
        _operating_stream(charge, existing, calendar)
        for charge in _operating_charges(server, assumptions, calendar)
    ] + [
        _residual_stream(server, batch, assumptions, calendar)
        for batch in batches
        if counts_in_place(assumptions)
        and batch.age_months + (0 if assumptions.is_level else calendar.months) < life
        and assumptions["residual_rate"] > 0
    ]
    return replace(
        _source_without_units(server, r, assumptions, calendar),
        key=f"owned:{server.slug}",
        label=f"{server.label}, already owned",
        term=term,
        existing=existing,
        max_units=0,
        fixed_streams=tuple(fixed_streams),
    )


def first_arrival_month(sources: Iterable[CapacitySource], months: int) -> int:
    """First month in which a server bought at the start can be in service; 0 if none is sold."""
    leads = [s.term.lead_months for s in sources if s.term is not None and s.max_units != 0]
    return min(months, min(leads, default=0))


def running_cost_per_hour(server: ServerToBuy, assumptions: Assumptions) -> float:
    """Cost of an hour of use at full use, in month 0: electricity at load plus a 730th of the
    month's colocation, support and staff; or the given running cost."""
    if server.running_cost_per_hour is not None:
        return server.running_cost_per_hour
    electricity = server.draw_kw * assumptions["pue"] * assumptions["electricity_per_kwh"]
    return (
        electricity
        + sum(amount for _, _, _, amount in _operating_costs(server, assumptions)) / HOURS_PER_MONTH
    )


def _source_without_units(
    server: ServerToBuy, r: float, assumptions: Assumptions, calendar: Calendar
) -> CapacitySource:
    return CapacitySource(
        key="",
        label=server.label,
        purchase_option=OWNED,
        accelerator=server.accelerator,
        accelerators=server.accelerator_count,
        capacity=server.accelerator_count * r,
        hour_charges=_use_charges(server, assumptions, calendar),
        instance_type=server.slug,
        hours_per_month=HOURS_PER_MONTH * assumptions["utilisation_ceiling"],
        taxes_capital=assumptions.depreciation != "none",
        server_price=(server.source, server.price_year),
        power_kw=server.draw_kw,
        idle_power_kw=server.idle_power_kw,
        pue=assumptions["pue"],
    )


def _depreciation(assumptions: Assumptions) -> Depreciation:
    if assumptions.depreciation == "macrs_5":
        return "macrs_5"
    return "straight_line" if assumptions.depreciation == "straight_line" else "none"


def _purchase_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> list[UnitCharge]:
    rates = (
        (Category.CAPEX, "Servers", 1.0),
        (Category.NETWORK_STORAGE, "Network and storage", assumptions["network_storage_rate"]),
        (Category.INSTALL, "Installation", assumptions["install_cost_rate"]),
        (Category.SPARES, "Spares", assumptions["spare_rate"]),
    )
    return [
        UnitCharge(
            category,
            f"{label}: {server.label}",
            "servers",
            1.0,
            rate * _unit_prices(server, assumptions, calendar),
            ChargeTiming.START,
        )
        for category, label, rate in rates
        if rate > 0 and not (server.is_leased and category is Category.CAPEX)
    ]


def _financing_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> Iterator[ScheduledCharge]:
    if server.financing is not None:
        yield from build_financing_charges(
            server.financing,
            assumptions["interest_rate_per_year"],
            server.label,
            _unit_prices(server, assumptions, calendar)[: calendar.months],
            lead_months(assumptions, comes_from_stock=server.comes_from_stock),
            calendar,
        )


def _unit_prices(server: ServerToBuy, assumptions: Assumptions, calendar: Calendar) -> Floats:
    """[L] price of one server by the month of purchase."""
    trend = trend_factors(assumptions["server_price_trend_per_year"], calendar.length)
    return np.asarray(server.unit_price * trend)


def _operating_costs(
    server: ServerToBuy, assumptions: Assumptions
) -> list[tuple[Category, str, float, float]]:
    """Category, unit, quantity and amount of one server's month in service, power left out."""
    if server.running_cost_per_hour is not None:
        return []
    fte = assumptions.staff_fte(server.accelerator_count)
    support = server.unit_price * assumptions["support_rate_per_year"] / 12.0
    insurance = server.unit_price * assumptions["insurance_rate_per_year"] / 12.0
    colocation = server.power_kw * assumptions["colocation_per_kw_month"] * server.is_hosted
    return [
        (Category.COLOCATION, "kW-months", server.power_kw, colocation),
        (Category.SUPPORT, "server-months", 1.0, support),
        (Category.STAFF, "FTE-months", fte, fte * assumptions["staff_cost_per_year"] / 12.0),
        (Category.INSURANCE, "server-months", 1.0, insurance),
    ]


_OPERATING_COST_LABELS = {
    Category.COLOCATION: "Colocation",
    Category.SUPPORT: "Support and maintenance",
    Category.STAFF: "Staff",
    Category.INSURANCE: "Insurance",
}
_OPERATING_COST_TRENDS = {
    Category.COLOCATION: "colocation_trend_per_year",
    Category.SUPPORT: "support_trend_per_year",
    Category.STAFF: "staff_cost_trend_per_year",
}


def _operating_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> list[UnitCharge]:
    charges = [
        UnitCharge(
            category,
            f"{_OPERATING_COST_LABELS[category]}: {server.label}",
            unit,
            quantity,
            amount / quantity * _operating_trend(category, assumptions, calendar),
            ChargeTiming.MONTHLY,
        )
        for category, unit, quantity, amount in _operating_costs(server, assumptions)
        if amount > 0
    ]
    idle_kwh = server.idle_power_kw * assumptions["pue"] * HOURS_PER_MONTH
    if server.running_cost_per_hour is None and idle_kwh and assumptions["electricity_per_kwh"]:
        tariff = _tariff(assumptions, calendar)
        charges.append(
            UnitCharge(
                Category.POWER, _power_label(server), "kWh", idle_kwh, tariff, ChargeTiming.MONTHLY
            )
        )
    return charges


def _operating_trend(category: Category, assumptions: Assumptions, calendar: Calendar) -> Floats:
    """[L] factor on a running cost in month t; 1 where it has no trend."""
    trend = _OPERATING_COST_TRENDS.get(category)
    return trend_factors(assumptions[trend] if trend else 0.0, calendar.length)


def _use_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> tuple[HourCharge, ...]:
    if server.running_cost_per_hour is not None:
        if server.running_cost_per_hour == 0:
            return ()
        price = np.full(calendar.length, server.running_cost_per_hour)
        label = f"Running cost: {server.label}"
        return (HourCharge(Category.POWER, label, "node-hours", 1.0, price),)
    kwh = (server.draw_kw - server.idle_power_kw) * assumptions["pue"]
    if not kwh or not assumptions["electricity_per_kwh"]:
        return ()
    return (
        HourCharge(
            Category.POWER, _power_label(server), "kWh", kwh, _tariff(assumptions, calendar)
        ),
    )


def _power_label(server: ServerToBuy) -> str:
    return f"Electricity: {server.label}"


def _tariff(assumptions: Assumptions, calendar: Calendar) -> Floats:
    """[L] price of a kWh in month t."""
    trend = trend_factors(assumptions["electricity_trend_per_year"], calendar.length)
    return np.asarray(assumptions["electricity_per_kwh"] * trend)


def _residual_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar, term: Term
) -> list[UnitCharge]:
    if not assumptions["residual_rate"] or server.is_leased:
        return []
    bought = np.arange(calendar.length)
    value = sale_value(server.unit_price, term.months_kept, bought, assumptions)
    label = f"Residual value: {server.label}"
    return [UnitCharge(Category.RESIDUAL, label, "servers", 1.0, -value, ChargeTiming.END)]


def _operating_stream(
    charge: UnitCharge, existing: NDArray[np.int64], calendar: Calendar
) -> Stream:
    quantity = np.zeros(calendar.length)
    quantity[: calendar.months] = existing * charge.quantity
    return Stream(charge.category, charge.label, charge.unit, quantity, charge.unit_price)


def _residual_stream(
    server: ServerToBuy, batch: ServerBatch, assumptions: Assumptions, calendar: Calendar
) -> Stream:
    sold = calendar.months
    if assumptions.is_level:
        sold = min(sold, int(assumptions["useful_life_months"]) - batch.age_months)
    quantity, price = np.zeros(calendar.length), np.zeros(calendar.length)
    quantity[sold] = batch.units
    age = np.array(batch.age_months + sold)
    price[sold] = -sale_value(server.unit_price, age, np.array(-batch.age_months), assumptions)
    label = f"Residual value: {server.label}"
    return Stream(Category.RESIDUAL, label, "servers", quantity, price)
