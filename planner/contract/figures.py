"""The figures of a verdict, as the workbook and a saved plan list them. PURE."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from planner.contract.amounts import parse_month
from planner.contract.answer.common import Category
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import CAUSE_TITLES, budget_title
from pricing.common.words import pluralize

Value = str | float | dt.date | Decimal | None
Fact = tuple[str, Value, str]
"""Title, value and what it is: money, price, share, month, day, or text."""


STOPPED_AFTER = 12
"""Months of work after which it is told what is owed if there is no more."""


def reserved_ahead(answer: ComparisonAnswer) -> Decimal:
    """What the plan pays upfront for capacity reserved by date, in the answer's currency."""
    parts = answer.verdict.decision if answer.verdict else ()
    reserved = {one.source for one in parts if one.action == "reserve"}
    lines = answer.recommended.lines if answer.recommended else ()
    upfront = [one for one in lines if one.category is Category.UPFRONT]
    return sum((one.amount for one in upfront if one.source in reserved), Decimal(0))


def verdict_facts(answer: ComparisonAnswer) -> list[Fact]:
    """What the advised plan asks for and how sure it is; a figure that there is none of is left
    out. Its total and present value stand elsewhere."""
    if answer.verdict is None:
        return []
    verdict, interval, owed = answer.verdict, answer.verdict.range, answer.verdict.owed_after
    within = "8 of 10 cases" if interval is None or interval.holds else "Range that does not hold"
    facts: list[Fact] = [
        ("Expected cost", verdict.expected, "money"),
        *(
            (f"Risk allowance: {CAUSE_TITLES[cause]}", amount, "money")
            for cause, amount in verdict.risk_allowance.items()
            if amount
        ),
        (f"{within}, from", interval.p10 if interval else None, "money"),
        (f"{within}, to", interval.p90 if interval else None, "money"),
        ("Of this range", (interval.note or None) if interval else None, ""),
        *(
            (f"A million tokens, {name}", amount, "price")
            for name, amount in answer.cost_per_million_tokens.items()
        ),
        ("Capital to approve first", verdict.capital_to_approve, "money"),
        ("Contracts to sign first", verdict.obligation_to_sign, "money"),
        ("Reserved by date", reserved_ahead(answer) or None, "money"),
        ("Due within the plan", verdict.within_horizon, "money"),
        ("Owed afterwards", None if owed is None else max(owed, Decimal(0)), "money"),
        ("Tax saved afterwards", -owed if owed and owed < 0 else None, "money"),
        *(
            (f"{what} if it stops after {pluralize(int(one.months), 'month')}", amount, "money")
            for one in answer.stops
            if one.months == (answer.assumption("risk.end_after_months") or STOPPED_AFTER)
            for what, amount in (("Owed", one.owed), ("Paid and lost", one.paid_ahead or None))
        ),
        ("Resale counted", verdict.resale, "money"),
        ("Pays back in", parse_month(verdict.payback) if verdict.payback else None, "month"),
        ("Deadline kept", verdict.deadline_chance, "share"),
        ("Stays the cheapest", verdict.confidence, "share"),
        ("Oldest rental price paid", verdict.oldest_price, "day"),
    ]
    for budget in verdict.budget:
        title = budget_title(budget.kind, budget.fiscal_year)
        facts.append((f"{title}, left", budget.headroom, "money"))
        facts.append((f"{title}, in words", budget.sentence or None, ""))
    return [fact for fact in facts if fact[1] is not None]
