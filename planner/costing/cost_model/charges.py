"""What a source of accelerator-hours charges, stated once. PURE.

Both what the optimiser weighs (`cost per hour`, `cost of one unit`) and the cost lines that a
person reads are derived from the same charges, so no cost can be in one and missing in the
other.

Shapes: `T` months of horizon, `L` months of the calendar (T plus what may fall due after it;
index T is the horizon's end, where residual values fall). Money is in the request's currency.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.months import add_months, count_months
from planner.costing.cost_model.finance import Depreciation, depreciation_shares, discount_factors

Floats = NDArray[np.float64]


CAPITAL = frozenset({Category.CAPEX, Category.INSTALL, Category.NETWORK_STORAGE, Category.SPARES})
"""Categories that are written off over time instead of being an expense of their month."""


class ChargeTiming(StrEnum):
    """When a charge of a unit falls due."""

    START = "start"
    """Once, in the month in which the unit is started."""
    MONTHLY = "monthly"
    """In every month in which the unit is in service."""
    END = "end"
    """Once, at the horizon's end, of units still in service then."""


@dataclass(frozen=True)
class Calendar:
    """The months of a plan and what money in them is worth."""

    start: dt.date
    months: int
    """T, the horizon."""
    discount_rate_per_year: float = 0.0
    beyond_months: int = 0
    """Months after the horizon in which something may still fall due."""
    tax_rate: float = 0.0

    @property
    def length(self) -> int:
        """L: the horizon, its end, and what lies beyond."""
        return self.months + 1 + self.beyond_months

    @cached_property
    def discount(self) -> Floats:
        """[L] present value of 1 due in month t."""
        return discount_factors(self.discount_rate_per_year, self.length)

    def month(self, index: int) -> dt.date:
        """First day of month `index`.

        >>> Calendar(dt.date(2027, 11, 1), 12).month(3)
        datetime.date(2028, 2, 1)
        """
        return add_months(self.start, index)

    def index(self, month: dt.date) -> int:
        """Months from the start to `month`; negative before it."""
        return count_months(self.start, month)


@dataclass(frozen=True)
class Term:
    """How long a unit serves: from `lead_months` after it is started, for `duration_months`.

    The masks are [T, L]: row m is a unit started in month m.
    """

    months: int
    length: int
    lead_months: int
    duration_months: int
    charges_after_horizon: bool = False
    """Whether charges go on after the horizon until the term is over."""
    depreciation: Depreciation | None = None
    """How capital is written off; None spreads it evenly over the months in service."""

    @property
    def last(self) -> int:
        """First month in which nothing monthly falls due any more."""
        return self.length if self.charges_after_horizon else self.months

    @cached_property
    def active(self) -> Floats:
        """1 in the months in which the unit is in service and charged."""
        return _active(self.months, self.length, self.lead_months, self.duration_months, self.last)

    @cached_property
    def at_start(self) -> Floats:
        """1 in the month of the start."""
        return np.eye(self.months, self.length)

    @cached_property
    def share_charged(self) -> Floats:
        """[L] share of its term that a unit started in month m is charged for."""
        share = np.zeros(self.length)
        share[: self.months] = self.active.sum(axis=1) / self.duration_months
        return share

    @cached_property
    def at_end(self) -> Floats:
        """1 at the horizon's end for a unit whose life goes on beyond it."""
        mask = np.zeros((self.months, self.length))
        start_month = np.arange(self.months)
        mask[start_month + self.lead_months + self.duration_months > self.months, self.months] = 1.0
        return mask

    def mask(self, timing: ChargeTiming) -> Floats:
        """[T, L] the mask of a kind of charge."""
        return {
            ChargeTiming.START: self.at_start,
            ChargeTiming.MONTHLY: self.active,
            ChargeTiming.END: self.at_end,
        }[timing]

    @cached_property
    def write_off(self) -> Floats:
        """[T, L] share of its capital that a unit writes off in each month; rows sum to 1.

        What is not yet written off at the horizon's end is written off there, against the
        residual value. With depreciation `none` capital is written off when it is paid.
        """
        if self.depreciation is None:
            return _write_off_evenly(self.active)
        if self.depreciation == "none":
            return np.eye(self.months, self.length)
        shares = np.array(depreciation_shares(self.depreciation, self.duration_months))
        return _write_off_by_schedule(shares, self.months, self.length, self.lead_months)

    @cached_property
    def can_start(self) -> NDArray[np.bool_]:
        """[T] whether a unit started in month m comes into service within the horizon."""
        return np.arange(self.months) + self.lead_months < self.months


@lru_cache(maxsize=32)
def _active(months: int, length: int, lead: int, duration: int, last: int) -> Floats:
    age = np.arange(length)[None, :] - np.arange(months)[:, None] - lead
    in_service = (age >= 0) & (age < duration) & (np.arange(length) < last)[None, :]
    mask = np.asarray(in_service, dtype=np.float64)
    mask.setflags(write=False)
    return mask


def _write_off_evenly(active: Floats) -> Floats:
    count = active.sum(axis=1, keepdims=True)
    return np.asarray(active / np.maximum(count, 1.0))


def _write_off_by_schedule(shares: Floats, months: int, length: int, lead: int) -> Floats:
    age = np.arange(length)[None, :] - np.arange(months)[:, None] - lead
    within = (age >= 0) & (age < len(shares)) & (np.arange(length) < months)[None, :]
    shares_by_month = np.where(within, shares[np.clip(age, 0, len(shares) - 1)], 0.0)
    shares_by_month[:, months] = 1.0 - shares_by_month.sum(axis=1)
    return shares_by_month


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

    def amounts(self, term: Term) -> Floats:
        """[T, L] money due in month t for one unit started in month m."""
        mask = term.mask(self.timing)
        price = (
            self.unit_price[: term.months, None]
            if self.is_priced_at_start
            else self.unit_price[None, :]
        )
        return np.asarray(mask * (self.quantity * price))

    @property
    def is_priced_at_start(self) -> bool:
        """Whether the price depends on the month in which the unit was started."""
        return self.fixed_at_start or self.timing is ChargeTiming.END


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
    charges: tuple[UnitCharge, ...], term: Term, units_started: Floats
) -> Iterator[Stream]:
    """Streams of units started in each month [T]; one for each price that a start fixed."""
    for charge in charges:
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
    """Units started, split by the price that their start fixed, with that price by month."""
    if not charge.is_priced_at_start:
        yield units_started, charge.unit_price
        return
    prices = charge.unit_price[: term.months]
    for price in np.unique(prices[units_started > 0]):
        yield np.where(prices == price, units_started, 0.0), np.full(term.length, price)
