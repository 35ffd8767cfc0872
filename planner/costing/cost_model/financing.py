"""A server paid for over time: its deposit, instalments, interest and rents by month. PURE.

With price 1, deposit d, balloon b, rate i a month, n months and F = 1 − d financed, the instalment
or rent is

    p = (F − b (1 + i)^−n) · i / (1 − (1 + i)^−n), in advance divided by 1 + i

so that the balance falls from F to b. A loan or hire purchase then pays b; of a lease the lessor
keeps it. Amounts of one server are whole cents that sum to what was drawn and to the interest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.request.financing import Financing as RequestedFinancing
from planner.costing.cost_model.charges import ScheduledCharge
from planner.costing.cost_model.terms import Calendar, PaidWhen

Floats = NDArray[np.float64]
Method = Literal["loan", "hire_purchase", "lease"]
_TITLES = {"loan": "Loan", "hire_purchase": "Hire purchase", "lease": "Lease"}


@dataclass(frozen=True)
class Financing:
    """The contract under which servers are bought or leased."""

    method: Method
    months: int
    deposit_rate: float = 0.0
    balloon_rate: float = 0.0
    in_advance: bool = False
    term_end: Literal["full", "within", "prorate"] = "full"
    """What counts of a contract that outlasts the horizon: all of it; nothing, as it may not be
    signed if a lease and is settled if not; its share within the horizon, a loan settled there."""

    @property
    def title(self) -> str:
        """What people call it."""
        return _TITLES[self.method]

    @property
    def is_lease(self) -> bool:
        """Whether the server goes back to its owner."""
        return self.method == "lease"

    @property
    def paid(self) -> PaidWhen:
        """When instalments are paid."""
        return PaidWhen.DATED if self.in_advance else PaidWhen.MONTH_END

    def total_paid(self, rate_per_year: float) -> float:
        """What is paid for a price of 1 in all.

        >>> round(Financing("loan", 12, balloon_rate=0.5).total_paid(0.0), 12)
        1.0
        """
        rents = self.deposit_rate + self.months * self.repay(rate_per_year).instalment
        return rents if self.is_lease else rents + self.balloon_rate

    def repay(self, rate_per_year: float) -> Repayment:
        """The contract for a price of 1."""
        return _repay(self, rate_per_year / 12.0)


def read_financing(
    requested: RequestedFinancing, term_end: Literal["full", "within", "prorate"]
) -> Financing | None:
    """The contract that a request names; None where servers are paid at once."""
    if requested.method == "purchase":
        return None
    return Financing(
        method=requested.method,
        months=requested.months or 0,
        deposit_rate=requested.deposit_rate or 0.0,
        balloon_rate=requested.balloon_rate or 0.0,
        in_advance=requested.payments == "in_advance",
        term_end=term_end,
    )


@dataclass(frozen=True)
class Repayment:
    """What a contract over n months pays for a price of 1."""

    instalment: float
    principal: Floats
    """[n] of each instalment."""
    interest: Floats
    """[n] of each instalment."""
    accrued: Floats
    """[n] interest of each month."""
    balloon: float
    """Balance after the last instalment, without the interest of the last month."""
    balloon_interest: float


def instalment(rate_per_month: float, financing: Financing) -> float:
    """Instalment or rent for a price of 1.

    >>> round(70e6 * instalment(0.15 / 12, Financing("loan", 36)), 2)
    2426573.0
    >>> instalment(0.0, Financing("lease", 10, deposit_rate=0.1, balloon_rate=0.2))
    0.07
    """
    n, i = financing.months, rate_per_month
    financed = 1.0 - financing.deposit_rate
    if not i:
        return round((financed - financing.balloon_rate) / n, 15)
    worth = (1.0 + i) ** -n
    payment = (financed - financing.balloon_rate * worth) * i / (1.0 - worth)
    return payment / (1.0 + i) if financing.in_advance else payment


def _repay(financing: Financing, rate: float) -> Repayment:
    n, payment = financing.months, instalment(rate, financing)
    principal, interest, accrued = np.zeros(n), np.zeros(n), np.zeros(n)
    balance, owed = 1.0 - financing.deposit_rate, 0.0
    for month in range(n):
        if financing.in_advance:
            interest[month], principal[month] = owed, payment - owed
            balance -= principal[month]
            accrued[month] = owed = balance * rate
        else:
            accrued[month] = interest[month] = balance * rate
            principal[month] = payment - interest[month]
            balance -= principal[month]
    return Repayment(payment, principal, interest, accrued, balance, owed)


def build_financing_charges(
    financing: Financing,
    rate_per_year: float,
    label: str,
    prices: Floats,
    lead_months: int,
    calendar: Calendar,
) -> Iterator[ScheduledCharge]:
    """What one server costs beside its price under a loan or hire purchase, or instead of it
    under a lease; `prices` [T] is its price by the month of purchase."""
    plan = _Schedule(financing, financing.repay(rate_per_year), prices, lead_months, calendar)
    return plan.lease(label) if financing.is_lease else plan.debt(label)


@dataclass(frozen=True)
class _Schedule:
    """One contract for a server of each month of purchase."""

    financing: Financing
    repayment: Repayment
    prices: Floats
    lead_months: int
    calendar: Calendar

    @property
    def _last(self) -> int:
        """First month in which nothing falls due any more."""
        is_full = self.financing.term_end == "full"
        return self.calendar.length if is_full else self.calendar.months

    def debt(self, label: str) -> Iterator[ScheduledCharge]:
        """The loan drawn, repaid and its interest."""
        title, paid, one = self.financing.title, self.financing.paid, self.repayment
        principal = self._cents(np.append(one.principal, one.balloon))
        interest = self._cents(np.append(one.interest, one.balloon_interest))
        drawn = self._at(-principal.sum(axis=1)[:, None])
        repaid, balloon = self._at(principal[:, :-1]), self._at_last(principal[:, -1:])
        owed, owed_last = self._at(interest[:, :-1]), self._at_last(interest[:, -1:])
        booked = self._at(self._cents(one.accrued)) - owed_last
        settled = self._at_horizon(-(drawn + repaid + balloon))
        owed_last = owed_last + self._at_horizon(booked - owed)
        booked = booked - self._at_horizon(booked - owed)
        end, at_once = PaidWhen.MONTH_END, PaidWhen.DATED
        parts = (
            (Category.LOAN, f"{title} drawn", drawn, at_once, None),
            (Category.LOAN, f"{title} repaid", repaid, paid, None),
            (Category.LOAN, f"{title}, balloon", balloon, end, None),
            (Category.LOAN, f"{title} settled", settled, end, None),
            (Category.INTEREST, "Interest", owed, paid, booked),
            (Category.INTEREST, "Interest with the last payment", owed_last, end, None),
        )
        for category, name, due, when, written in parts:
            if due.any():
                yield ScheduledCharge(category, f"{name}: {label}", "servers", due, when, written)

    def lease(self, label: str) -> Iterator[ScheduledCharge]:
        """Deposit and rents, both spread evenly over the months of the lease."""
        n, lead = self.financing.months, self.lead_months
        rents = self._at(self._cents(np.full(n, self.repayment.instalment)), lead)
        months = self._at(np.ones((self.calendar.months, n)), lead)
        deposit = self.prices * self.financing.deposit_rate * months.sum(axis=1) / n
        first = self._at(np.rint(deposit[:, None] * 100.0) / 100.0, lead)
        for name, due, when in (
            ("Lease", rents, self.financing.paid),
            ("Lease, first payment", first, PaidWhen.DATED),
        ):
            if due.any():
                spread = due.sum(axis=1) / np.maximum(months.sum(axis=1), 1.0)
                written = months * spread[:, None]
                yield ScheduledCharge(
                    Category.LEASE, f"{name}: {label}", "servers", due, when, written
                )

    def _cents(self, shares: Floats) -> Floats:
        """[T, n] money of each payment in whole cents, whose sums are those of `shares` [n]."""
        cumulative = np.rint(np.cumsum(shares) * self.prices[:, None] * 100.0)
        return np.asarray(np.diff(cumulative, prepend=0.0) / 100.0)

    def _at_last(self, payment: Floats) -> Floats:
        """[T, L] what falls due in the last month of a contract; `payment` is [T, 1]."""
        return self._at(payment, self.financing.months - 1)

    def _at(self, payments: Floats, lead: int = 0) -> Floats:
        """[T, L] `payments` [T, n] from `lead` months after the start on."""
        months = self.calendar.months
        due, start = np.zeros((months, self.calendar.length)), np.arange(months)
        for k in range(payments.shape[1]):
            rows = start[start + lead + k < self._last]
            due[rows, rows + lead + k] = payments[rows, k]
        return due

    def _at_horizon(self, amounts: Floats) -> Floats:
        """[T, L] the sum of `amounts` [T, L], to the cent, due at the end of the horizon's last
        month where that settles what is left; nothing where the contract goes on."""
        due = np.zeros((self.calendar.months, self.calendar.length))
        if self.financing.term_end != "full":
            due[:, self.calendar.months - 1] = np.rint(amounts.sum(axis=1) * 100.0) / 100.0
        return due
