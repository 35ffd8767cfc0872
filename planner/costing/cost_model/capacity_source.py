"""A source of accelerator-hours with its charges: an offer rented, a commitment, a server. PURE.

It gives the optimiser its coefficients and the ledger its streams, both from the same charges.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.copies import cached_property, replace
from planner.contract.labels import OWNED
from planner.costing.cost_model.charges import (
    CAPITAL,
    FINANCING,
    Charge,
    HourCharge,
    Stream,
    build_hour_streams,
    build_unit_streams,
)
from planner.costing.cost_model.terms import Calendar, PaidWhen, Term
from planner.costing.optimizer.problem import CommitmentOption, RentalOption
from pricing.market.clouds import place_of_zone
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.offers import HOURS_PER_MONTH, Offer

Floats = NDArray[np.float64]
T = TypeVar("T")


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
    unit_charges: tuple[Charge, ...] = ()
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
    stands_for: str = ""
    """Key of a smaller machine of which whole numbers stand in for it at the same cost."""
    goodput: float = 1.0
    """Useful share of the hours paid for."""
    availability: SpotAvailability | None = None
    """How much of the time a spot machine is there, where that is priced."""
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
    server_price: tuple[str, int | None] = ("", None)
    """Source and year of the price of a server."""
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
    def place(self) -> str:
        """Region by whose name people call the place: a Local Zone's own."""
        return place_of_zone(self.region, self.zone)

    @property
    def offer_id(self) -> str:
        """Id of the offer, "" for servers."""
        return self.offer.id if self.offer else ""

    def hour_present(self, calendar: Calendar, after_tax: Floats) -> Floats:
        """[T] net present cost of one useful node-hour, of which `after_tax` [T] is due."""
        months = calendar.months
        present = after_tax * calendar.discount[:months]
        if calendar.is_plain:
            return present
        later = (calendar.running_discount - calendar.discount)[:months]
        for charge in self.hour_charges:
            if charge.paid is PaidWhen.RUNNING:
                present = present + charge.per_hour[:months] * (1.0 - calendar.tax_rate) * later
        return present

    def hour_cash(self, calendar: Calendar) -> Floats:
        """[T] money for one useful node-hour in month t, before tax."""
        months = calendar.months
        return sum((charge.per_hour[:months] for charge in self.hour_charges), np.zeros(months))

    def rental_option(self, calendar: Calendar) -> RentalOption:
        """The optimiser's view of a source rented by the hour; worked out once for each."""
        return self._once("rental option", calendar, self._make_rental_option)

    def _make_rental_option(self, calendar: Calendar) -> RentalOption:
        cash = self.hour_cash(calendar)
        after_tax = cash * (1.0 - calendar.tax_rate)
        return RentalOption(
            key=self.key,
            capacity=self.capacity,
            accelerators=self.accelerators,
            hour_cost=self.hour_present(calendar, after_tax),
            hour_cash=after_tax,
            is_spot=self.is_spot,
            limit_groups=self.limit_groups,
            available=self.available,
        )

    def commitment_option(self, calendar: Calendar, keeps_cash: bool = True) -> CommitmentOption:
        """A source started in whole units as the optimiser sees it; with cash for budgets only,
        without it worked out once for each calendar."""
        if keeps_cash:
            return self._make_commitment_option(calendar, keeps_cash=True)
        return self._once("commitment option", calendar, self._make_commitment_option)

    def _make_commitment_option(
        self, calendar: Calendar, *, keeps_cash: bool = False
    ) -> CommitmentOption:
        assert self.term is not None
        months, term = calendar.months, self.term
        amounts = self.unit_amounts()
        cash = amounts.cash - self.tax_relief(amounts, calendar)
        hour_cash = self.hour_cash(calendar) * (1.0 - calendar.tax_rate)
        due = replace(amounts, paid=np.maximum(amounts.paid, 0.0), debt=0.0)
        return CommitmentOption(
            key=self.key,
            is_owned=self.is_owned,
            capacity=self.capacity,
            accelerators=self.accelerators,
            lead_months=term.lead_months,
            duration_months=term.duration_months,
            start_cost=self._start_cost(cash, calendar),
            hour_cost=self.hour_present(calendar, hour_cash),
            hours_per_month=self.hours_per_month,
            start_cash=cash[:, :months].copy() if keeps_cash else None,
            hour_cash=hour_cash,
            capex=amounts.capital.sum(axis=1),
            payments=(due.cash - self.tax_relief(due, calendar)).sum(axis=1),
            max_units=self.max_units,
            existing=self.existing,
            limit_groups=self.limit_groups,
        )

    def _once(self, name: str, calendar: Calendar, measure: Callable[[Calendar], T]) -> T:
        known: dict[Calendar, T] = self._measured.setdefault(name, {})
        if calendar not in known:
            known[calendar] = measure(calendar)
        return known[calendar]

    @cached_property
    def _measured(self) -> dict[str, dict[Calendar, Any]]:
        return {}

    def _start_cost(self, cash: Floats, calendar: Calendar) -> Floats:
        assert self.term is not None
        can_start = self.term.can_start & (self.existing is None)
        if self.available is not None:
            can_start = can_start & self.available
        present = cash @ calendar.discount + self.payment_shift(calendar)
        return np.where(can_start, present, np.inf)

    def unit_amounts(self) -> UnitAmounts:
        """Money of one unit started in month m; of a server, one of few, added up once."""
        assert self.term is not None
        is_small = self.term.months * self.term.length <= MOST_CELLS_HELD
        return self._amounts if self.is_owned and is_small else self._sum_amounts()

    @cached_property
    def _amounts(self) -> UnitAmounts:
        return self._sum_amounts()

    def _sum_amounts(self) -> UnitAmounts:
        assert self.term is not None
        return sum_unit_amounts(self.unit_charges, self.term)

    @property
    def is_financed(self) -> bool:
        """Whether a contract pays for its units over time."""
        return any(charge.category in FINANCING for charge in self.unit_charges)

    @property
    def is_on_sale(self) -> bool:
        """Whether any unit may be started in any month."""
        return self.max_units != 0 and (self.available is None or bool(self.available.any()))

    @property
    def is_leased(self) -> bool:
        """Whether its units go back to their owner in the end."""
        return any(charge.category is Category.LEASE for charge in self.unit_charges)

    def payment_shift(
        self, calendar: Calendar, of: Callable[[Charge], bool] = lambda charge: True
    ) -> Floats | float:
        """[T] what one unit started in month m costs less for being paid later than at the start
        of the month, after tax, over the charges that `of` chooses."""
        assert self.term is not None
        if calendar.is_plain and not self.is_financed:
            return 0.0
        return shift_payments(filter(of, self.unit_charges), self.term, calendar)

    def tax_relief(self, amounts: UnitAmounts, calendar: Calendar) -> Floats | float:
        """[T, L] tax that one unit saves: on what is an expense and on what is written off."""
        if not calendar.tax_rate or self.term is None:
            return 0.0
        if not self.is_owned:
            return np.asarray(calendar.tax_rate * amounts.deducted(self.term, calendar))
        paid = amounts.paid if self.taxes_capital else np.maximum(amounts.paid, 0.0)
        basis = amounts.capital.sum(axis=1, keepdims=True) * float(self.taxes_capital)
        expense = paid + amounts.financing
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
            amount += self.stream_cash(stream, calendar)
        return amount

    def stream_cash(self, stream: Stream, calendar: Calendar) -> Floats:
        """[L] what one of the streams that are due whatever the plan comes to, after tax."""
        is_taxed = stream.category is not Category.RESIDUAL or self.taxes_capital
        return stream.quantity * stream.unit_price * (1.0 - calendar.tax_rate * is_taxed)

    def fixed_shift(self, calendar: Calendar) -> float:
        """What it costs less, net present, for being paid later than at the start of the month."""
        if calendar.is_plain:
            return 0.0
        return sum(
            float(calendar.shift({stream.payment: self.stream_cash(stream, calendar)}))
            for stream in self.fixed_streams
        )

    def units_in_service(self, units_started: Floats) -> Floats:
        """[T] units in service in each month, those already owned included."""
        if self.term is None:
            return np.zeros(0)
        service = self.term.active[:, : self.term.months]
        units_in_service = np.asarray(units_started @ service, dtype=np.float64)
        return units_in_service if self.existing is None else units_in_service + self.existing


