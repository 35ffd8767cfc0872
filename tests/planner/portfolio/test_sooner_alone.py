"""A project that costs less by itself, as its runs are done sooner there, is told."""

from __future__ import annotations

from decimal import Decimal

import pytest

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.portfolio.portfolio import plan_portfolio
from pricing.market.snapshot import Catalog
from tests.planner.comparison.deadlines.test_sooner import MODE, PRICES, asked
from tests.planner.costing.market_of import TODAY, catalog, offer


def plan(prices: Catalog = PRICES, rules: int = 6) -> PortfolioAnswer:
    request = asked()
    projects = [{"name": name, "workload": request["workload"]} for name in ("speech", "vision")]
    asked_for = {
        "start": "2027-01", "horizon_months": 4, "projects": projects, "rules": rules,
        "finance": request["finance"], "on_prem": {"servers": []},
    }  # fmt: skip
    return plan_portfolio(asked_for, prices, today=TODAY)


def test_what_a_project_costs_in_an_answer_of_its_own_is_told() -> None:
    """Spread 24,215.04 each, here and before; by itself 20,160."""
    answer = plan()
    assert answer.projects[0].alone_total == Decimal("24215.04")
    told = [words for words in answer.warnings if "done sooner" in words]
    assert [words.partition(":")[0] for words in told] == ["speech", "vision"]
    assert "for 20,160 USD in all and not 24,215 USD" in told[0]


@pytest.mark.parametrize(
    ("prices", "rules"), [(catalog(offer("55.04")), 6), (catalog(offer("55.04"), MODE), 5)]
)
def test_nothing_is_told_where_it_is_not_done_sooner(prices: Catalog, rules: int) -> None:
    assert not any("done sooner" in words for words in plan(prices, rules).warnings)
