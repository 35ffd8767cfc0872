"""What of a plan is paid for other things than machines. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from planner.contract.answer.common import Category
from planner.contract.money import format_money
from planner.costing.results.scenario_result import Scenario

_WORDS: Mapping[str, frozenset[Category]] = {
    "storing and moving data": frozenset({Category.STORAGE, Category.EGRESS}),
    "other costs": frozenset({Category.OTHER}),
}
WORTH_SAYING = Decimal("0.1")
"""Share of what is paid from which it stands in the verdict; a choice of this project, 2026."""


def describe_beside(plan: Scenario, tax_rate: float, currency: str) -> Iterator[str]:
    """What is paid for data and for other costs, and what credits take off; nothing where that is a
    small part."""
    paid = [line for line in plan.lines if line.amount > 0 and line.category is not Category.TAX]
    least = sum((line.amount for line in paid), Decimal(0)) * WORTH_SAYING
    before = " before tax" if tax_rate else ""
    parts = []
    for words, categories in _WORDS.items():
        amount = sum((line.amount for line in paid if line.category in categories), Decimal(0))
        if amount and amount >= least:
            parts.append(f"{format_money(amount, currency)}{before} for {words}")
    if parts:
        yield f"including {' and '.join(parts)}"
    used = -sum((one.amount for one in plan.lines if one.category is Category.CREDIT), Decimal(0))
    if used and used >= least:
        yield f"net of {format_money(used, currency)}{before} of credits"
