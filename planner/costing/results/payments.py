"""What the lines of a plan come to: its payments, its capital, what is due in a month. PURE."""

from __future__ import annotations

from collections.abc import Container
from decimal import Decimal

from planner.contract.answer.common import Category
from planner.contract.answer.scenario import CostLine
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.results.postings import RESALE_TAX_UNIT
from planner.costing.results.scenario_result import Scenario


def resale_value(plan: Scenario) -> Decimal:
    """What servers are assumed to fetch at the horizon's end, after the tax on it."""
    return -sum((line.amount for line in plan.lines if is_of_resale(line)), Decimal("0.00"))


def total_without_resale(plan: Scenario) -> Decimal:
    """Total of a plan whose servers fetch nothing at the horizon's end."""
    return plan.total_cost + resale_value(plan)


def capital(plan: Scenario, months: Container[int] | None = None) -> Decimal:
    """What a plan pays for servers, of `months` alone if they are given: their price, network,
    spares and installation."""
    lines = (
        line.amount
        for line in plan.lines
        if line.category in CAPITAL and (months is None or line.month in months)
    )
    return sum(lines, Decimal("0.00"))


def due_per_month(plan: Scenario) -> tuple[Decimal, ...]:
    """What has to be paid in each month, those after the horizon too: all but what servers fetch
    at its end, after the tax on it."""
    due = [*plan.cash_per_month]
    for line in plan.lines:
        if is_of_resale(line):
            due[line.month] -= line.amount
    return tuple(due)


def is_of_resale(line: CostLine) -> bool:
    is_its_tax = line.category is Category.TAX and line.unit == RESALE_TAX_UNIT
    return line.category is Category.RESIDUAL or is_its_tax
