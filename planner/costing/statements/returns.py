"""What an investment returns: present value, rates of return, payback. PURE.

Flows are receipts, positive, and payments, negative, at times in years from the start. Formulas:
Brealey, Myers, Allen, Principles of Corporate Finance, chapters 5 and 6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import FiscalYears
from planner.contract.answer.common import Category
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.terms import Calendar, PaidWhen
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.entries import Entry, Group
from planner.costing.results.scenario_result import Scenario

Floats = NDArray[np.float64]
_LOWEST, _HIGHEST = -0.99, 1e4
_GRID = np.concatenate(
    [np.linspace(_LOWEST, 1.0, 400, endpoint=False), np.geomspace(1.0, _HIGHEST, 100)]
)
"""Yearly rates between which a sign change is looked for."""
_HALVINGS = 100
_HALF_A_CENT = 0.005
_SAME_MONTH = 1e-6
"""Months by which the time of a payment may be rounded."""


def present_value(flows: Floats, years: Floats, rate_per_year: float) -> float:
    """Σ flow · (1 + r)^(−years).

    >>> round(present_value(np.array([-100.0, 121.0]), np.array([0.0, 1.0]), 0.10), 6)
    10.0
    """
    return float(flows @ (1.0 + rate_per_year) ** -years)


def why_no_internal_rate(flows: Floats, years: Floats | None = None) -> str:
    """Why flows in the order of their time have no rate of return that means anything; "" where
    they have one: money is spent first, and what is received and paid after it adds up to more
    than that from some moment on, or never (Norstrom, 1972). With their times those of one month
    are added up: an instalment on its first day and a bill on its last are no change of mind.

    >>> why_no_internal_rate(np.array([-100.0, 60.0, 60.0]))
    ''
    >>> why_no_internal_rate(np.array([-100.0, 230.0, -132.0]))
    'savings turn into extra spending and back 2 times'
    >>> why_no_internal_rate(np.array([-9.0, 6.0, -5.0, 7.0]), np.array([0.0, 0.05, 0.09, 0.13]))
    ''
    """
    if years is not None:
        months = np.floor(years * 12 + _SAME_MONTH).astype(np.int64)
        flows = np.asarray(np.bincount(months - months.min(initial=0), weights=flows), float)
    signs = _sign_changes(flows)
    if not (flows < 0).any():
        return "nothing is spent that a return could be of"
    if not (flows > 0).any():
        return "nothing is ever saved"
    if flows[np.flatnonzero(flows)[0]] > 0:
        return "money is saved before any is spent, as with a loan"
    if signs > 1 and _sign_changes(np.cumsum(flows)) != 1:
        return f"savings turn into extra spending and back {signs} times"
    return ""


def _sign_changes(values: Floats) -> int:
    signs = np.sign(values[values != 0])
    return int(np.count_nonzero(signs[1:] != signs[:-1]))


def internal_rate_of_return(flows: Floats, years: Floats) -> float | None:
    """Yearly rate at which the present value is 0; None where `why_no_internal_rate` says why, and
    where there is none between −99 % and 1,000,000 %, or more than one.

    >>> rate = internal_rate_of_return(np.array([-100.0, 60.0, 60.0]), np.array([0.0, 1.0, 2.0]))
    >>> round(rate, 6)
    0.130662
    >>> internal_rate_of_return(np.array([-100.0, 230.0, -132.0]), np.array([0.0, 1.0, 2.0]))
    >>> internal_rate_of_return(np.array([10.0, 10.0]), np.array([0.0, 1.0]))
    """
    if why_no_internal_rate(flows, years):
        return None
    scale = float(np.abs(flows).sum())
    values = ((1.0 + _GRID)[:, None] ** -years[None, :]) @ (flows / scale)
    changes = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    roots = [float(_GRID[i]) for i in np.flatnonzero(values == 0)]
    if changes.size + len(roots) != 1:
        return None
    return roots[0] if roots else _bisect(flows, years, int(changes[0]))


def _bisect(flows: Floats, years: Floats, at: int) -> float:
    low, high = float(_GRID[at]), float(_GRID[at + 1])
    is_above = present_value(flows, years, low) > 0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):  # no number lies between
            return middle
        if (present_value(flows, years, middle) > 0) is is_above:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def payback_months(
    flows: Sequence[float], closing: float = 0.0, moments: Sequence[float] | None = None
) -> float | None:
    """Months until what is received stays no less than what was paid. Each flow is spread over the
    time since the one before it, up to its moment; without `moments` they are those of one month
    after the other. `closing` is received at the end. 0 where nothing is ever paid ahead, None
    where it is never paid back.

    >>> payback_months([-90.0, 20.0, 40.0, 40.0, 40.0])
    3.75
    >>> payback_months([-90.0, 20.0], closing=100.0), payback_months([-90.0, 20.0])
    (2.0, None)
    >>> payback_months([1.0, 1.0])
    0.0
    >>> payback_months([-300.0, 90.0, 90.0, 90.0, 90.0], moments=[0, 12, 24, 36, 48])
    40.0
    """
    times = np.arange(1.0, len(flows) + 1.0) if moments is None else np.asarray(moments)
    balance = np.cumsum(np.asarray(flows, dtype=np.float64))
    if not balance.size or balance[-1] + closing < 0:
        return None
    behind = np.flatnonzero(balance < 0)
    if not behind.size:
        return 0.0
    last = int(behind[-1])
    if last + 1 >= balance.size:
        return float(times[-1])
    share = -balance[last] / (balance[last + 1] - balance[last])
    return float(times[last] + share * (times[last + 1] - times[last]))


def payback_of_payments(
    amounts: Floats, moments: Floats, end: float, closing: float = 0.0
) -> float | None:
    """Months until what is received stays no less than what was paid, each payment spread evenly
    over the month from its moment on: the least x from which

        B(x) = Σ amount · min(1, max(0, x − moment)) + closing · [x ≥ end]

    stays at 0 or above; `closing` is received at the moment `end`. 0 where nothing is ever paid
    ahead, None where it is never paid back. A month is what the bill of a month pays for, so a
    payment half a month later pays back half a month later.

    >>> flows, months = np.array([-90.0, 40.0, 40.0, 40.0]), np.array([0.0, 0.0, 1.0, 2.0])
    >>> payback_of_payments(flows, months, 3.0)
    2.25
    >>> payback_of_payments(flows, months + [0, 0.5, 0.5, 0.5], 3.0)
    2.75
    >>> payback_of_payments(flows[:3], months[:3], 12.0, closing=20.0)
    12.0
    """
    times = np.unique(np.concatenate([moments, moments + 1.0, [0.0, end]]))
    balance = np.clip(times[:, None] - moments[None, :], 0.0, 1.0) @ amounts
    sold = int(np.searchsorted(times, end))
    times = np.insert(times, sold, end)
    balance = np.concatenate([balance[: sold + 1], balance[sold:] + closing])
    behind = np.flatnonzero(balance < -_HALF_A_CENT)
    if not behind.size:
        return 0.0
    last = int(behind[-1])
    if last + 1 == balance.size:
        return None
    share = -balance[last] / (balance[last + 1] - balance[last])
    return float(times[last] + share * (times[last + 1] - times[last]))


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


@dataclass(frozen=True)
class LeaseBooks:
    """All leases of a plan, in cents, [L] each."""

    depreciation: Cents
    interest: Cents
    asset: Cents
    """Right of use at the end of the month."""
    liability: Cents
    """Owed at the end of the month."""


def book_leases(plan: Scenario, inputs: ModelInputs) -> LeaseBooks | None:
    """The leases that a plan begins and those that run already; None without any."""
    length = inputs.calendar.length
    total = np.zeros((4, length), dtype=np.int64)
    has_leases = False
    for key, payments in _leases(plan, inputs):
        own = inputs.servers.by_key[key].assumptions(inputs.assumptions)
        total += _book(payments, own["interest_rate_per_year"] / 12.0)
        has_leases = True
    return LeaseBooks(*total) if has_leases else None


@dataclass(frozen=True)
class _Payments:
    first: int
    at_start: Cents
    """[L] at the start of each month."""
    at_end: Cents
    """[L] at its end."""
    months: Floats
    """[L] 1 in the months of the lease."""


def _leases(plan: Scenario, inputs: ModelInputs) -> Iterator[tuple[str, _Payments]]:
    for key, units in sorted(plan.units_started.items()):
        source = inputs.by_key[key]
        for start in np.flatnonzero(units).tolist():
            payments = _payments(source, start, int(units[start]), inputs.calendar.length)
            if payments is not None:
                yield key, payments
    for source in inputs.sources:
        for stream in source.fixed_streams:
            due = np.rint(stream.quantity * stream.unit_price * 100.0).astype(np.int64)
            if stream.category is Category.LEASE and due.any():
                none, months = np.zeros_like(due), (due != 0).astype(np.float64)
                yield source.key, _Payments(0, due, none, months)


def _payments(source: CapacitySource, start: int, units: int, length: int) -> _Payments | None:
    at_start, at_end = np.zeros(length, dtype=np.int64), np.zeros(length, dtype=np.int64)
    months = np.zeros(length)
    for charge in source.unit_charges:
        if charge.category is not Category.LEASE:
            continue
        assert source.term is not None
        due = np.rint(units * charge.amounts(source.term)[start] * 100.0).astype(np.int64)
        into = at_end if charge.paid is PaidWhen.MONTH_END else at_start
        into += due
        written = getattr(charge, "written_off", None)
        months = np.maximum(months, (due if written is None else written[start]) != 0)
    if not months.any():
        return None
    return _Payments(int(np.flatnonzero(months)[0]), at_start, at_end, months)


def _book(lease: _Payments, rate: float) -> Cents:
    month = np.arange(lease.months.size)
    worth = (1.0 + rate) ** -(month - lease.first).astype(np.float64)
    liability = float(lease.at_start @ worth + lease.at_end @ worth / (1.0 + rate))
    asset = round(liability)
    balance, interest = liability, np.zeros(month.size)
    for t in np.flatnonzero(lease.months).tolist():
        balance -= lease.at_start[t]
        interest[t] = balance * rate
        balance += interest[t] - lease.at_end[t]
    paid = lease.at_start + lease.at_end
    booked = _spread(interest, int(paid.sum()) - asset)
    depreciation = _spread(lease.months, asset)
    initial = np.where(month >= lease.first, asset, 0)
    owed = initial + np.cumsum(booked - paid)
    return np.stack([depreciation, booked, initial - np.cumsum(depreciation), owed])


def _spread(weights: Floats, total: int) -> Cents:
    share = np.cumsum(weights)
    whole = share[-1] if share[-1] else 1.0
    cumulative: Cents = np.rint(share / whole * total).astype(np.int64)
    return np.asarray(np.diff(cumulative, prepend=0))
