"""The finance section of a scenario, from the entries of its books. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.finance import FiscalYearFinance, LeaseYear, ScenarioFinance
from planner.contract.months import FiscalYears, format_month
from planner.costing.advice.payback import best_without_buying
from planner.costing.cost_model.terms import Calendar
from planner.costing.results.entries import Entry, Group
from planner.costing.results.scenario_result import Scenario
from planner.costing.statements.fiscal_years import (
    FiscalYear,
    months_paid,
    summarize_fiscal_years,
)
from planner.costing.statements.leases import book_leases
from planner.costing.statements.returns import (
    internal_rate_of_return,
    modified_rate_of_return,
    payback_months,
    why_no_internal_rate,
)

Floats = NDArray[np.float64]
BOOKED = tuple(group for group in Group if group is not Group.LOAN)
"""What the profit and loss has."""
AS_PAID = 2
"""Edition from which a payback counts cash when it is paid."""
NO_SINGLE_RATE = "no single rate between −99% and 1,000,000% makes both plans worth the same"


def build_finance(scenario: Scenario, results: ComparisonResults) -> ScenarioFinance:
    """Returns against the best plan that buys nothing, and the fiscal years."""
    months = results.calendar.months
    per_year = (scenario.total_cost * 12 / months).quantize(Decimal("0.01"))
    plain = ScenarioFinance(
        cost_per_year=per_year, fiscal_years=tuple(_fiscal_years(scenario, results))
    )
    rent = best_without_buying(results.allowed_scenarios)
    if rent is None or not scenario.buys:
        return plain
    as_paid = results.inputs.assumptions["payback_edition"] >= AS_PAID
    return plain.model_copy(update=_returns(scenario, rent, results.calendar, as_paid=as_paid))


def _returns(
    own: Scenario, rent: Scenario, calendar: Calendar, *, as_paid: bool
) -> dict[str, object]:
    flows, years = _incremental(own.entries, rent.entries, calendar)
    rate = calendar.discount_rate_per_year
    internal = internal_rate_of_return(flows, years)
    return {
        "against": rent.key,
        "net_present_value": rent.net_present_cost - own.net_present_cost,
        "internal_rate_of_return": _rounded(internal),
        "why_no_internal_rate": ""
        if internal is not None
        else why_no_internal_rate(flows) or NO_SINGLE_RATE,
        "modified_internal_rate_of_return": _rounded(
            modified_rate_of_return(flows, years, rate, rate)
        ),
        "payback_months": _payback(own, rent, calendar, is_discounted=False, as_paid=as_paid),
        "discounted_payback_months": _payback(
            own, rent, calendar, is_discounted=True, as_paid=as_paid
        ),
    }


def _incremental(
    own: Iterable[Entry], rent: Iterable[Entry], calendar: Calendar
) -> tuple[Floats, Floats]:
    """What owning saves at each moment that something is paid, and these moments in years."""
    by_moment: dict[float, int] = {}
    for entries, sign in ((rent, 1), (own, -1)):
        for entry in entries:
            moments = calendar.paid_months(entry.paid)
            for month in np.flatnonzero(entry.due).tolist():
                moment = round(float(moments[month]), 9)
                by_moment[moment] = by_moment.get(moment, 0) + sign * int(entry.due[month])
    moments_paid = sorted(moment for moment, amount in by_moment.items() if amount)
    flows = np.array([by_moment[moment] for moment in moments_paid], dtype=np.float64)
    return flows / 100.0, np.array(moments_paid, dtype=np.float64) / 12.0


def _payback(
    own: Scenario, rent: Scenario, calendar: Calendar, *, is_discounted: bool, as_paid: bool
) -> float | None:
    """Payback by the months in which cash is paid, as fiscal years have it; where bills are paid
    once a year by their moments. Unless `as_paid` by the months in which it falls due."""
    is_yearly = as_paid and calendar.cash_timing == "year_end"
    saved: dict[float, float] = {}
    closing = 0.0
    for entries, sign in ((rent.entries, 1.0), (own.entries, -1.0)):
        for entry in entries:
            amounts = sign * entry.due / 100.0
            if is_discounted:
                amounts = amounts * calendar.discount_of(entry.paid)
            if entry.is_closing:
                closing += float(amounts.sum())
                continue
            moments = _settled(entry, calendar, as_paid=as_paid)
            for month in np.flatnonzero(amounts).tolist():
                moment = round(float(moments[month]), 9)
                saved[moment] = saved.get(moment, 0.0) + float(amounts[month])
    if is_yearly:
        times = sorted({*saved, float(calendar.months)})
    else:
        last = max([float(calendar.months), *(t for t, amount in saved.items() if amount)])
        times = [float(month) for month in range(1, round(last) + 1)]
    flows = [saved.get(time, 0.0) for time in times]
    return _rounded(payback_months(flows, closing, times), 4)


def _settled(entry: Entry, calendar: Calendar, *, as_paid: bool) -> Floats:
    """[L] end of the month in which what falls due in month t is paid; where bills are paid once
    a year the moment itself."""
    if as_paid and calendar.cash_timing == "year_end":
        return calendar.paid_months(entry.paid)
    if as_paid:
        return np.asarray(months_paid(entry.paid, calendar) + 1, dtype=np.float64)
    return np.arange(1.0, calendar.length + 1.0)


def _rounded(value: float | None, digits: int = 8) -> float | None:
    return None if value is None else round(value, digits)


def _fiscal_years(scenario: Scenario, results: ComparisonResults) -> Iterator[FiscalYearFinance]:
    calendar = results.calendar
    years = FiscalYears(calendar.start, results.request.finance.fiscal_year_start_month)
    leases = book_leases(scenario, results.inputs)
    by_year = summarize_fiscal_years(scenario.entries, leases, calendar, years)
    for year, sums in by_year.items():
        first, after = years.months_of(year)
        yield FiscalYearFinance(
            fiscal_year=year,
            first=format_month(calendar.month(max(first, 0))),
            last=format_month(calendar.month(after - 1)),
            cash=_money(sums.cash),
            capital=_money(sums.capital),
            **{group.value: _money(sums.booked[group]) for group in BOOKED},
            cost=_money(sums.cost),
            loan=_money(sums.loan),
            leases=None if leases is None else _lease_year(sums),
        )


def _lease_year(sums: FiscalYear) -> LeaseYear:
    return LeaseYear(
        depreciation=_money(sums.lease_depreciation),
        interest=_money(sums.lease_interest),
        right_of_use=_money(sums.right_of_use),
        liability=_money(sums.lease_liability),
        cost=_money(sums.ifrs_cost),
    )


def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)