MOST_CELLS_HELD = 8_000
"""Figures of one unit's amounts up to which they are held rather than added up again: 64 kB, as
those of long horizons and 250 kinds of servers would fill the memory."""


@dataclass(frozen=True)
class UnitAmounts:
    """[T, L] money, before tax, of one unit started in month m."""

    paid: Floats
    """Running costs, commitments and resale."""
    capital: Floats
    debt: Floats | float = 0.0
    """Loans drawn, negative, and repaid."""
    financing: Floats | float = 0.0
    """Interest and rents of a contract under which the unit is paid."""
    upfront: Floats | float = 0.0
    """What of `paid` is paid upfront for a term."""

    @property
    def cash(self) -> Floats:
        """All of it."""
        return np.asarray(self.paid + self.capital + self.debt + self.financing)

    def deducted(self, term: Term, calendar: Calendar) -> Floats:
        """[T, L] what a commitment takes off the profit: bills when they are due, the share of
        upfront payments that the calendar spreads over the months that they pay for."""
        share = calendar.upfront_deduction_spread
        if not share or isinstance(self.upfront, float):
            return self.paid
        spread = self.upfront.sum(axis=1, keepdims=True) * term.write_off
        return np.asarray(self.paid + share * (spread - self.upfront))


def sum_unit_amounts(charges: Iterable[Charge], term: Term) -> UnitAmounts:
    """The charges of one unit by what they are for."""
    paid = np.zeros((term.months, term.length))
    capital = np.zeros_like(paid)
    debt: Floats | float = 0.0
    financing: Floats | float = 0.0
    upfront: Floats | float = 0.0
    for charge in charges:
        amounts = charge.amounts(term)
        if charge.category is Category.LOAN:
            debt = debt + amounts
        elif charge.category in FINANCING:
            financing = financing + amounts
        elif charge.category in CAPITAL:
            capital += amounts
        else:
            paid += amounts
            if charge.category is Category.UPFRONT:
                upfront = upfront + amounts
    return UnitAmounts(paid, capital, debt, financing, upfront)


