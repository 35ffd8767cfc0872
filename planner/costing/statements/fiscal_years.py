"""A plan by fiscal year: cash as it is paid, cost as it is booked. PURE.

Every entry of the books falls in one fiscal year of each view, so that the years sum to the whole
to the cent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from planner.contract.months import FiscalYears
from planner.costing.cost_model.terms import Calendar, PaidWhen
from planner.costing.results.entries import Entry, Group
from planner.costing.statements.leases import LeaseBooks

Cents = NDArray[np.int64]


@dataclass
class FiscalYear:
    """One fiscal year, in cents."""

    cash: int = 0
    capital: int = 0
    """Spent on what is written off."""
    booked: dict[Group, int] = field(default_factory=lambda: defaultdict(int))
    loan: int = 0
    """Owed to lenders at the end of the year."""
    lease_depreciation: int = 0
    lease_interest: int = 0
    right_of_use: int = 0
    lease_liability: int = 0

    @property
    def cost(self) -> int:
        """Everything that is booked."""
        return sum(self.booked.values())

    @property
    def ifrs_cost(self) -> int:
        """The same with leases on the balance sheet."""
        leases = self.lease_depreciation + self.lease_interest
        return self.cost - self.booked[Group.LEASE] + leases


def summarize_fiscal_years(
    entries: Iterable[Entry], leases: LeaseBooks | None, calendar: Calendar, years: FiscalYears
) -> Mapping[int, FiscalYear]:
    """Fiscal year → what is paid and booked in it, in order, without gaps."""
    by_year: dict[int, FiscalYear] = defaultdict(FiscalYear)
    balance: dict[int, int] = defaultdict(int)
    year_of = cache(years.year_of)
    for entry in entries:
        paid_in, due = months_paid(entry.paid, calendar).tolist(), entry.due.tolist()
        for month in np.flatnonzero(entry.due).tolist():
            year = by_year[year_of(paid_in[month])]
            year.cash += int(due[month])
            if entry.group is Group.DEPRECIATION:
                year.capital += int(due[month])
            if entry.group is Group.LOAN:
                balance[year_of(month)] -= int(due[month])
        booked = entry.booked.tolist()
        for month in np.flatnonzero(entry.booked).tolist():
            by_year[year_of(month)].booked[entry.group] += int(booked[month])
    if leases is not None:
        _add_leases(by_year, leases, years)
    every = range(
        years.year_of(0), max([*by_year, *balance, years.year_of(calendar.months - 1)]) + 1
    )
    owed = 0
    for name in every:
        owed += balance[name]
        by_year[name].loan = owed
    return {name: by_year[name] for name in every}


def _add_leases(by_year: dict[int, FiscalYear], leases: LeaseBooks, years: FiscalYears) -> None:
    busy = (leases.depreciation != 0) | (leases.interest != 0) | (leases.liability != 0)
    for month in np.flatnonzero(busy | (leases.asset != 0)).tolist():
        year = by_year[years.year_of(month)]
        year.lease_depreciation += int(leases.depreciation[month])
        year.lease_interest += int(leases.interest[month])
        year.right_of_use = int(leases.asset[month])
        year.lease_liability = int(leases.liability[month])


def months_paid(paid: PaidWhen, calendar: Calendar) -> NDArray[np.int64]:
    """[L] month in which what falls due in month t is paid; what is paid at the very end of a
    month is paid in it."""
    moment = calendar.paid_months(paid)
    due = np.arange(calendar.length)
    ended = np.ceil(moment - 1e-9) - 1
    return np.asarray(np.where(moment > due, np.maximum(ended, due), due), dtype=np.int64)
