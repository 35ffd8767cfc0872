"""What a plan will have cost when it ends: paid so far, and what is left at observed use.

Estimate at completion = actual so far + what follows use in the months without an upload, at the
prices of today × actual over planned accelerator-hours so far + what does not follow use. Where no
hours can be compared, all that is left is taken × actual over planned cost so far (the cost
performance of earned value, PMI Practice Standard for Earned Value Management). The range takes
the least and the highest month's ratio; with one month there is none.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.contract.months import format_month
from planner.models import Project, SavedComparison
from planner.models.project import BudgetPeriod
from planner.services.actuals.actuals import Variance, recommended_lines, variance
from planner.services.actuals.remaining import Left, Remaining, remaining_by_month

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
    is_due_after: bool
    """Whether what is left holds money of the months after the plan, such as a last invoice."""
    actual: Decimal
    remaining_plan: Decimal
    remaining_today: Decimal
    """The same at the prices of today."""
    prices_as_of: dt.date | None
    """Day on which the oldest of them was seen."""
    offers_not_sold: int
    """Offers of the plan that the catalog has no more, which stay at the planned price."""
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
            "remaining_at_current_prices": _text(self.remaining_today),
            "prices_as_of": self.prices_as_of.isoformat() if self.prices_as_of else None,
            "offers_not_sold": self.offers_not_sold,
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
    """Actual over planned: of all months paid for, of the least and of the highest one."""

    middle: Decimal
    low: Decimal
    high: Decimal
    is_range: bool
    """Whether there are months enough to tell a range."""
    is_of_hours: bool
    """Whether it compares hours; else money."""

    def apply(self, paid: Decimal, left: Left) -> tuple[Decimal, Decimal | None, Decimal | None]:
        """What was paid with what is left: as estimated, at least and at most."""
        follows, fixed = (left.hourly, left.fixed) if self.is_of_hours else (left.total, Decimal(0))
        estimate, *ends = (
            paid + fixed + follows * ratio for ratio in (self.middle, self.low, self.high)
        )
        if not self.is_range:
            return estimate, None, None
        return estimate, min(estimate, *ends), max(estimate, *ends)


def estimate_completion(project: Project, table: Variance | None = None) -> Completion | None:
    """The estimate for a project with a plan and actuals; None without either."""
    table = variance(project) if table is None else table
    if table.plan is None or not table.cells:
        return None
    planned, actual = planned_by_month(table.plan), actual_by_month(table)
    remaining = remaining_by_month(table.plan)
    return _estimate(table, planned, actual, remaining, _total_budget(project))


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


def observed_ratios(
    table: Variance, planned: Mapping[str, Decimal], actual: Mapping[str, Decimal]
) -> Ratios | None:
    """Actual over planned so far, in hours where both are known, else in money; None where nothing
    was planned in the months paid for."""
    hours: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (month, _), cell in table.cells.items():
        if cell.has_hours:
            hours[month][0] += cell.planned_hours
            hours[month][1] += cell.actual_hours
    if hours:
        pairs = [(Decimal(before), Decimal(after)) for before, after in hours.values()]
        return _ratios_of(pairs, is_of_hours=True)
    pairs = [(planned.get(month, Decimal(0)), actual[month]) for month in sorted(actual)]
    return _ratios_of(pairs, is_of_hours=False)


def _ratios_of(pairs: list[tuple[Decimal, Decimal]], *, is_of_hours: bool) -> Ratios | None:
    """Of planned and actual of each month."""
    before = sum((planned for planned, _ in pairs), Decimal(0))
    months = [
        min(actual / planned, HIGHEST_RATIO)
        for planned, actual in pairs
        if planned > 0 and actual >= 0
    ]
    if before <= 0 or not months:
        return None
    after = sum((actual for _, actual in pairs), Decimal(0))
    middle = min(max(after / before, Decimal(0)), HIGHEST_RATIO)
    return Ratios(middle, min(months), max(months), len(months) > 1, is_of_hours)


def _total_budget(project: Project) -> Decimal | None:
    """The budget of the whole plan; one of a year or a month is another question."""
    if not project.budget or project.budget_period != BudgetPeriod.TOTAL:
        return None
    return Decimal(project.budget)


def _estimate(
    table: Variance,
    planned: Mapping[str, Decimal],
    actual: Mapping[str, Decimal],
    today: Remaining,
    budget: Decimal | None,
) -> Completion:
    left = {month: cost for month, cost in planned.items() if month not in actual}
    of_plan = set(table.plan.read_answer().months) if table.plan else set()
    remaining = sum(left.values(), Decimal(0))
    paid = sum(actual.values(), Decimal(0))
    ratios = observed_ratios(table, planned, actual)
    still = Left()
    for month in left:
        still = still.plus(today.months[month])
    estimate, low, high = ratios.apply(paid, still) if ratios else (None, None, None)
    hours_ratio, price_ratio = _ratios(table)
    return Completion(
        currency=table.currency,
        months_done=len(actual),
        months_left=len(of_plan - actual.keys()),
        is_due_after=any(left[month] for month in left.keys() - of_plan),
        actual=paid,
        remaining_plan=remaining,
        remaining_today=still.total,
        prices_as_of=today.prices_as_of,
        offers_not_sold=today.not_sold,
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
