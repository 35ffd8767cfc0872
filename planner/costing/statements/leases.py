"""Leases on the balance sheet, month by month. PURE.

IFRS 16: at commencement the liability is the present value of the payments at the rate implicit in
the lease, the asset is as much. Each month the liability bears interest and is paid down, the
asset is depreciated evenly over the lease (IFRS 16, paragraphs 22 to 38). A lease that ran before
the plan is carried at its start with the present value of what is left to pay. ASC 842, operating:
the payments are a cost in equal parts (ASC 842-20-25-6). Both come to the payments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.terms import PaidWhen
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario

Floats = NDArray[np.float64]
Cents = NDArray[np.int64]


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
    for key, payments in (*_leases(plan, inputs), *_leases_in_place(inputs)):
        own = inputs.servers.by_key[key].assumptions(inputs.assumptions)
        total += _book(payments, own["interest_rate_per_year"] / 12.0)
        has_leases = True
    return LeaseBooks(*total) if has_leases else None


@dataclass(frozen=True)
class _Payments:
    """Payments of the leases that begin in one month, in cents."""

    first: int
    at_start: Cents
    """[L] at the start of each month."""
    at_end: Cents
    """[L] at its end."""
    months: Floats
    """[L] 1 in the months of the lease."""


def _leases(plan: Scenario, inputs: ModelInputs) -> Iterator[tuple[str, _Payments]]:
    """The key of its server and the payments of each lease that a plan begins."""
    for key, units in sorted(plan.units_started.items()):
        source = inputs.by_key[key]
        for start in np.flatnonzero(units).tolist():
            payments = _payments(source, start, int(units[start]), inputs.calendar.length)
            if payments is not None:
                yield key, payments


def _leases_in_place(inputs: ModelInputs) -> Iterator[tuple[str, _Payments]]:
    """The key of its server and what is left to pay of each lease that runs already."""
    if not inputs.calendar.books_leases_in_place:
        return
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
    """[4, L] depreciation, interest, asset and liability of one lease."""
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
    """`total` cents by `weights`, their sum kept."""
    share = np.cumsum(weights)
    whole = share[-1] if share[-1] else 1.0
    cumulative: Cents = np.rint(share / whole * total).astype(np.int64)
    return np.asarray(np.diff(cumulative, prepend=0))
