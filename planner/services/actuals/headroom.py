"""What the budget of a project leaves when its plan has ended."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from planner.models import BudgetPeriod, Project
from planner.services.actuals.actuals import Variance
from planner.services.actuals.completion import Completion
from planner.services.alerts.budget_watch import budget_over_horizon


@dataclass(frozen=True)
class Headroom:
    """Budget for all months of the plan against what they cost, in one currency."""

    currency: str
    budget: Decimal
    period: BudgetPeriod
    """What the budget was set for; one of a month or a year counts for all months of the plan."""
    cost: Decimal
    is_estimate: bool
    """Whether the cost is the estimate at completion; before the first actuals it is the plan."""
    high: Decimal | None
    """The most that the estimate may come to."""

    @property
    def left(self) -> Decimal:
        """Below 0 where the budget does not suffice."""
        return self.budget - self.cost

    @property
    def left_at_most_cost(self) -> Decimal | None:
        return None if self.high is None else self.budget - self.high


def budget_headroom(
    project: Project, table: Variance, completion: Completion | None
) -> Headroom | None:
    """None without a budget, or without a feasible plan in the currency of the budget."""
    if table.plan is None:
        return None
    budget = budget_over_horizon(project, table.plan)
    planned = table.plan.read_summary().total_cost
    if budget is None or planned is None:
        return None
    estimate = completion.estimate if completion else None
    return Headroom(
        currency=table.currency,
        budget=budget,
        period=BudgetPeriod(project.budget_period),
        cost=planned if estimate is None else estimate,
        is_estimate=estimate is not None,
        high=completion.high if completion else None,
    )