def shift_payments(charges: Iterable[Charge], term: Term, calendar: Calendar) -> Floats | float:
    """[T] what the charges of one unit started in month m cost less, after tax, for being paid
    later than at the start of their month."""
    due: dict[PaidWhen, Floats] = {}
    for charge in charges:
        if charge.paid is not PaidWhen.DATED:
            taxed = 0.0 if charge.category is Category.LOAN else calendar.tax_rate
            amounts = charge.amounts(term) * (1.0 - taxed)
            due[charge.paid] = due.get(charge.paid, 0.0) + amounts
    return calendar.shift(due)


@dataclass(frozen=True)
class NativePrice:
    """What the provider itself asks, before any conversion or adjustment."""

    currency: str
    price_per_hour: str
    """Exact decimal, per hour of the whole machine."""
    upfront: str
    units_per_usd: str
    """Exchange rate used for it; "1" for US dollars."""
    rate_date: dt.date | None
    multiplier: float
    """Contract discount applied to it."""
    as_of: dt.date | None
    source: str
    sku: str
    absent_since: dt.date | None = None
    """Day of the provider's first list without it, which is why it may be sold no longer."""


def read_native_price(offer: Offer, rate: ExchangeRate, multiplier: float) -> NativePrice:
    """The price of an offer, the `rate` of its currency and the contract discount on it."""
    return NativePrice(
        currency=offer.currency,
        price_per_hour=str(offer.price_per_hour),
        upfront=str(offer.upfront),
        units_per_usd=str(rate.units_per_usd),
        rate_date=None if rate.date == dt.date.min else rate.date,
        multiplier=multiplier,
        as_of=offer.as_of,
        source=offer.source,
        sku=offer.sku,
        absent_since=offer.absent_since,
    )


@dataclass(frozen=True)
class SpotAvailability:
    """How much of the time a spot machine is there, in hours of 730 to the month.

    It runs for 730 / λ hours on average, λ interruptions a month, and is then waited for W hours
    (exponential waits). Of the hours wanted A = (730 / λ) / (730 / λ + W) are there, and
    (1 − A) e^(−p / W) fall back to on demand after a patience of p hours; the rest is waited for.
    λ is that of the AWS Spot Instance Advisor, else assumed, as W and p are: no price list or
    history says how long the wait is.
    """

    interruptions_per_month: float
    waiting_hours: float

    def on_demand_share(self, patience_hours: float) -> float:
        """Share of the hours that run which run on demand: fallback / (A + fallback).

        >>> round(SpotAvailability(1.0, 7.3).on_demand_share(0.0), 6)
        0.009901
        """
        one = np.ones(1)
        return float(self.on_demand_shares(one, one, patience_hours)[0])

    def on_demand_shares(self, rate: Floats, waiting: Floats, patience_hours: float) -> Floats:
        """The same for `rate` times the interruptions and `waiting` times the wait, each [N]."""
        hours = self.waiting_hours * waiting
        missing = self.interruptions_per_month * rate * hours / HOURS_PER_MONTH
        waits = np.divide(patience_hours, hours, out=np.full_like(hours, np.inf), where=hours > 0)
        share = missing * np.exp(-waits)
        return np.asarray(share / (1.0 + share))
