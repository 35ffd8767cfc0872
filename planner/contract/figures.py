"""The figures of a verdict, as the workbook and a saved plan list them. PURE."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from planner.contract.amounts import parse_month
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import CAUSE_TITLES, budget_title

Value = str | float | dt.date | Decimal | None
Fact = tuple[str, Value, str]
"""Title, value and what it is: money, share, month, day, or text."""


def verdict_facts(answer: ComparisonAnswer) -> list[Fact]:
    """What the advised plan asks for and how sure it is; a figure that there is none of is left
    out. Its total and present value stand elsewhere."""
    if answer.verdict is None:
        return []
    verdict, interval = answer.verdict, answer.verdict.range
    within = "8 of 10 cases" if interval is None or interval.holds else "Range that does not hold"
    facts: list[Fact] = [
        ("Expected cost", verdict.expected, "money"),
        *(
            (f"Risk allowance: {CAUSE_TITLES[cause]}", amount, "money")
            for cause, amount in verdict.risk_allowance.items()
        ),
        (f"{within}, from", interval.p10 if interval else None, "money"),
        (f"{within}, to", interval.p90 if interval else None, "money"),
        ("Of this range", (interval.note or None) if interval else None, ""),
        ("Capital to approve now", verdict.capital_to_approve, "money"),
        ("Contracts to sign now", verdict.obligation_to_sign, "money"),
        ("Due within the plan", verdict.within_horizon, "money"),
        ("Owed afterwards", verdict.owed_after, "money"),
        ("Resale counted", verdict.resale, "money"),
        ("Pays back in", parse_month(verdict.payback) if verdict.payback else None, "month"),
        ("Stays the cheapest", verdict.confidence, "share"),
        ("Oldest rental price paid", verdict.oldest_price, "day"),
    ]
    for budget in verdict.budget:
        title = budget_title(budget.kind, budget.fiscal_year)
        facts.append((f"{title}, left", budget.headroom, "money"))
        facts.append((f"{title}, in words", budget.sentence or None, ""))
    return [fact for fact in facts if fact[1] is not None]
