"""A source of accelerator-hours with its charges: an offer rented, a commitment, a server. PURE.

One `CapacitySource` gives the optimiser its coefficients (`rental_option`,
`commitment_option`) and the ledger its streams
(`build_streams`), both from the same charges.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.purchase_options import OWNED
from planner.costing.cost_model.charges import (
    CAPITAL,
    Calendar,
    HourCharge,
    Stream,
    Term,
    UnitCharge,
    build_hour_streams,
    build_unit_streams,
)
from planner.costing.optimizer.problem import CommitmentOption, RentalOption
from pricing.market.offers import HOURS_PER_MONTH, Offer

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NativePrice:
    """What the provider itself asks, before any conversion or adjustment."""

    currency: str
    price_per_hour: str
    """Exact decimal, per hour of the whole machine."""
    upfront: str
    units_per_usd: str
    """Exchange rate used for it; "1" for US dollars."""
    rate_date: dt.date | None = None
    multiplier: float = 1.0
    """Contract discount applied to it."""
    as_of: dt.date | None = None
    source: str = ""
    sku: str = ""


@dataclass(frozen=True)
class CapacitySource:
    """Where accelerator-hours can come from, on which terms, and everything it costs."""

    key: str
    label: str
    purchase_option: str
    accelerator: str
    accelerators: float
    """Physical accelerators of one node."""
    capacity: float
    """Reference accelerators served by one node: accelerators · r."""
    hour_charges: tuple[HourCharge, ...] = ()
    unit_charges: tuple[UnitCharge, ...] = ()
    term: Term | None = None
    """Set for what is started in whole units; None for what is rented by the hour."""
    instance_type: str = ""
    offer: Offer | None = None
    """The offer behind what is rented; None for servers."""
    price_per_hour: float = 0.0
    """Recurring price of the whole machine in the request's currency, discounts applied."""
    upfront: float = 0.0
    min_accelerators: int = 1
    """Least number of accelerators that one job takes."""
    hours_per_month: float = float(HOURS_PER_MONTH)
    goodput: float = 1.0
    """Useful share of the hours paid for."""
    is_spot: bool = False
    limit_groups: tuple[str, ...] = ()
    available: NDArray[np.bool_] | None = None
    """[T] months in which it can be rented, or started if it is a commitment; None: in all."""
    max_units: int | None = None
    existing: NDArray[np.int64] | None = None
    """[T] units already owned and in service."""
    fixed_streams: tuple[Stream, ...] = ()
    """What is due whatever the plan: the operating cost of servers already owned."""
    taxes_capital: bool = True
    """Whether capital is written off against tax, and the residual value taxed."""
    native: NativePrice | None = None
    power_kw: float = 0.0
    """At the wall of one node at work, cooling left out."""
    idle_power_kw: float = 0.0
    pue: float = 1.0

    @property
    def is_owned(self) -> bool:
        """Whether the team owns it."""
        return self.purchase_option == OWNED

    @property
    def is_committed(self) -> bool:
        """Whether it is charged for a whole term, used or not."""
        return self.offer is not None and self.offer.purchase_option.is_commitment

    @property
    def provider(self) -> str:
        """Provider of what is rented, "" for servers."""
        return self.offer.provider if self.offer else ""

    @property
    def region(self) -> str:
        """Region of what is rented, "" for servers."""
        return self.offer.region if self.offer else ""

    @property
    def zone(self) -> str:
        """Zone of what is rented, "" where the offer names none."""
        return self.offer.zone if self.offer else ""

    @property
    def offer_id(self) -> str:
        """Id of the offer, "" for servers."""
        return self.offer.id if self.offer else ""

    def hour_cash(self, calendar: Calendar) -> Floats:
        """[T] money for one useful node-hour in month t, before tax."""
        total = np.zeros(calendar.months)
        for charge in self.hour_charges:
            total += charge.per_hour[: calendar.months]
        return total

    def rental_option(self, calendar: Calendar) -> RentalOption:
        """The optimiser's view of a source rented by the hour."""
        cash = self.hour_cash(calendar)
        after_tax = cash * (1.0 - calendar.tax_rate)
        return RentalOption(
            key=self.key,
            capacity=self.capacity,
            accelerators=self.accelerators,
            hour_cost=after_tax * calendar.discount[: calendar.months],
            hour_cash=after_tax,
            is_spot=self.is_spot,
            limit_groups=self.limit_groups,
            available=self.available,
        )

    def commitment_option(self, calendar: Calendar) -> CommitmentOption:
        """The optimiser's view of a source started in whole units."""
        assert self.term is not None
        months, term = calendar.months, self.term
        paid, capital = self.unit_amounts()
        cash = paid + capital - self._tax_relief(paid, capital, calendar)
        hour_cash = self.hour_cash(calendar) * (1.0 - calendar.tax_rate)
        can_start = term.can_start & (self.existing is None)
        if self.available is not None:
            can_start = can_start & self.available
        start_cost = np.where(can_start, cash @ calendar.discount, np.inf)
        return CommitmentOption(
            key=self.key,
            is_owned=self.is_owned,
            capacity=self.capacity,
            accelerators=self.accelerators,
            lead_months=term.lead_months,
            duration_months=term.duration_months,
            start_cost=start_cost,
            hour_cost=hour_cash * calendar.discount[:months],
            hours_per_month=self.hours_per_month,
            start_cash=cash[:, :months],
            hour_cash=hour_cash,
            capex=capital.sum(axis=1),
            max_units=self.max_units,
            existing=self.existing,
            limit_groups=self.limit_groups,
        )

    def unit_amounts(self) -> tuple[Floats, Floats]:
        """[T, L] money of one unit started in month m: running and commitment, and capital."""
        assert self.term is not None
        paid = np.zeros((self.term.months, self.term.length))
        capital = np.zeros_like(paid)
        for charge in self.unit_charges:
            target = capital if charge.category in CAPITAL else paid
            target += charge.amounts(self.term)
        return paid, capital

    def due_after_horizon(self) -> Floats:
        """[T] money, before tax, that one commitment started in month m binds to and that falls to
        months after the horizon: all of its term less the share within, Σ charge · (1 / s − 1)."""
        assert self.term is not None
        share = self.term.share_charged[: self.term.months]
        within_horizon = self.unit_amounts()[0].sum(axis=1)
        return np.asarray(within_horizon * (1.0 / np.maximum(share, 1e-12) - 1.0))

    def _tax_relief(self, paid: Floats, capital: Floats, calendar: Calendar) -> Floats | float:
        """[T, L] tax that one unit saves: on what is an expense and on what is written off."""
        if not calendar.tax_rate or self.term is None:
            return 0.0
        if not self.is_owned:
            return np.asarray(calendar.tax_rate * paid)
        expense = paid if self.taxes_capital else np.maximum(paid, 0.0)
        basis = capital.sum(axis=1, keepdims=True) * float(self.taxes_capital)
        return np.asarray(calendar.tax_rate * (expense + basis * self.term.write_off))

    def build_streams(
        self, units_started: Floats, used_hours: Floats, calendar: Calendar
    ) -> Iterator[Stream]:
        """Every cost of a plan that starts `units_started` [T] units and uses `used_hours` [T]."""
        yield from self.fixed_streams
        yield from build_hour_streams(self.hour_charges, used_hours, calendar.length)
        if self.term is not None and units_started.any():
            yield from build_unit_streams(self.unit_charges, self.term, units_started)

    def fixed_cash(self, calendar: Calendar) -> Floats:
        """[L] what is due whatever the plan, after tax."""
        amount = np.zeros(calendar.length)
        for stream in self.fixed_streams:
            is_taxed = stream.category is not Category.RESIDUAL or self.taxes_capital
            amount += stream.quantity * stream.unit_price * (1.0 - calendar.tax_rate * is_taxed)
        return amount

    def units_in_service(self, units_started: Floats) -> Floats:
        """[T] units in service in each month, those already owned included."""
        if self.term is None:
            return np.zeros(0)
        months = self.term.months
        service = self.term.active[:, :months]
        units_in_service = np.asarray(units_started @ service, dtype=np.float64)
        return units_in_service if self.existing is None else units_in_service + self.existing
