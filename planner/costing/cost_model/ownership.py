"""Owning servers: everything one unit costs from its purchase to its resale. PURE.

Per unit, with P its unit price, all in the request's currency:

- at purchase: P, P · network_storage_rate, P · install_cost_rate, P · spare_rate
- usable `lead_time_months` later for `useful_life_months`; in each of those months colocation
  on nameplate power, support (P · rate / 12), staff, and electricity at idle for 730 h
- for each hour of use: electricity for (power − idle) · PUE on top of idle
- at the horizon: −P · residual_rate ^ (years since purchase), 0 once its life is over

A given running cost per hour of use replaces power, colocation, support and staff.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.purchase_options import OWNED
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import (
    Calendar,
    ChargeTiming,
    HourCharge,
    Stream,
    Term,
    UnitCharge,
)
from planner.costing.cost_model.finance import Depreciation, trend_factors
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ServerToBuy:
    """One kind of server as the request and the reference list describe it."""

    slug: str
    label: str
    accelerator: str
    accelerator_count: float
    unit_price: float
    """In the request's currency."""
    power_kw: float
    """Nameplate, which is also the draw at load."""
    idle_power_kw: float
    running_cost_per_hour: float | None = None
    max_units: int | None = None
    source: str = "request"
    price_year: int | None = None
    is_purchasable: bool = True
    """False of a server that is only already owned."""


@dataclass(frozen=True)
class ServerBatch:
    """Servers already owned."""

    units: int
    age_months: int
    """Months from purchase to the plan's start."""


def build_server_source(
    server: ServerToBuy, r: float, assumptions: Assumptions, calendar: Calendar
) -> CapacitySource:
    """A server to buy; `r` is the relative throughput of its accelerator."""
    term = Term(
        months=calendar.months,
        length=calendar.length,
        lead_months=int(assumptions["lead_time_months"]),
        duration_months=int(assumptions["useful_life_months"]),
        depreciation=_depreciation(assumptions),
    )
    return replace(
        _source_without_units(server, r, assumptions, calendar),
        key=f"server:{server.slug}",
        unit_charges=(
            *_purchase_charges(server, assumptions, calendar),
            *_operating_charges(server, assumptions, calendar),
            *_residual_charges(server, assumptions, calendar),
        ),
        term=term,
        max_units=server.max_units,
    )


def build_existing_server_source(
    server: ServerToBuy,
    batches: Sequence[ServerBatch],
    r: float,
    assumptions: Assumptions,
    calendar: Calendar,
) -> CapacitySource:
    """Servers already owned: no capex, operated whatever the plan, and aging on."""
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
        if batch.age_months + calendar.months < life and assumptions["residual_rate"] > 0
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
    electricity = server.power_kw * assumptions["pue"] * assumptions["electricity_per_kwh"]
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
        power_kw=server.power_kw,
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
            np.full(calendar.length, server.unit_price * rate),
            ChargeTiming.START,
        )
        for category, label, rate in rates
        if rate > 0
    ]


def _operating_costs(
    server: ServerToBuy, assumptions: Assumptions
) -> list[tuple[Category, str, float, float]]:
    """Category, unit, quantity and amount of one server's month in service, power left out."""
    if server.running_cost_per_hour is not None:
        return []
    fte = assumptions.staff_fte(server.accelerator_count)
    support = server.unit_price * assumptions["support_rate_per_year"] / 12.0
    colocation = server.power_kw * assumptions["colocation_per_kw_month"]
    return [
        (Category.COLOCATION, "kW-months", server.power_kw, colocation),
        (Category.SUPPORT, "server-months", 1.0, support),
        (Category.STAFF, "FTE-months", fte, fte * assumptions["staff_cost_per_year"] / 12.0),
    ]


_OPERATING_COST_LABELS = {
    Category.COLOCATION: "Colocation",
    Category.SUPPORT: "Support and maintenance",
    Category.STAFF: "Staff",
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
            np.full(calendar.length, amount / quantity),
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


def _use_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> tuple[HourCharge, ...]:
    if server.running_cost_per_hour is not None:
        if server.running_cost_per_hour == 0:
            return ()
        price = np.full(calendar.length, server.running_cost_per_hour)
        label = f"Running cost: {server.label}"
        return (HourCharge(Category.POWER, label, "node-hours", 1.0, price),)
    kwh = (server.power_kw - server.idle_power_kw) * assumptions["pue"]
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
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> list[UnitCharge]:
    if not assumptions["residual_rate"]:
        return []
    years = np.maximum(calendar.months - np.arange(calendar.length), 0) / 12.0
    value = server.unit_price * assumptions["residual_rate"] ** years
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
    years = (batch.age_months + calendar.months) / 12.0
    quantity, price = np.zeros(calendar.length), np.zeros(calendar.length)
    quantity[calendar.months] = batch.units
    price[calendar.months] = -server.unit_price * assumptions["residual_rate"] ** years
    label = f"Residual value: {server.label}"
    return Stream(Category.RESIDUAL, label, "servers", quantity, price)
