"""What a plan will have cost when it ends: paid so far, and what is left at observed use and price.

Estimate at completion = actual so far + remaining plan × actual over planned cost of the months so
far (the cost performance of earned value, PMI Practice Standard for Earned Value Management).
The range takes the least and the highest month's ratio; with one month there is none.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.months import format_month
from planner.models import Project
from planner.models.project import BudgetPeriod
from planner.services.actuals.actuals import Variance, recommended_lines, variance

CENT = Decimal("0.01")
HIGHEST_RATIO = Decimal(10)
"""A month that cost ten times its plan says nothing of the months to come beyond that."""


@dataclass(frozen=True)
class Completion:
    """Money of a plan at its end, and how the hours compare; None where it cannot be known."""

    currency: str
    months_done: int
    months_left: int
    actual: Decimal
    remaining_plan: Decimal
    estimate: Decimal | None
    low: Decimal | None
    high: Decimal | None
    budget: Decimal | None
    planned_total: Decimal
    hours_ratio: float | None
    """Actual over planned accelerator-hours so far."""
    price_ratio: float | None
    """Actual over planned cost of an accelerator-hour so far."""
    why_not: str

    @property
    def headroom(self) -> Decimal | None:
        """What the budget leaves; below 0 where it does not suffice."""
        if self.budget is None or self.estimate is None:
            return None
        return self.budget - self.estimate

    def as_dict(self) -> dict[str, Any]:
        return {
            "currency": self.currency,
            "months_done": self.months_done,
            "months_left": self.months_left,
            "actual": _text(self.actual),
            "planned_total": _text(self.planned_total),
            "remaining_plan": _text(self.remaining_plan),
            "estimate_at_completion": _text(self.estimate),
            "low": _text(self.low),
            "high": _text(self.high),
            "budget": _text(self.budget),
            "budget_headroom": _text(self.headroom),
            "hours_ratio": self.hours_ratio,
            "price_ratio": self.price_ratio,
            "why_not": self.why_not,
        }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount.quantize(CENT):f}"


def estimate_completion(project: Project, table: Variance | None = None) -> Completion | None:
    """The estimate for a project with a plan and actuals; None without either."""
    table = variance(project) if table is None else table
    if table.plan is None or not table.cells:
        return None
    planned = _planned_by_month(table.plan.read_answer())
    actual: dict[str, Decimal] = defaultdict(Decimal)
    for (month, _), cell in table.cells.items():
        actual[month] += cell.actual
    return _estimate(table, planned, actual, _total_budget(project))


def _planned_by_month(answer: ComparisonAnswer) -> dict[str, Decimal]:
    planned: dict[str, Decimal] = defaultdict(Decimal)
    for line in recommended_lines(answer):
        planned[format_month(answer.month(line.month))] += line.amount
    return planned


def _total_budget(project: Project) -> Decimal | None:
    """The budget of the whole plan; one of a year or a month is another question."""
    if not project.budget or project.budget_period != BudgetPeriod.TOTAL:
        return None
    return Decimal(project.budget)


def _estimate(
    table: Variance,
    planned: dict[str, Decimal],
    actual: dict[str, Decimal],
    budget: Decimal | None,
) -> Completion:
    last = max(actual)
    remaining = sum((cost for month, cost in planned.items() if month > last), Decimal(0))
    paid = sum(actual.values(), Decimal(0))
    ratios = [
        min(actual[month] / planned[month], HIGHEST_RATIO)
        for month in sorted(actual)
        if planned.get(month, Decimal(0)) > 0 and actual[month] >= 0
    ]
    planned_so_far = sum((planned.get(month, Decimal(0)) for month in actual), Decimal(0))
    estimate = low = high = None
    why_not = ""
    if planned_so_far > 0 and ratios:
        estimate = paid + remaining * min(max(paid / planned_so_far, Decimal(0)), HIGHEST_RATIO)
        if len(ratios) > 1:
            low = min(estimate, paid + remaining * min(ratios))
            high = max(estimate, paid + remaining * max(ratios))
    else:
        why_not = "nothing was planned in the months that were paid for"
    hours_ratio, price_ratio = _ratios(table)
    return Completion(
        currency=table.currency,
        months_done=len(actual),
        months_left=sum(1 for month in planned if month > last),
        actual=paid,
        remaining_plan=remaining,
        estimate=estimate,
        low=low,
        high=high,
        budget=budget,
        planned_total=sum(planned.values(), Decimal(0)),
        hours_ratio=hours_ratio,
        price_ratio=price_ratio,
        why_not=why_not,
    )


def _ratios(table: Variance) -> tuple[float | None, float | None]:
    """Use and price so far against the plan; of cells whose hours are known on both sides."""
    cells = [
        cell
        for cell in table.cells.values()
        if cell.planned_hours and cell.actual_hours and not cell.unknown
    ]
    planned_hours = sum(cell.planned_hours for cell in cells)
    actual_hours = sum(cell.actual_hours for cell in cells)
    planned = float(sum((cell.planned for cell in cells), Decimal(0)))
    actual = float(sum((cell.actual for cell in cells), Decimal(0)))
    if not planned_hours or not actual_hours or not planned:
        return None, None
    price = (actual / actual_hours) / (planned / planned_hours)
    return round(actual_hours / planned_hours, 6), round(price, 6)
