"""Costs as finance reads them: what each is, when it is paid, which month it is of. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import CAPITAL, Stream
from planner.costing.cost_model.spend_pools import BILLED, SpendPool, in_advance, settle_pools
from planner.costing.cost_model.terms import Calendar, PaidWhen
from pricing.common.invalid_input import InvalidInput


class Group(StrEnum):
    """What a cost is in the profit and loss."""

    OPERATING = "operating"
    DEPRECIATION = "depreciation"
    LEASE = "lease"
    INTEREST = "interest"
    RESALE = "resale"
    TAX = "tax"
    LOAN = "loan"
    """Cash alone: what is drawn is repaid."""


@dataclass(frozen=True)
class Entry:
    """A cost as finance reads it: when it is due and paid, and what it is a cost of."""

    group: Group
    paid: PaidWhen
    due: Cents
    """[L] by the month that it falls due."""
    booked: Cents
    """[L] by the month that it is a cost of."""
    is_closing: bool = False
    """Whether it falls due when the horizon ends: at the end of its last month, where `due` and
    `booked` have it."""


_GROUPS = {
    Category.LOAN: Group.LOAN,
    Category.INTEREST: Group.INTEREST,
    Category.LEASE: Group.LEASE,
    Category.RESIDUAL: Group.RESALE,
    Category.TAX: Group.TAX,
    **dict.fromkeys(CAPITAL, Group.DEPRECIATION),
}


def build_entries(posting: Posting, calendar: Calendar) -> Iterator[Entry]:
    """A posting as finance reads it; what falls due when the horizon ends apart."""
    category = posting.stream.category
    group = _GROUPS.get(category, Group.OPERATING)
    if posting.parts is not None:
        yield from (Entry(group, when, part, part) for when, part in posting.parts.items())
        return
    due, booked = posting.cents.copy(), allocate_write_off(posting).copy()
    if group is Group.LOAN:
        booked[:] = 0
    if group in (Group.RESALE, Group.TAX, Group.DEPRECIATION):
        last = calendar.months
        closing_due, closing_booked = np.zeros_like(due), np.zeros_like(booked)
        closing_due[last - 1], closing_booked[last - 1] = due[last], booked[last]
        due[last] = booked[last] = 0
        if closing_due.any() or closing_booked.any():
            yield Entry(group, PaidWhen.MONTH_END, closing_due, closing_booked, is_closing=True)
    yield Entry(group, posting.stream.payment, due, booked)


def present_cost(entries: Sequence[Entry], calendar: Calendar) -> float | None:
    if calendar.is_plain and not any(
        entry.paid is PaidWhen.MONTH_END and not entry.is_closing for entry in entries
    ):
        return None
    return sum(float(entry.due @ calendar.discount_of(entry.paid)) / 100.0 for entry in entries)


Floats = NDArray[np.float64]
Cents = NDArray[np.int64]

EXPENSES, UPFRONT = "Tax relief on expenses", "Tax relief on upfront payments"
RELIEF_OF_PAYMENTS = frozenset({EXPENSES, UPFRONT})
"""Lines of the tax saved with what contracts cost; that of servers is saved as they are written
off, for the last time when they are sold."""
RESALE_TAX_UNIT = "taxable"
"""Unit of the line that taxes what servers are sold for."""
MAX_CENTS = 2.0**53
"""Most cents of one line that a float64 counts exactly."""


@dataclass(frozen=True)
class Posting:
    """A stream of one source rounded to cents."""

    source: CapacitySource
    stream: Stream
    cents: Cents
    """[L]"""
    parts: Mapping[PaidWhen, Cents] | None = None
    """Of tax saved on expenses: [L] by when those are paid."""
    step: int = 1
    """Cents in the smallest amount that is paid."""


def round_to_cents(amounts: Floats, step: int = 1) -> Cents:
    """Amounts in cents, a whole number of `step` each; `InvalidInput` beyond what a float counts
    to the cent.

    >>> round_to_cents(np.array([12.345, 1999.5001])).tolist()
    [1234, 199950]
    >>> round_to_cents(np.array([12.345, 1999.5001]), 100).tolist()
    [1200, 200000]
    """
    cents = np.rint(amounts * (100.0 / step)) * step
    largest = float(np.abs(cents).max(initial=0.0))
    if largest > MAX_CENTS:
        raise InvalidInput(
            "", f"a cost of {largest / 100:.3g} in one month cannot be counted to the cent; "
            f"allowed are amounts up to {MAX_CENTS / 100:.3g}"
        )  # fmt: skip
    return np.asarray(cents.astype(np.int64))


def build_pool_postings(
    postings: Sequence[Posting], pools: Sequence[SpendPool], calendar: Calendar
) -> Iterator[Posting]:
    """What credits pay, and what is owed of minimum spends, under the bills of a plan."""
    bills: dict[str, Floats] = {pool.provider: np.zeros((calendar.length, 2)) for pool in pools}
    for posting in postings:
        category, provider = posting.stream.category, posting.source.provider
        if provider in bills and category in BILLED:
            bills[provider][:, in_advance(category)] += posting.cents / 100.0
    for pool, amounts in settle_pools(pools, bills):
        source = CapacitySource(f"pool:{pool.label}", pool.label, "", "", 0.0, 0.0)
        quantity = np.round(np.abs(amounts), 2)
        price = np.ones(calendar.length) * (-1.0 if pool.is_credit else 1.0)
        stream = Stream(
            pool.category, pool.label, "money", np.asarray(quantity, float), price, paid=pool.paid
        )
        if quantity.any():
            step = calendar.smallest_cents
            yield Posting(source, stream, round_to_cents(quantity * price, step), step=step)


def build_tax_postings(postings: Sequence[Posting], calendar: Calendar) -> list[Posting]:
    """Tax saved in each month on expenses and on capital written off, and due on a resale."""
    if not calendar.tax_rate:
        return []
    expenses, capital, resale, upfront = (np.zeros(calendar.length) for _ in range(4))
    spread = calendar.upfront_deduction_spread
    paid: dict[PaidWhen, Floats] = {}
    for posting in postings:
        if posting.stream.category in CAPITAL:
            if posting.source.taxes_capital:
                capital += _write_off_amounts(posting)
        elif posting.stream.category is Category.RESIDUAL:
            if posting.source.taxes_capital:
                resale -= posting.cents / 100.0
        elif posting.stream.category is not Category.LOAN:
            amounts = posting.cents / 100.0
            if spread and posting.stream.category is Category.UPFRONT:
                upfront += spread * _write_off_amounts(posting)
                amounts = (1.0 - spread) * amounts
            expenses += amounts
            when = posting.stream.payment
            paid[when] = paid.get(when, np.zeros(calendar.length)) + amounts
    rate = np.full(calendar.length, calendar.tax_rate)
    tax_streams = (
        (EXPENSES, "deductible", expenses, -rate, paid),
        ("Tax relief on capital written off", "deductible", capital, -rate, None),
        (UPFRONT, "deductible", upfront, -rate, {PaidWhen.DATED: upfront}),
        ("Tax on the residual value", RESALE_TAX_UNIT, resale, rate, None),
    )
    step = calendar.smallest_cents
    tax_source = CapacitySource("tax", "Tax", "", "", 0.0, 0.0)
    return [
        Posting(
            tax_source,
            stream,
            cents,
            None if parts is None else _split(cents, parts, -calendar.tax_rate, step),
            step,
        )
        for label, unit, basis, price, parts in tax_streams
        for stream in [
            Stream(Category.TAX, label, unit, np.round(basis, 2), price, paid=PaidWhen.DATED)
        ]
        for cents in [round_to_cents(stream.quantity * stream.unit_price, step)]
        if basis.any()
    ]


def _split(
    cents: Cents, basis: Mapping[PaidWhen, Floats], rate: float, step: int
) -> dict[PaidWhen, Cents]:
    parts = {when: round_to_cents(amounts * rate, step) for when, amounts in basis.items()}
    first = next(iter(parts))
    parts[first] = parts[first] + cents - np.asarray(sum(parts.values()), dtype=np.int64)
    return parts


def _write_off_amounts(posting: Posting) -> Floats:
    return np.asarray(allocate_write_off(posting) / 100.0)


def allocate_write_off(posting: Posting) -> Cents:
    """[L] cents of a posting by the month of the write-off; they sum to what was paid."""
    planned = posting.stream.write_off
    if planned is None or not planned.any():
        return posting.cents
    share = np.cumsum(planned)
    steps = np.rint(share / share[-1] * (int(posting.cents.sum()) / posting.step))
    cumulative = steps * posting.step
    return np.asarray(np.diff(cumulative.astype(np.int64), prepend=0))
