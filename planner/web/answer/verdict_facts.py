"""Facts of the verdict that need words: when it pays back, whose prices, what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import BudgetUse
from planner.contract.months import parse_month

LIST_PRICES = "list prices"
_TEAM_PRICES: Mapping[str, str] = {
    "price_adjustments": "contract discounts",
    "custom_offers": "private offers",
    "on_prem.servers": "",
}
"""Fields of the request in which the rates of a team stand, and what they are called."""
_SOFTWARE: Mapping[str, str] = {"cuda": "NVIDIA with CUDA", "any": "any software"}
_BUDGETS: Mapping[str, str] = {
    "total": "Budget",
    "capital": "Capital budget",
    "monthly": "Monthly budget",
}


def budget_title(use: BudgetUse) -> str:
    """Which budget: of the whole plan, of capital, or of a month."""
    return _BUDGETS[use.kind]


def payback_words(answer: ComparisonAnswer) -> str:
    """Month in which what is bought has paid back; empty where nothing is bought."""
    verdict = answer.verdict
    if verdict is None or verdict.capital_to_approve is None:
        return ""
    if verdict.payback is None:
        return "not within the plan"
    if verdict.payback not in answer.months:
        return "only with the resale at the end"
    return f"{parse_month(verdict.payback):%B %Y}"


def prices_paid(answer: ComparisonAnswer) -> str:
    """Whose prices the answer rests on: list prices, those of the request, or a team's rates."""
    rates = {one.field: one.source for one in answer.inherited if one.field in _TEAM_PRICES}
    if rates:
        return f"team rates: {', '.join(_with_source(*one) for one in rates.items())}"
    if any(offer.multiplier != 1 for offer in answer.offers.values()):
        return "list prices less the discounts of this plan"
    return LIST_PRICES


def _with_source(field: str, source: str) -> str:
    name = _TEAM_PRICES[field]
    return f"{name} ({source})" if name else source


def assumed(answer: ComparisonAnswer) -> str:
    """What nobody asked for and the plan keeps to all the same: `NVIDIA with CUDA, …`."""
    return ", ".join(_assumed(answer))


def _assumed(answer: ComparisonAnswer) -> Iterator[str]:
    left_open = {row.field: str(row.value) for row in answer.assumptions if not row.given}
    software = left_open.get("workload.software")
    if software:
        yield _SOFTWARE.get(software, software)
    if left_open.get("workload.interruptible") == "false":
        yield "not interruptible"
    partitions = left_open.get("constraints.partitions")
    if partitions:
        yield f"{partitions} regions"
    if left_open.get("constraints.allow_partial_nodes") == "false":
        yield "whole machines"
