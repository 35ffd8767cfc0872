"""When a plan that buys has paid for itself, by when cash is paid. PURE."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.verdict import Verdict
from planner.contract.months import parse_month
from planner.costing.advice.payback import payback_month
from planner.costing.assumptions.editions import PAYBACK_BY_MOMENT
from planner.costing.cost_model.terms import Calendar
from planner.costing.results.entries import Entry
from planner.costing.results.scenario_result import Scenario
from planner.costing.statements.fiscal_years import months_paid
from planner.costing.statements.returns import payback_months, payback_of_payments

Floats = NDArray[np.float64]
AS_PAID = 2
"""Edition from which a payback counts cash when it is paid."""


def months_to_pay_back(
    own: Scenario, rent: Scenario, calendar: Calendar, edition: int, *, is_discounted: bool = False
) -> float | None:
    """Months until what `own` has saved beside `rent` stays no less than what it spent.

    Each payment counts evenly over the month from its moment on (`payback_of_payments`); where
    bills are paid once a year the balance moves evenly from one payment to the next, as annual
    models have it. Of before edition 3 payments count over the month in which they are paid, of
    edition 1 over that in which they fall due.
    """
    if edition >= PAYBACK_BY_MOMENT and calendar.cash_timing != "year_end":
        return _by_moment(own, rent, calendar, is_discounted=is_discounted)
    return _by_month(own, rent, calendar, edition >= AS_PAID, is_discounted=is_discounted)


def month_of_payback(own: Scenario, rent: Scenario, calendar: Calendar, edition: int) -> int | None:
    """The month in which `months_to_pay_back` falls; of before edition 3 the first one from whose
    end on what has fallen due stays less."""
    if edition < PAYBACK_BY_MOMENT:
        return payback_month(own.cash_per_month, rent.cash_per_month)
    months = months_to_pay_back(own, rent, calendar, edition)
    return None if months is None else int(months)


def _by_moment(
    own: Scenario, rent: Scenario, calendar: Calendar, *, is_discounted: bool
) -> float | None:
    amounts, moments = [], []
    payments, closing = _list_saved(own, rent, calendar, is_discounted=is_discounted)
    for entry, saved in payments:
        paid = np.flatnonzero(saved)
        amounts.append(saved[paid])
        moments.append(calendar.paid_months(entry.paid)[paid])
    if not amounts:
        return None if closing < 0 else 0.0
    months = payback_of_payments(
        np.concatenate(amounts), np.concatenate(moments), float(calendar.months), closing
    )
    return None if months is None else round(months, 4)


def _list_saved(
    own: Scenario, rent: Scenario, calendar: Calendar, *, is_discounted: bool
) -> tuple[list[tuple[Entry, Floats]], float]:
    """[L] money that each payment makes owning cheaper, and what the closing entries come to."""
    payments, closing = [], 0.0
    for entries, sign in ((rent.entries, 1.0), (own.entries, -1.0)):
        for entry in entries:
            saved = np.asarray(sign * entry.due / 100.0, dtype=np.float64)
            if is_discounted:
                saved *= calendar.discount_of(entry.paid)
            if entry.is_closing:
                closing += float(saved.sum())
            else:
                payments.append((entry, saved))
    return payments, closing


def _by_month(
    own: Scenario, rent: Scenario, calendar: Calendar, as_paid: bool, *, is_discounted: bool
) -> float | None:
    is_yearly = as_paid and calendar.cash_timing == "year_end"
    saved: dict[float, float] = {}
    payments, closing = _list_saved(own, rent, calendar, is_discounted=is_discounted)
    for entry, amounts in payments:
        moments = _settled(entry, calendar, as_paid=as_paid)
        for month in np.flatnonzero(amounts).tolist():
            moment = round(float(moments[month]), 9)
            saved[moment] = saved.get(moment, 0.0) + float(amounts[month])
    if is_yearly:
        times = sorted({*saved, float(calendar.months)})
    else:
        last = max([float(calendar.months), *(t for t, amount in saved.items() if amount)])
        times = [float(month) for month in range(1, round(last) + 1)]
    months = payback_months([saved.get(time, 0.0) for time in times], closing, times)
    return None if months is None else round(months, 4)


def _settled(entry: Entry, calendar: Calendar, *, as_paid: bool) -> Floats:
    """[L] end of the month in which what falls due in month t is paid; where bills are paid once
    a year the moment itself."""
    if as_paid and calendar.cash_timing == "year_end":
        return calendar.paid_months(entry.paid)
    if as_paid:
        return np.asarray(months_paid(entry.paid, calendar) + 1, dtype=np.float64)
    return np.arange(1.0, calendar.length + 1.0)


def describe_payback(facts: Verdict, calendar: Calendar) -> str:
    """When what is bought has paid back; empty where nothing is bought, or it never does."""
    if facts.payback is None:
        return ""
    month = parse_month(facts.payback)
    if calendar.index(month) >= calendar.months and facts.resale:
        return "it pays back only with the resale at the end"
    return f"it pays back in {month:%B %Y}"
