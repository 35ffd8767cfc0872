"""What a project costs by month and why, as charts and sentences of its page."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from planner.contract.amounts import name_month, shorten_month
from planner.models import BudgetPeriod, Project
from planner.services.actuals.actuals import Variance
from planner.services.actuals.completion import BurnMonth, Completion
from planner.services.alerts.budget_watch import budget_over_horizon
from planner.web.common.chart import Chart, Series
from planner.web.common.formatting import money

_PERIOD_WORDS = {
    BudgetPeriod.TOTAL: "",
    BudgetPeriod.YEARLY: " for all months, set by the year",
    BudgetPeriod.MONTHLY: " for all months, set by the month",
}


def burn_chart(months: Sequence[BurnMonth], budget: Decimal | None, currency: str) -> Chart | None:
    """Cumulative plan, what was paid, the estimate at completion with its range, the budget."""
    if not months:
        return None
    rows = [
        Series("Paid", _floats([one.actual for one in months]), "paid"),
        Series("Budget", _floats([budget] * len(months)), "budget"),
        Series("Estimate", _floats([one.estimate for one in months]), "next_best"),
        Series("Plan", _floats([one.planned for one in months]), "advised"),
        Series("Lowest", _floats([one.low for one in months]), "low"),
        Series("Highest", _floats([one.high for one in months]), "high"),
    ]
    return Chart(
        key="burn",
        title="Cost up to each month",
        kind="line",
        x_label="month",
        y_label=currency,
        unit=currency,
        x=[shorten_month(one.month) for one in months],
        series=[one for one in rows if any(v is not None for v in one.values)],
        summary=_burn_summary(months, currency),
        labels_at_lines=True,
    )


def _floats(values: Sequence[Decimal | None]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]


def _burn_summary(months: Sequence[BurnMonth], currency: str) -> str:
    last = months[-1]
    paid = [one for one in months if one.actual is not None]
    parts = [f"The plan comes to {money(last.planned, currency)} by {name_month(last.month)}."]
    highest = max(months, key=lambda one: one.planned)
    if highest.planned > last.planned:
        parts.append(
            f"On the way it reaches {money(highest.planned, currency)}, in "
            f"{name_month(highest.month)}; resale and credits come off afterwards."
        )
    if paid:
        parts.append(
            f"Paid by {name_month(paid[-1].month)}: {money(paid[-1].actual, currency)} of "
            f"{money(paid[-1].planned, currency)} planned."
        )
    if last.estimate is not None and len(paid) < len(months):
        parts.append(
            "From there on the estimate: costs that follow use at the use so far and current "
            "prices, the rest as planned; where no hours are known, all at the ratio of paid to "
            "planned."
        )
    return " ".join(parts)


def budget_of(project: Project, table: Variance) -> Decimal | None:
    return budget_over_horizon(project, table.plan) if table.plan else None


def headroom_sentence(project: Project, table: Variance, completion: Completion | None) -> str:
    """What the budget leaves of the estimate at completion, before the first actuals of the plan;
    "" without a budget, or without a feasible plan in its currency."""
    budget, currency = budget_of(project, table), table.currency
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
        sentence += f", but at the highest month's ratio {_left(budget - high, currency)}"
    return f"{sentence}."


def _left(amount: Decimal, currency: str) -> str:
    return f"{money(abs(amount), currency)} {'left' if amount >= 0 else 'over'}"
