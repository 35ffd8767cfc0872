"""When owning pays: hours of use after which a server has cost less than renting. PURE.

All of it before tax. A rent is per hour of a node as large as the server: the offer's price
times server capacity over offer capacity, divided by the goodput of what can be interrupted.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.answer.risk import PayingWhen
from planner.costing.assumptions.assumptions import Assumptions, lead_months
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import UnitCharge
from planner.costing.cost_model.ownership import (
    ServerToBuy,
    build_server_source,
    running_cost_per_hour,
    sale_value,
)
from planner.costing.cost_model.terms import Calendar, ChargeTiming, discount_factors
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


# At which use owning pays ------------------------------------------------------------------


@dataclass(frozen=True)
class PayingUse:
    """The shares of its hours at which owning a machine costs no more than renting one."""

    when: PayingWhen
    share: float | None
    """Least of them, or of `up_to` the largest; of `never` the use above the ceiling that it would
    take, None where no use would do."""


@dataclass(frozen=True)
class UseCost:
    """Cost of a machine as a straight line over the share of its hours in use."""

    idle: float
    in_full_use: float

    def at(self, share: float) -> float:
        """Cost at a share of the hours."""
        return self.idle + share * (self.in_full_use - self.idle)


def find_paying_use(owned: UseCost, rented: UseCost, ceiling: float) -> PayingUse:
    """The uses up to `ceiling` at which owning costs no more than renting.

    >>> find_paying_use(UseCost(100, 120), UseCost(0, 220), 1.0)  # by the hour
    PayingUse(when='from', share=0.5)
    >>> find_paying_use(UseCost(100, 120), UseCost(320, 320), 1.0)  # a commitment, used or not
    PayingUse(when='always', share=0.0)
    >>> find_paying_use(UseCost(100, 120), UseCost(110, 110), 1.0)
    PayingUse(when='up_to', share=0.5)
    >>> find_paying_use(UseCost(100, 120), UseCost(0, 110), 1.0)
    PayingUse(when='never', share=None)
    >>> find_paying_use(UseCost(100, 120), UseCost(0, 220), 0.4)
    PayingUse(when='never', share=0.5)
    """
    idle = rented.idle - owned.idle
    busiest = rented.at(ceiling) - owned.at(ceiling)
    if idle >= 0 and busiest >= 0:
        return PayingUse("always", 0.0)
    share = ceiling * idle / (idle - busiest) if idle != busiest else math.inf
    if idle < 0 and busiest < 0:
        return PayingUse("never", share if 0 < share <= 1 else None)
    return PayingUse("up_to" if idle >= 0 else "from", share)


# Hours to break even ------------------------------------------------------------------------


@dataclass(frozen=True)
class BreakEven:
    """One server against one offer; None where owning never gets there."""

    server: str
    against: str
    """Id of the offer."""
    purchase_option: str
    term_months: int
    rent_per_hour: float
    running_cost_per_hour: float
    hours: float | None
    """Node-hours of use: unit_price / (rent − running cost), undiscounted."""
    utilisation_over_life: float | None
    """Share of the hours of its useful life from which (`up_to`: up to which) it costs no more."""
    over_life: PayingWhen
    """How that share is meant."""

    @property
    def months_at_full_use(self) -> float | None:
        """hours / 730."""
        return None if self.hours is None else self.hours / HOURS_PER_MONTH


@dataclass(frozen=True)
class Rent:
    """What one useful node-hour of an offer costs at full use, in month 0."""

    source: CapacitySource
    term_months: int
    per_hour: float

    @property
    def per_capacity(self) -> float:
        """Rent of one reference accelerator-hour."""
        return self.per_hour / self.source.capacity


def hours_to_break_even(
    unit_price: float, rent_per_hour: float, running_cost_per_hour: float
) -> float | None:
    """unit_price / (rent − running cost); None where the rent is no higher than the running cost.

    >>> round(hours_to_break_even(833_806, 98.32, 0.87), 1)
    8556.2
    >>> hours_to_break_even(1000, 0.5, 0.5) is None
    True
    """
    saving = rent_per_hour - running_cost_per_hour
    return unit_price / saving if saving > 0 else None


def compute_rent(source: CapacitySource, calendar: Calendar) -> Rent:
    """Rent of a useful node-hour: hourly charges, or the commitment spread over its hours."""
    in_use = sum(
        float(charge.per_hour[0])
        for charge in source.hour_charges
        if charge.category not in (Category.STORAGE, Category.EGRESS)
    )
    if source.term is None:
        return Rent(source, 0, in_use)
    monthly, upfront = (
        sum(
            c.quantity * float(c.unit_price[0])
            for c in source.unit_charges
            if isinstance(c, UnitCharge) and c.timing is timing
        )
        for timing in (ChargeTiming.MONTHLY, ChargeTiming.START)
    )
    charged = float(source.term.active[0].sum())
    per_hour = in_use + (monthly + upfront / charged) / HOURS_PER_MONTH
    return Rent(source, source.term.duration_months, per_hour)


def find_best_rents(sources: Iterable[CapacitySource], calendar: Calendar) -> list[Rent]:
    """The cheapest offer per reference accelerator-hour of each purchase option and term."""
    best: dict[tuple[str, int], Rent] = {}
    for source in sources:
        if source.is_owned or not source.capacity or source.existing is not None:
            continue
        rent = compute_rent(source, calendar)
        at = (source.purchase_option, rent.term_months)
        best[at] = min(best.get(at, rent), rent, key=lambda one: (one.per_capacity, one.source.key))
    return [best[at] for at in sorted(best)]


def compute_break_even(
    server: ServerToBuy,
    r: float,
    rents: Sequence[Rent],
    assumptions: Assumptions,
    calendar: Calendar,
    request_fields: frozenset[str] = frozenset(),
) -> list[BreakEven]:
    """`server` against each rent; `request_fields` are the `on_prem` fields that the request sets.
    What is committed is paid for whether it is used or not.

    Network, installation and residual value count towards the hours only where given.
    """
    life = _Life.at_purchase(server, r, assumptions)
    running = running_cost_per_hour(server, assumptions)
    hours = list_hours_to_break_even(server, r, rents, assumptions, calendar, request_fields)
    rows = []
    for rent, at in zip(rents, hours, strict=True):
        per_hour = rent.per_capacity * server.accelerator_count * server.speed * r
        trend = 0.0 if rent.term_months else assumptions["cloud_price_trend_per_year"]
        use = life.paying_use(per_hour, trend, is_fixed=rent.source.term is not None)
        rows.append(
            BreakEven(
                server=server.slug,
                against=rent.source.offer_id,
                purchase_option=rent.source.purchase_option,
                term_months=rent.term_months,
                rent_per_hour=per_hour,
                running_cost_per_hour=running,
                hours=at,
                utilisation_over_life=use.share,
                over_life=use.when,
            )
        )
    return rows


def list_hours_to_break_even(
    server: ServerToBuy,
    r: float,
    rents: Sequence[Rent],
    assumptions: Assumptions,
    calendar: Calendar,
    request_fields: frozenset[str] = frozenset(),
) -> list[float | None]:
    """Hours of use after which `server` has cost less than each rent; None: never."""
    capacity = server.accelerator_count * server.speed * r
    running = running_cost_per_hour(server, assumptions)
    price = _price_to_recover(server, assumptions, calendar, request_fields)
    return [hours_to_break_even(price, rent.per_capacity * capacity, running) for rent in rents]


def _price_to_recover(
    server: ServerToBuy,
    assumptions: Assumptions,
    calendar: Calendar,
    request_fields: frozenset[str],
) -> float:
    rates = [
        assumptions[name]
        for name in ("network_storage_rate", "install_cost_rate")
        if name in request_fields
    ]
    assumptions = server.assumptions(assumptions)
    paid = 1.0
    if server.financing is not None:
        paid = server.financing.total_paid(assumptions["interest_rate_per_year"])
    price = server.unit_price * (paid + sum(rates))
    lead = lead_months(assumptions, comes_from_stock=server.comes_from_stock)
    in_service_until = lead + assumptions["useful_life_months"]
    if "residual_rate" in request_fields and not server.is_leased:
        age = min(calendar.months, in_service_until)
        price -= float(sale_value(server.unit_price, np.array(age), np.array(0), assumptions))
    return price


@dataclass(frozen=True)
class _Life:
    fixed: float
    """Cost that does not depend on the hours of use."""
    in_use: Floats
    """[M] cost of an hour of use in each month."""
    discount: Floats
    """[M]"""
    in_service: Floats
    """[M] 1 in the months of its life."""
    ceiling: float
    """Share of its hours that it can work."""

    @classmethod
    def at_purchase(cls, server: ServerToBuy, r: float, assumptions: Assumptions) -> _Life:
        assumptions = server.assumptions(assumptions)
        lead = lead_months(assumptions, comes_from_stock=server.comes_from_stock)
        life = int(assumptions["useful_life_months"])
        calendar = Calendar(_ANY_DAY, lead + life, assumptions["discount_rate_per_year"])
        source = build_server_source(server, r, assumptions, calendar)
        assert source.term is not None
        cash = source.unit_amounts().cash[0] @ calendar.discount
        later = np.atleast_1d(source.payment_shift(calendar))[0]
        return cls(
            fixed=float(cash + later),
            in_use=source.hour_cash(calendar),
            discount=discount_factors(assumptions["discount_rate_per_year"], lead + life),
            in_service=source.term.active[0, : lead + life],
            ceiling=source.hours_per_month / HOURS_PER_MONTH,
        )

    def paying_use(
        self, rent_per_hour: float, trend_per_year: float, *, is_fixed: bool
    ) -> PayingUse:
        years = np.arange(len(self.discount)) / 12.0
        rent = self._in_full_use(rent_per_hour * (1.0 + trend_per_year) ** years)
        owned = UseCost(self.fixed, self.fixed + self._in_full_use(self.in_use))
        return find_paying_use(owned, UseCost(rent if is_fixed else 0.0, rent), self.ceiling)

    def _in_full_use(self, per_hour: Floats) -> float:
        return HOURS_PER_MONTH * float((per_hour * self.in_service) @ self.discount)


_ANY_DAY = dt.date(2000, 1, 1)
