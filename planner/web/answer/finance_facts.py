"""The returns of a plan as the answer page words them."""

from __future__ import annotations

from planner.contract.answer.finance import ScenarioFinance
from planner.web.common.formatting import money, number, percent


def list_returns(finance: ScenarioFinance | None, currency: str) -> list[tuple[str, str]]:
    """Title and figure of each return; none for a plan that buys and leases nothing."""
    if finance is None or finance.against is None:
        return []
    return [
        ("Net present value", money(finance.net_present_value, currency)),
        ("Internal rate of return", _internal_rate(finance)),
        ("Modified rate of return", _rate(finance.modified_internal_rate_of_return)),
        ("Payback", _months(finance.payback_months)),
        ("Discounted payback", _months(finance.discounted_payback_months)),
        ("Cost per year", money(finance.cost_per_year, currency)),
    ]


def _internal_rate(finance: ScenarioFinance) -> str:
    reason = finance.why_no_internal_rate
    return f"none: {reason}" if reason else _rate(finance.internal_rate_of_return)


def _rate(rate: float | None) -> str:
    return "none, or more than one" if rate is None else f"{percent(rate, 1)} a year"


def _months(months: float | None) -> str:
    return "never" if months is None else f"{number(months, 1)} months"
