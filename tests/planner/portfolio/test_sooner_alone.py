"""Runs of projects are done sooner than their deadlines ask where the plan of all costs less so."""

from decimal import Decimal
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.portfolio.portfolio import plan_portfolio
from pricing.market.snapshot import Catalog
from tests.planner.comparison.deadlines.test_sooner import PRICES, asked
from tests.planner.costing.market_of import TODAY

SOONER = Decimal("20160.00")
"""What one project costs alone in one go; spread over four months 24,215.04."""


def request_of_two(**fields: Any) -> dict[str, Any]:
    request = asked()
    projects = [{"name": name, "workload": request["workload"]} for name in ("speech", "vision")]
    return {
        "start": "2027-01", "horizon_months": 4, "projects": projects,
        "finance": request["finance"], "on_prem": {"servers": []}, **fields,
    }  # fmt: skip


def plan(prices: Catalog = PRICES, **fields: Any) -> PortfolioAnswer:
    return plan_portfolio(request_of_two(**fields), prices, today=TODAY)


def test_the_plan_of_all_costs_no_more_than_their_own_answers() -> None:
    """Spread both cost 48,430.08; each by itself is answered with 20,160 in January."""
    answer = plan()
    assert answer.total_cost == answer.apart_total == 2 * SOONER
    for one in answer.projects:
        assert (one.alone_total, one.share) == (SOONER, SOONER)
        assert one.sooner
        assert one.alone_sooner
        assert one.busy_months == (0,)
        assert "Its runs finish before their deadlines here." in one.explanation
    assert answer.is_laid_anew
    assert ": expect 42,810 USD" in answer.headline
    alone = compare(asked(), PRICES, today=TODAY).verdict
    assert alone is not None
    assert alone.total == answer.projects[0].alone_total


@pytest.mark.sweep
def test_runs_stay_spread_where_all_together_pay_less_so() -> None:
    """One server does four runs side by side that are spread; done in January they take four."""
    node = {
        "server": "custom", "label": "Node", "accelerator": "H100", "accelerator_count": 8,
        "unit_price": 90000, "running_cost_per_hour": 0, "lead_time_months": 0,
    }  # fmt: skip
    request = request_of_two(on_prem={"servers": [node]})
    project = request["projects"][0]
    request["projects"] = [{**project, "name": f"{i}"} for i in range(4)]
    answer = plan_portfolio(request, PRICES, today=TODAY)
    assert answer.apart_total == 4 * SOONER
    assert answer.total_cost < 4 * SOONER
    assert sum(one.share or 0 for one in answer.projects) == answer.net_present_cost
    for one in answer.projects:
        assert one.alone_sooner
        assert not one.sooner
        assert one.busy_months == (0, 1, 2, 3)
        assert (
            "Its runs are spread over the months to their deadlines here; by itself it would do "
            "them sooner."
        ) in one.explanation


def test_a_budget_with_room_for_one_reservation_each_serves_both() -> None:
    """Spread, 48,430.08 are needed."""
    answer = plan(limits={"total_budget": 40320})
    assert answer.total_cost == 2 * SOONER
    assert not any(one.waits for one in answer.projects)
    (first, second) = plan(limits={"total_budget": 40319.99}).projects
    assert (first.waits, second.waits) == (False, True)


def test_work_that_is_over_is_done_no_sooner_for_that() -> None:
    """Of a run that began two months before the plan a third is left; done by its first month all
    of it would be over."""
    request = request_of_two()
    (project, _) = request["projects"]
    runs = [{"start": "2026-11", "deadline": "2027-04"}]
    project = {**project, "start": "2026-11", "workload": {**project["workload"], "runs": runs}}
    answer = plan_portfolio({**request, "projects": [project]}, PRICES, today=TODAY)
    assert not answer.projects[0].alone_sooner
    assert answer.projects[0].hours == pytest.approx(8 * 24 * 21 * 4 / 6)
