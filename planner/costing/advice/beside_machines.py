"""What of a plan is paid for other things than machines, and to run servers of one's own. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from planner.contract.answer.common import Category
from planner.contract.money import format_money
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario

_WORDS: Mapping[str, frozenset[Category]] = {
    "storing and moving data": frozenset({Category.STORAGE, Category.EGRESS}),
    "other costs": frozenset({Category.OTHER}),
}
_RUNNING: Mapping[Category, str] = {
    Category.STAFF: "people",
    Category.POWER: "electricity",
    Category.COLOCATION: "space and cooling",
    Category.SUPPORT: "support",
    Category.INSURANCE: "insurance",
}
MOST_NAMED = 3
"""Running costs that are named, the largest first; a choice of this project, 2026."""
WORTH_SAYING = Decimal("0.1")
"""Share of what is paid from which it stands in the verdict; a choice of this project, 2026."""


def describe_beside(plan: Scenario, inputs: ModelInputs, currency: str) -> Iterator[str]:
    """What is paid for data and for other costs, and what credits take off; nothing where that is a
    small part. What it costs to run servers where that is more than they cost."""
    tax_rate = inputs.calendar.tax_rate
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
    own = frozenset(source.key for source in inputs.sources if source.is_owned)
    yield from _describe_running(plan, own, before, currency)


def _describe_running(
    plan: Scenario, own: frozenset[str], before: str, currency: str
) -> Iterator[str]:
    """What it costs to run the servers `own`, the largest parts by name, where that is more than
    the plan pays to have them."""
    lines = [line for line in plan.lines if line.source in own]
    paid = {
        words: sum((line.amount for line in lines if line.category is category), Decimal(0))
        for category, words in _RUNNING.items()
    }
    had = CAPITAL | {Category.LEASE}
    price = sum((line.amount for line in lines if line.category in had), Decimal(0))
    running = sum(paid.values())
    if running <= price:
        return
    largest = sorted((words for words in paid if paid[words] > 0), key=lambda words: -paid[words])
    parts = [f"{format_money(paid[words], currency)} for {words}" for words in largest[:MOST_NAMED]]
    # A running cost by the hour that the request gives is not told apart.
    named = f" ({', '.join(parts)})" if len(parts) > 1 else ""
    yield f"including {format_money(running, currency)}{before} to run the servers{named}"
