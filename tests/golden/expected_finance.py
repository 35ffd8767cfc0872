"""What the page of an answer must show of fiscal years and returns."""

from planner.contract.answer.scenario import ScenarioAnswer
from tests.golden.shown import TITLES, money, named_month, number, percent


def fiscal_years(shown: ScenarioAnswer) -> list[list[str]]:
    """What is nothing in every year has no column."""
    years = shown.finance.fiscal_years if shown.finance else ()
    amounts = [
        (
            *(year.cash, year.capital, year.operating, year.depreciation, year.lease),
            *(year.interest, year.resale, year.tax, year.cost, year.loan),
        )
        for year in years
    ]
    columns = [column for column in zip(*amounts, strict=True) if any(column)]
    return [
        [
            str(year.fiscal_year),
            f"{named_month(year.first, 0)} to {named_month(year.last, 0)}",
            *(number(column[at]) for column in columns),
        ]
        for at, year in enumerate(years)
    ]


def leases(shown: ScenarioAnswer) -> list[list[str]]:
    rows = []
    for year in shown.finance.fiscal_years if shown.finance else ():
        if year.leases is not None:
            one = year.leases
            amounts = (one.depreciation, one.interest, one.cost, one.right_of_use, one.liability)
            rows.append([str(year.fiscal_year), *map(number, amounts)])
    return rows


def returns(shown: ScenarioAnswer, currency: str) -> list[str]:
    """Titles and figures, and what they are against."""
    one = shown.finance
    if one is None or one.against is None:
        return []
    rate = one.internal_rate_of_return
    payback, discounted = one.payback_months, one.discounted_payback_months
    never = "never"
    no_rate = f"none: {one.why_no_internal_rate}"
    return [
        f"Net present value {money(one.net_present_value, currency)}",
        f"Internal rate of return {no_rate if rate is None else percent(rate, 1) + ' a year'}",
        f"Payback {never if payback is None else number(payback, 1) + ' months'}",
        "Discounted payback "
        + (never if discounted is None else number(discounted, 1) + " months"),
        f"Cost per year {money(one.cost_per_year, currency)}",
        f"Against: {TITLES[one.against]}, which buys and leases nothing.",
    ]
