"""Random portfolios of runs with deadlines: no dearer than their own answers, within budgets."""

import os
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from planner.comparison import compare
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.costing.results.scenario_result import is_of_resale
from planner.portfolio.portfolio import plan_portfolio
from tests.planner.comparison.deadlines.test_sooner import MODE
from tests.planner.costing.market_of import TODAY, catalog, offer

YEAR = offer("34.00", "reserved", term_months=12, payment_option="no_upfront")
PRICES = catalog(offer("55.04"), YEAR, offer("7.20", count=1), MODE)
MANY = range(100)


def month(index: int) -> str:
    return f"2027-{index + 1:02d}"


def random_project(random: np.random.Generator, number: int, months: int) -> dict[str, Any]:
    first = int(random.integers(0, months - 1))
    last = int(random.integers(first, min(months, first + 6)))
    run = {"start": month(first), "deadline": month(last), "count": int(random.choice([1, 1, 2]))}
    workload = {
        "kind": "training", "parameters": 7e9, "tokens": 1e10, "accelerator": "H100",
        "measured_accelerator_hours": 8 * 24 * float(random.integers(2, 40)), "runs": [run],
    }  # fmt: skip
    return {"name": f"project {number}", "workload": workload}


def random_request(seed: int) -> dict[str, Any]:
    """2 to 4 projects over four to twelve months, with a server to buy or none."""
    random = np.random.default_rng(seed)
    months = int(random.choice([4, 6, 12]))
    count = int(random.choice([2, 3, 4]))
    node = {
        "server": "custom", "label": "Node", "accelerator": "H100", "accelerator_count": 8,
        "unit_price": float(random.choice([40000, 90000])), "lead_time_months": 0,
        "power_kw": 10.2,
    }  # fmt: skip
    return {
        "start": "2027-01", "horizon_months": months, "what_if": False,
        "projects": [random_project(random, i, months) for i in range(count)],
        "on_prem": {"servers": [node] if random.random() < 0.5 else []},
    }  # fmt: skip


def plan(request: dict[str, Any], **fields: Any) -> PortfolioAnswer:
    return plan_portfolio({**request, **fields}, PRICES, today=TODAY)


def paid(answer: PortfolioAnswer) -> Decimal:
    resale = sum((line.amount for line in answer.lines if is_of_resale(line)), Decimal(0))
    return (answer.total_cost or Decimal(0)) - resale


def check(seed: int) -> None:
    request = random_request(seed)
    answer = plan(request)
    assert answer.net_present_cost is not None
    assert answer.apart is not None
    assert answer.net_present_cost <= answer.apart
    for one, project in zip(answer.projects, request["projects"], strict=True):
        shared = {name: request[name] for name in ("start", "horizon_months", "on_prem")}
        by_itself = compare({**shared, "workload": project["workload"]}, PRICES, today=TODAY)
        assert one.alone_total == by_itself.recommended.total_cost
        assert one.share is not None
        assert one.alone is not None
        assert one.share <= one.alone
    assert sum(one.share or 0 for one in answer.projects) == answer.net_present_cost
    for below in ("0.00", "0.01"):
        budget = paid(answer) - Decimal(below)
        limited = plan(request, limits={"total_budget": float(budget)})
        assert paid(limited) <= budget


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", MANY if os.environ.get("FUZZ") else [3])
def test_runs_are_planned_together_at_no_more_than_their_own_answers(seed: int) -> None:
    check(seed)
