"""What a source of accelerator-hours charges, stated once. PURE.

Both what the optimiser weighs (`cost per hour`, `cost of one unit`) and the cost lines that a
person reads are derived from the same charges, so no cost can be in one and missing in the
other.

Shapes: `T` months of horizon, `L` months of the calendar (T plus what may fall due after it;
index T is the horizon's end, where residual values fall). Money is in the request's currency.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.copies import cached_property
from planner.costing.cost_model.terms import ChargeTiming, PaidWhen, Term

Floats = NDArray[np.float64]


CAPITAL = frozenset({Category.CAPEX, Category.INSTALL, Category.NETWORK_STORAGE, Category.SPARES})
"""Categories that are written off over time instead of being an expense of their month."""


FINANCING = frozenset({Category.LOAN, Category.INTEREST, Category.LEASE})
"""Categories of what a contract under which servers are paid adds to, or puts in the place of,
their price."""
DATED = CAPITAL | {Category.UPFRONT, Category.RESIDUAL}
"""Categories of what is paid once, on a day of its own."""


NOT_RENT = frozenset({Category.STORAGE, Category.EGRESS, Category.STAFF})
"""Categories of what an hour rented costs besides its rent: no price of machines moves them."""


def payment_of(category: Category) -> PaidWhen:
    """When what is for `category` is paid, unless a contract says otherwise."""
    return PaidWhen.DATED if category in DATED else PaidWhen.RUNNING


@dataclass(frozen=True)
class HourCharge:
    """Due for each useful node-hour: `quantity` units of something at `unit_price`."""

    category: Category
    label: str
    unit: str
    quantity: float | Floats
    """Per useful node-hour; [L] where it differs by month."""
    unit_price: Floats
    """[L]"""
    is_fallback: bool = False
    """Whether it is rent on demand for hours in which a spot machine is not there."""

    @property
    def paid(self) -> PaidWhen:
        """When it is paid."""
        return payment_of(self.category)

    @property
    def is_rent(self) -> bool:
        """Whether it moves with the price of machines."""
        return self.category not in NOT_RENT

    @cached_property
    def per_hour(self) -> Floats:
        """[L] money for one useful node-hour."""
        return np.asarray(self.quantity * self.unit_price)


@dataclass(frozen=True)
class UnitCharge:
    """Due for each unit: `quantity` of something at `unit_price`, at the times `timing` says."""

    category: Category
    label: str
    unit: str
    quantity: float
    unit_price: Floats
    """[L] by month; of the month of the start if `fixed_at_start`, else of the month it is due."""
    timing: ChargeTiming
    fixed_at_start: bool = False
    by_month: Floats | None = None
    """[L] factor of the month in which it is due on what the start fixed; None: none."""

    @property
    def paid(self) -> PaidWhen:
        """When it is paid."""
        return payment_of(self.category)

    def amounts(self, term: Term) -> Floats:
        """[T, L] money due in month t for one unit started in month m."""
        mask = term.mask(self.timing)
        price = (
            self.unit_price[: term.months, None]
            if self.is_priced_at_start
            else self.unit_price[None, :]
        )
        if self.by_month is not None:
            price = price * self.by_month
        return np.asarray(mask * (self.quantity * price))

    @property
    def is_priced_at_start(self) -> bool:
        """Whether the price depends on the month in which the unit was started."""
        return self.fixed_at_start or self.timing is ChargeTiming.END


@dataclass(frozen=True)
class ScheduledCharge:
    """Due for each unit by a schedule of payments of its own."""

    category: Category
    label: str
    unit: str
    due: Floats
    """[T, L] money due in month t for one unit started in month m."""
    paid: PaidWhen
    written_off: Floats | None = None
    """[T, L] the same by the month that it is a cost of; None: as it is due."""

    def amounts(self, term: Term) -> Floats:
        """[T, L] money due in month t for one unit started in month m."""
        return self.due

    def build_streams(self, units_started: Floats) -> Iterator[Stream]:
        """A stream for the units of each month in which any are started."""
        for month in np.flatnonzero(units_started).tolist():
            units, price = float(units_started[month]), self.due[month]
            written = None if self.written_off is None else units * self.written_off[month]
            quantity = np.where(price != 0, units, 0.0)
            yield Stream(self.category, self.label, self.unit, quantity, price, written, self.paid)


Charge = UnitCharge | ScheduledCharge


@dataclass(frozen=True)
class Stream:
    """One kind of cost over the calendar, before it is rounded into lines."""

    category: Category
    label: str
    unit: str
    quantity: Floats
    """[L]"""
    unit_price: Floats
    """[L]"""
    write_off: Floats | None = None
    """[L] money of this stream by the month it is written off in; None: as it is paid."""
    paid: PaidWhen | None = None
    """When it is paid; None: as its category is."""

    @property
    def payment(self) -> PaidWhen:
        """When it is paid."""
        return payment_of(self.category) if self.paid is None else self.paid


def build_hour_streams(
    charges: tuple[HourCharge, ...], hours: Floats, length: int
) -> Iterator[Stream]:
    """Streams of `hours` [T] useful node-hours."""
    for charge in charges:
        quantity = np.zeros(length)
        quantity[: len(hours)] = hours
        yield Stream(
            charge.category,
            charge.label,
            charge.unit,
            quantity * charge.quantity,
            charge.unit_price,
        )


def build_unit_streams(
    charges: tuple[Charge, ...], term: Term, units_started: Floats
) -> Iterator[Stream]:
    """Streams of units started in each month [T]; one for each price that a start fixed."""
    for charge in charges:
        if isinstance(charge, ScheduledCharge):
            yield from charge.build_streams(units_started)
            continue
        for cohort, price in _cohorts(charge, units_started, term):
            mask = term.mask(charge.timing)
            quantity = cohort @ mask * charge.quantity
            write_off = None
            if charge.timing is ChargeTiming.START:
                payments = cohort * charge.quantity * price[: term.months]
                write_off = payments @ term.write_off
            yield Stream(charge.category, charge.label, charge.unit, quantity, price, write_off)


def _cohorts(
    charge: UnitCharge, units_started: Floats, term: Term
) -> Iterator[tuple[Floats, Floats]]:
    if not charge.is_priced_at_start:
        yield units_started, charge.unit_price
        return
    prices = charge.unit_price[: term.months]
    factors = 1.0 if charge.by_month is None else charge.by_month
    for price in np.unique(prices[units_started > 0]):
        in_months = np.full(term.length, price) * factors
        yield np.where(prices == price, units_started, 0.0), in_months
