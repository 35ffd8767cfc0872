"""What the budget of a project leaves, in a sentence of its page."""

from __future__ import annotations

from decimal import Decimal

from planner.models import BudgetPeriod, Project
from planner.services.actuals.actuals import Variance
from planner.services.actuals.completion import Completion
from planner.services.alerts.alerts import budget_over_horizon
from planner.web.common.formatting import money

_PERIOD_WORDS = {
    BudgetPeriod.TOTAL: "",
    BudgetPeriod.YEARLY: " for all months, set by the year",
    BudgetPeriod.MONTHLY: " for all months, set by the month",
}


def headroom_sentence(project: Project, table: Variance, completion: Completion | None) -> str:
    """What the budget leaves of the estimate at completion, before the first actuals of the plan;
    "" without a budget, or without a feasible plan in its currency."""
    budget = budget_over_horizon(project, table.plan) if table.plan else None
    currency = table.currency
    estimate = completion.estimate_at_completion if completion else None
    planned = table.plan.read_summary().total_cost if table.plan else None
    cost = planned if estimate is None else estimate
    if budget is None or planned is None or cost is None:
        return ""
    subject = "The plan comes to" if estimate is None else "At completion"
    against = f"{money(budget, currency)}{_PERIOD_WORDS[BudgetPeriod(project.budget_period)]}"
    sentence = (
        f"{subject} {money(cost, currency)} against a budget of {against}: "
        f"{_left(budget - cost, currency)}"
    )
    high = completion.high if completion else None
    if high is not None and cost <= budget < high:
        sentence += f", but {_left(budget - high, currency)} in 1 of 10 cases or more"
    return f"{sentence}."


def _left(amount: Decimal, currency: str) -> str:
    return f"{money(abs(amount), currency)} {'left' if amount >= 0 else 'over'}"
