"""Budgets of all projects together hold for the lines that a plan is shown with, to the cent."""

import functools
from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.results.scenario_result import is_of_resale
from planner.portfolio.portfolio import plan_portfolio
from tests.planner.costing.market_of import CATALOG, H100, TODAY

NODE = {
    "server": "custom", "label": "Node", "accelerator": "H100", "accelerator_count": 8,
    "unit_price": 30123.45, "lead_time_months": 0, "power_kw": 10.2,
}  # fmt: skip


def request_of(count: int = 3, **fields: Any) -> dict[str, Any]:
    """Projects whose hours make fractions of a cent in every month."""
    projects = [
        {
            "name": f"project {i}",
            "workload": {
                "kind": "accelerator_hours",
                "accelerator": H100,
                "hours_per_month": [311.37 + 101.13 * i + 0.7 * month for month in range(12)],
                "peak_accelerators": 1 + i,
            },
        }
        for i in range(count)
    ]
    return {
        "start": "2027-01", "horizon_months": 12, "projects": projects, "what_if": False,
        "shares": "use", "on_prem": {"servers": []}, **fields,
    }  # fmt: skip


def plan(request: dict[str, Any]) -> PortfolioAnswer:
    return plan_portfolio(request, CATALOG, today=TODAY)


def due_per_month(answer: PortfolioAnswer) -> list[Decimal]:
    due = list(answer.cash_per_month)
    for line in answer.lines:
        if is_of_resale(line):
            due[line.month] -= line.amount
    return due


def spent(answer: PortfolioAnswer, budget: str) -> Decimal:
    """What the lines of a plan come to against a budget."""
    if budget == "monthly_budget":
        return max(due_per_month(answer))
    if budget == "capex_budget":
        amounts = (line.amount for line in answer.lines if line.category in CAPITAL)
        return sum(amounts, Decimal(0))
    assert answer.total_cost is not None
    return answer.total_cost + (answer.resale or 0)


@pytest.mark.parametrize(
    ("budget", "below"),
    [
        ("total_budget", "0.00"),
        ("total_budget", "0.05"),
        ("monthly_budget", "0.01"),
        pytest.param("total_budget", "0.01", marks=pytest.mark.sweep),
        pytest.param("total_budget", "1.00", marks=pytest.mark.sweep),
        pytest.param("monthly_budget", "0.00", marks=pytest.mark.sweep),
        pytest.param("monthly_budget", "1.00", marks=pytest.mark.sweep),
    ],
)
def test_lines_keep_to_a_budget_to_the_cent(budget: str, below: str) -> None:
    """Held against the optimiser's sums, 113,694.96 was planned under 113,694.91."""
    stated = spent(free(), budget) - Decimal(below)
    answer = plan(request_of(limits={budget: float(stated)}))
    assert answer.feasible
    assert spent(answer, budget) <= stated
    assert not (below == "0.00" and any(one.waits for one in answer.projects))


@functools.cache
def free() -> PortfolioAnswer:
    """The plan without a budget."""
    return plan(request_of())


@pytest.mark.parametrize("below", ["0.00", pytest.param("0.01", marks=pytest.mark.sweep)])
def test_lines_keep_to_a_budget_of_capital_to_the_cent(below: str) -> None:
    owned = request_of(on_prem={"servers": [NODE]})
    capital = spent(plan(owned), "capex_budget")
    assert capital > 0
    stated = capital - Decimal(below)
    answer = plan({**owned, "limits": {"capex_budget": float(stated)}})
    assert (spent(answer, "capex_budget") == capital) == (below == "0.00")
    assert spent(answer, "capex_budget") <= stated
