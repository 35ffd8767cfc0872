"""When money of a plan falls due: its months, and the months in which a unit serves. PURE.

Shapes: `T` months of horizon, `L` months of the calendar (T plus what may fall due after it;
index T is the horizon's end, where residual values fall).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import add_months, count_months
from planner.costing.assumptions.assumptions import Depreciation

Floats = NDArray[np.float64]
_OFFSETS = {"month_start": 0.0, "month_middle": 0.5, "month_end": 1.0}
"""Months from the start of a month to the payment of its bills."""


class ChargeTiming(StrEnum):
    """When a charge of a unit falls due."""

    START = "start"
    """Once, in the month in which the unit is started."""
    MONTHLY = "monthly"
    """In every month in which the unit is in service."""
    END = "end"
    """Once, when a unit is sold: at the horizon's end if it is still in service then, or where
    the term says so when its service is over."""


class PaidWhen(StrEnum):
    """At which moment of the month in which it falls due something is paid."""

    DATED = "dated"
    """At its start: purchases, upfront payments, one-off costs, loans drawn, resale."""
    RUNNING = "running"
    """As the cash timing and the payment terms of the calendar say: bills of every month."""
    MONTH_END = "month_end"
    """At its end: instalments in arrears."""


CashTiming = Literal["month_start", "month_middle", "month_end", "year_end"]
DAYS_PER_MONTH = 365 / 12


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
    cash_timing: CashTiming = "month_start"
    """When the bills of a month are paid."""
    payment_terms_days: float = 0.0
    """Days between that and the payment."""
    upfront_deduction_spread: float = 0.0
    """Share of an upfront payment that is deducted over its term; the rest when it is paid."""
    smallest_cents: int = 1
    """Hundredths of the currency in the smallest amount that is paid: 100 for yen."""

    @property
    def length(self) -> int:
        """L: the horizon, its end, and what lies beyond."""
        return self.months + 1 + self.beyond_months

    @cached_property
    def discount(self) -> Floats:
        """[L] present value of 1 due in month t."""
        return discount_factors(self.discount_rate_per_year, self.length)

    @property
    def is_plain(self) -> bool:
        """Whether bills are paid at the start of their month, as everything else is."""
        return self.cash_timing == "month_start" and not self.payment_terms_days

    @cached_property
    def running_discount(self) -> Floats:
        """[L] present value of 1 of the bills of month t."""
        return self.discount_of(PaidWhen.RUNNING)

    def discount_of(self, paid: PaidWhen) -> Floats:
        """[L] present value of 1 that falls due in month t and is paid when `paid` says."""
        if paid is PaidWhen.DATED or (paid is PaidWhen.RUNNING and self.is_plain):
            return self.discount
        return np.asarray(
            (1.0 + self.discount_rate_per_year) ** (-self.paid_months(paid) / 12.0),
            dtype=np.float64,
        )

    @cached_property
    def worth(self) -> Mapping[PaidWhen, Floats]:
        """[L, 2] by when it is paid: present and nominal value of 1 that falls due in month t."""
        nominal = np.ones(self.length)
        return {paid: np.stack([self.discount_of(paid), nominal], axis=1) for paid in PaidWhen}

    def paid_months(self, paid: PaidWhen) -> Floats:
        """[L] months from the start to the payment of what falls due in month t.

        >>> calendar = Calendar(dt.date(2027, 1, 1), 2, cash_timing="year_end")
        >>> calendar.paid_months(PaidWhen.RUNNING).tolist()
        [12.0, 12.0, 12.0]
        >>> calendar.paid_months(PaidWhen.MONTH_END).tolist()
        [1.0, 2.0, 3.0]
        """
        month = np.arange(self.length, dtype=np.float64)
        if paid is PaidWhen.DATED:
            return month
        if paid is PaidWhen.MONTH_END:
            return month + 1.0
        terms = self.payment_terms_days / DAYS_PER_MONTH
        if self.cash_timing == "year_end":
            return np.asarray(12.0 * (month // 12 + 1) + terms)
        return month + _OFFSETS[self.cash_timing] + terms

    def shift(self, amounts: Mapping[PaidWhen, Floats]) -> Floats | float:
        """What later payment takes off the present value of `amounts` […, L] due in month t:
        Σ amount · (worth when paid − worth at the start of the month); 0 where all is paid
        then."""
        return sum(
            (
                due @ (self.discount_of(paid) - self.discount)
                for paid, due in amounts.items()
                if self.discount_of(paid) is not self.discount
            ),
            0.0,
        )

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
    sells_when_retired: bool = False
    """Whether a unit whose service ends before the horizon does is sold then."""

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
        return _at_start(self.months, self.length)

    @cached_property
    def at_end(self) -> Floats:
        """1 at the horizon's end for a unit whose life goes on beyond it; where units are sold
        when they retire, in that month for the others."""
        until_sale = self.lead_months + self.duration_months
        return _at_end(self.months, self.length, until_sale, self.sells_when_retired)

    @cached_property
    def months_kept(self) -> NDArray[np.int64]:
        """[L] months from the start of a unit to its sale at the latest."""
        left = np.maximum(self.months - np.arange(self.length), 0)
        if not self.sells_when_retired:
            return left
        return np.minimum(left, self.lead_months + self.duration_months)

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

        What is not yet written off when the unit is sold, or at the horizon's end, is written off
        there, against the residual value. With depreciation `none` capital is written off when it
        is paid.
        """
        if self.depreciation is None:
            count = self.active.sum(axis=1, keepdims=True)
            return np.asarray(self.active / np.maximum(count, 1.0))
        if self.depreciation == "none":
            return _at_start(self.months, self.length)
        return _write_off_by_schedule(
            self.depreciation, self.duration_months, self.months, self.length, self.lead_months
        )

    @cached_property
    def can_start(self) -> NDArray[np.bool_]:
        """[T] whether a unit started in month m comes into service within the horizon."""
        return np.arange(self.months) + self.lead_months < self.months


