"""What a plan will have cost when it ends: paid so far, and what is left at observed use and price.

Estimate at completion = actual so far + plan of the months without an upload × actual over planned
cost of the months so far (the cost performance of earned value, PMI Practice Standard for Earned
Value Management). The range takes the least and the highest month's ratio; with one month there is
none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.contract.months import format_month
from planner.models import Project, SavedComparison
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
    """Months of the plan without an upload."""
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


@dataclass(frozen=True)
class Ratios:
    """Paid over planned cost: of all months paid for, of the least and of the highest one."""

    middle: Decimal
    low: Decimal
    high: Decimal
    is_range: bool
    """Whether there are months enough to tell a range."""

    def apply(
        self, paid: Decimal, planned: Decimal
    ) -> tuple[Decimal, Decimal | None, Decimal | None]:
        """What was paid with what is left of the plan: as estimated, at least and at most."""
        estimate, *ends = (paid + planned * ratio for ratio in (self.middle, self.low, self.high))
        if not self.is_range:
            return estimate, None, None
        return estimate, min(estimate, *ends), max(estimate, *ends)


def estimate_completion(project: Project, table: Variance | None = None) -> Completion | None:
    """The estimate for a project with a plan and actuals; None without either."""
    table = variance(project) if table is None else table
    if table.plan is None or not table.cells:
        return None
    planned, actual = planned_by_month(table.plan), actual_by_month(table)
    return _estimate(table, planned, actual, _total_budget(project))


def planned_by_month(plan: SavedComparison) -> dict[str, Decimal]:
    """Cost of each month of a plan, credits and resale taken off."""
    answer = plan.read_answer()
    planned: dict[str, Decimal] = defaultdict(Decimal)
    for line in recommended_lines(answer):
        planned[format_month(answer.month(line.month))] += line.amount
    return dict(planned)


def actual_by_month(table: Variance) -> dict[str, Decimal]:
    """What was paid in each month with an upload."""
    actual: dict[str, Decimal] = defaultdict(Decimal)
    for (month, _), cell in table.cells.items():
        actual[month] += cell.actual
    return dict(actual)


def observed_ratios(planned: Mapping[str, Decimal], actual: Mapping[str, Decimal]) -> Ratios | None:
    """Paid over planned so far; None where nothing was planned in the months paid for."""
    planned_so_far = sum((planned.get(month, Decimal(0)) for month in actual), Decimal(0))
    months = [
        min(actual[month] / planned[month], HIGHEST_RATIO)
        for month in sorted(actual)
        if planned.get(month, Decimal(0)) > 0 and actual[month] >= 0
    ]
    if planned_so_far <= 0 or not months:
        return None
    paid = sum(actual.values(), Decimal(0))
    middle = min(max(paid / planned_so_far, Decimal(0)), HIGHEST_RATIO)
    return Ratios(middle, min(months), max(months), is_range=len(months) > 1)


def _total_budget(project: Project) -> Decimal | None:
    """The budget of the whole plan; one of a year or a month is another question."""
    if not project.budget or project.budget_period != BudgetPeriod.TOTAL:
        return None
    return Decimal(project.budget)


def _estimate(
    table: Variance,
    planned: Mapping[str, Decimal],
    actual: Mapping[str, Decimal],
    budget: Decimal | None,
) -> Completion:
    left = {month: cost for month, cost in planned.items() if month not in actual}
    remaining = sum(left.values(), Decimal(0))
    paid = sum(actual.values(), Decimal(0))
    ratios = observed_ratios(planned, actual)
    estimate, low, high = ratios.apply(paid, remaining) if ratios else (None, None, None)
    hours_ratio, price_ratio = _ratios(table)
    return Completion(
        currency=table.currency,
        months_done=len(actual),
        months_left=len(left),
        actual=paid,
        remaining_plan=remaining,
        estimate=estimate,
        low=low,
        high=high,
        budget=budget,
        planned_total=sum(planned.values(), Decimal(0)),
        hours_ratio=hours_ratio,
        price_ratio=price_ratio,
        why_not="" if ratios else "nothing was planned in the months that were paid for",
    )


def _ratios(table: Variance) -> tuple[float | None, float | None]:
    """Use and price so far against the plan; of cells whose hours are known on both sides."""
    hours = table.compared_hours()
    cells = table.compared_cells()
    planned = float(sum((cell.planned for cell in cells), Decimal(0)))
    actual = float(sum((cell.actual for cell in cells), Decimal(0)))
    if hours is None or not planned:
        return None, None
    price = (actual / hours.actual) / (planned / hours.planned)
    return round(hours.actual / hours.planned, 6), round(price, 6)
