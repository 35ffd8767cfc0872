"""Costs as finance reads them: what each is, when it is paid, which month it is of. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.contract.answer.common import Category
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.cost_model.terms import Calendar, PaidWhen
from planner.costing.results.postings import Cents, Posting, allocate_write_off


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
    is_in_place = not posting.source.is_leased
    if group is Group.LEASE and is_in_place and not calendar.books_leases_in_place:
        group = Group.OPERATING
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