@lru_cache(maxsize=8)
def _at_start(months: int, length: int) -> Floats:
    return _read_only(np.eye(months, length))


@lru_cache(maxsize=8)
def _at_end(months: int, length: int, until_sale: int, sells_when_retired: bool) -> Floats:
    mask = np.zeros((months, length))
    start_month = np.arange(months)
    retired = start_month + until_sale
    mask[retired > months, months] = 1.0
    if sells_when_retired:
        sold = start_month[retired <= months]
        mask[sold, retired[sold]] = 1.0
    return _read_only(mask)


@lru_cache(maxsize=64)
def _active(months: int, length: int, lead: int, duration: int, last: int) -> Floats:
    age = np.arange(length)[None, :] - np.arange(months)[:, None] - lead
    in_service = (age >= 0) & (age < duration) & (np.arange(length) < last)[None, :]
    return _read_only(np.asarray(in_service, dtype=np.float64))


@lru_cache(maxsize=8)
def _write_off_by_schedule(
    depreciation: Depreciation, duration: int, months: int, length: int, lead: int
) -> Floats:
    shares = np.array(depreciation_shares(depreciation, duration))
    age = np.arange(length)[None, :] - np.arange(months)[:, None] - lead
    most = min(len(shares), duration)
    within = (age >= 0) & (age < most) & (np.arange(length) < months)[None, :]
    shares_by_month = np.where(within, shares[np.clip(age, 0, most - 1)], 0.0)
    start = np.arange(months)
    sold = np.minimum(start + lead + duration, months)
    shares_by_month[start, sold] += 1.0 - shares_by_month.sum(axis=1)
    return _read_only(shares_by_month)


MACRS_5_RATES = (0.20, 0.32, 0.192, 0.1152, 0.1152, 0.0576)
"""Deductions of tax years 1 to 6, fractions of the basis: 5-year property, half-year
convention, 200 % declining balance. Source: IRS Publication 946 (2024), table A-1."""


@lru_cache(maxsize=256)
def discount_factors(rate_per_year: float, months: int) -> Floats:
    """[months] present value of 1 in month t: (1 + r)^(−t / 12); read-only.

    >>> discount_factors(0.21, 13)[[0, 6, 12]].round(6).tolist()
    [1.0, 0.909091, 0.826446]
    """
    return _read_only((1.0 + rate_per_year) ** (-np.arange(months) / 12.0))


@lru_cache(maxsize=256)
def trend_factors(change_per_year: float, months: int) -> Floats:
    """[months] factor on a price in month t: (1 + g)^(t / 12); read-only.

    >>> trend_factors(-0.19, 13)[[0, 6, 12]].round(4).tolist()
    [1.0, 0.9, 0.81]
    """
    return _read_only((1.0 + change_per_year) ** (np.arange(months) / 12.0))


def _read_only(values: Floats) -> Floats:
    values.setflags(write=False)
    return values


@lru_cache(maxsize=64)
def depreciation_shares(method: Depreciation, life_months: int) -> tuple[float, ...]:
    """Share of the basis written off in each month of service; they sum to 1.

    Straight line spreads it evenly over the useful life; MACRS takes each tax year's rate in
    twelve equal parts, over six tax years whatever the useful life; `none` writes nothing off.

    >>> depreciation_shares("straight_line", 4)
    (0.25, 0.25, 0.25, 0.25)
    >>> [round(12 * s, 4) for s in depreciation_shares("macrs_5", 60)[::12]]
    [0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576]
    """
    if method == "straight_line":
        return (1.0 / life_months,) * life_months
    if method == "macrs_5":
        return tuple(rate / 12.0 for rate in MACRS_5_RATES for _ in range(12))
    return ()
