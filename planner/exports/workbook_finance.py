"""The sheets of fiscal years and returns in a workbook. PURE."""

from __future__ import annotations

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.finance import LeaseYear
from planner.contract.labels import SCENARIO_TITLES
from planner.exports.workbook_sheets import Book, Cell, Column

_YEARS = (
    Column("Scenario", 12),
    Column("Fiscal year", 10),
    Column("First", 10),
    Column("Last", 10),
    *(
        Column(title, 16, "money")
        for title in (
            *("Cash", "Capital", "Operating", "Depreciation", "Lease", "Interest", "Resale"),
            *("Tax", "Cost", "Loan owed", "IFRS 16 depreciation", "IFRS 16 interest"),
            *("IFRS 16 cost", "Right of use", "Lease liability"),
        )
    ),
)
_RETURNS = (
    Column("Scenario", 12),
    Column("Against", 12),
    Column("Net present value", 18, "money"),
    Column("Internal rate of return", 16, "number"),
    Column("Why none", 30),
    Column("Modified rate of return", 16, "number"),
    Column("Payback, months", 16, "number"),
    Column("Discounted payback, months", 16, "number"),
    Column("Cost per year", 18, "money"),
)


def fiscal_years(book: Book, answer: ComparisonAnswer) -> None:
    """Fiscal years and returns of each feasible scenario; none in answers of before."""
    known = [(SCENARIO_TITLES[one.key], one.finance) for one in answer.feasible if one.finance]
    if not known:
        return
    years: list[list[Cell]] = []
    for title, finance in known:
        for year in finance.fiscal_years:
            years.append(
                [
                    *(title, year.fiscal_year, year.first, year.last, year.cash, year.capital),
                    *(year.operating, year.depreciation, year.lease, year.interest, year.resale),
                    *(year.tax, year.cost, year.loan),
                    *_leases(year.leases),
                ]
            )
    book.table("Fiscal years", _YEARS, years)
    returns: list[list[Cell]] = [
        [
            title,
            finance.against and SCENARIO_TITLES[finance.against],
            finance.net_present_value,
            finance.internal_rate_of_return,
            finance.why_no_internal_rate,
            finance.modified_internal_rate_of_return,
            finance.payback_months,
            finance.discounted_payback_months,
            finance.cost_per_year,
        ]
        for title, finance in known
    ]
    book.table("Returns", _RETURNS, returns)


def _leases(leases: LeaseYear | None) -> tuple[Cell, ...]:
    if leases is None:
        return (None,) * 5
    return (
        *(leases.depreciation, leases.interest, leases.cost),
        *(leases.right_of_use, leases.liability),
    )
