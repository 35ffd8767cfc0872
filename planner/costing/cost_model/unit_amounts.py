"""What one unit of a source pays and when, by what it is for. PURE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.costing.cost_model.charges import CAPITAL, FINANCING, Charge
from planner.costing.cost_model.terms import Calendar, PaidWhen, Term

Floats = NDArray[np.float64]
MOST_CELLS_HELD = 8_000
"""Figures of one unit's amounts up to which they are held rather than added up again: 64 kB, and
250 kinds of servers are the most that a request may have."""


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


@dataclass(frozen=True)
class UnitValue:
    """What one unit of a source costs after tax, net present; [T] by the month of its start."""

    start_cost: Floats
    """All of it, the residual value taken off; `inf` where it may not start."""
    residual: Floats
    """The residual value in it, not above 0."""
    hour_cost: Floats
    """Of one node-hour of use in month t, on top."""


def are_few(term: Term) -> bool:
    """Whether the amounts of a unit are worth holding: those of long horizons fill the memory."""
    return term.months * term.length <= MOST_CELLS_HELD


def sum_unit_amounts(charges: Iterable[Charge], term: Term, *, is_financed: bool) -> UnitAmounts:
    """The charges of one unit by what they are for."""
    paid = np.zeros((term.months, term.length))
    capital = np.zeros_like(paid)
    if not is_financed:
        upfront: Floats | float = 0.0
        for charge in charges:
            target = capital if charge.category in CAPITAL else paid
            amounts = charge.amounts(term)
            target += amounts
            if charge.category is Category.UPFRONT:
                upfront = upfront + amounts
        return UnitAmounts(paid, capital, upfront=upfront)
    debt, financing = np.zeros_like(paid), np.zeros_like(paid)
    for charge in charges:
        target = capital if charge.category in CAPITAL else paid
        if charge.category in FINANCING:
            target = debt if charge.category is Category.LOAN else financing
        target += charge.amounts(term)
    return UnitAmounts(paid, capital, debt, financing)


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
