"""The finance section of a scenario, from the entries of its books. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from planner.comparison_steps.paybacks import months_to_pay_back
from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.finance import FiscalYearFinance, LeaseYear, ScenarioFinance
from planner.contract.months import FiscalYears, format_month
from planner.costing.advice.payback import best_without_buying
from planner.costing.cost_model.terms import Calendar
from planner.costing.results.entries import Entry, Group
from planner.costing.results.scenario_result import Scenario
from planner.costing.statements.fiscal_years import (
    FiscalYear,
    summarize_fiscal_years,
)
from planner.costing.statements.leases import book_leases
from planner.costing.statements.returns import (
    internal_rate_of_return,
    modified_rate_of_return,
    why_no_internal_rate,
)

Floats = NDArray[np.float64]
BOOKED = tuple(group for group in Group if group is not Group.LOAN)
"""What the profit and loss has."""
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
    edition = int(results.inputs.assumptions["payback_edition"])
    return plain.model_copy(update=_returns(scenario, rent, results.calendar, edition))


def _returns(own: Scenario, rent: Scenario, calendar: Calendar, edition: int) -> dict[str, object]:
    flows, years = _incremental(own.entries, rent.entries, calendar)
    rate = calendar.discount_rate_per_year
    internal = internal_rate_of_return(flows, years)
    return {
        "against": rent.key,
        "net_present_value": rent.net_present_cost - own.net_present_cost,
        "internal_rate_of_return": _rounded(internal),
        "why_no_internal_rate": ""
        if internal is not None
        else why_no_internal_rate(flows, years) or NO_SINGLE_RATE,
        "modified_internal_rate_of_return": _rounded(
            modified_rate_of_return(flows, years, rate, rate)
        ),
        "payback_months": months_to_pay_back(own, rent, calendar, edition),
        "discounted_payback_months": months_to_pay_back(
            own, rent, calendar, edition, is_discounted=True
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
