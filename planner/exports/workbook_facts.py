"""The figures of the advice on the summary sheet of a workbook. PURE."""

from __future__ import annotations

from collections.abc import Iterator

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import Verdict
from planner.contract.labels import budget_title
from planner.contract.months import parse_month
from planner.exports.workbook_sheets import Cell

Fact = tuple[str, Cell, str]
"""Title, value and style."""


def verdict_facts(answer: ComparisonAnswer) -> list[Fact]:
    """What the advised plan asks for and how sure it is; a figure that there is none of is left
    out. Its total and present value stand with those of the other scenarios."""
    if answer.verdict is None:
        return []
    return [fact for fact in _facts(answer.verdict) if fact[1] is not None]


def _facts(verdict: Verdict) -> Iterator[Fact]:
    interval = verdict.range
    within = "8 of 10 cases" if interval is None or interval.holds else "Range that does not hold"
    yield f"{within}, from", interval.p10 if interval else None, "money"
    yield f"{within}, to", interval.p90 if interval else None, "money"
    yield "Of this range", (interval.note or None) if interval else None, ""
    yield "Capital to approve now", verdict.capital_to_approve, "money"
    yield "Contracts to sign now", verdict.obligation_to_sign, "money"
    yield "Due within the plan", verdict.within_horizon, "money"
    yield "Owed afterwards", verdict.owed_after, "money"
    yield "Resale counted", verdict.resale, "money"
    yield "Pays back in", parse_month(verdict.payback) if verdict.payback else None, "month"
    yield "Stays the cheapest", verdict.confidence, "share"
    yield "Oldest rental price paid", verdict.oldest_price, "day"
    for budget in verdict.budget:
        title = budget_title(budget.kind, budget.fiscal_year)
        yield f"{title}, left", budget.headroom, "money"
        yield f"{title}, in words", budget.sentence or None, ""
