"""A budget for all payments of a plan, as a request gives it."""

from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.results.scenario_result import Scenario
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

MONTH = 730
PRICES = catalog(
    offer("55.04"), offer("20", "reserved", term_months=36, payment_option="no_upfront")
)
COMMITTED = 36 * MONTH * 20


def limited(budget: float, **fields: Any) -> Compared:
    plain: dict[str, Any] = {"on_prem": {"servers": []}}
    limits = {"constraints": {"total_budget": budget}}
    return compared(PRICES, MONTH * 8, **(plain | limits | fields))


def test_what_is_owed_after_the_horizon_counts() -> None:
    enough = limited(COMMITTED + 1).scenarios[ScenarioKey.HYBRID]
    assert enough.total_cost == COMMITTED
    assert not limited(COMMITTED - 1).scenarios[ScenarioKey.HYBRID].feasible


def test_the_least_budget_that_would_do_is_named() -> None:
    (reason,) = limited(100_000).scenarios[ScenarioKey.HYBRID].why_not[:1]
    assert reason == "it takes a total budget of at least 525,600 USD instead of 100,000 USD"


def test_a_budget_with_room_changes_nothing() -> None:
    free = compared(PRICES, MONTH * 8, on_prem={"servers": []}).as_dict()
    assert limited(10 * COMMITTED).as_dict()["scenarios"] == free["scenarios"]


@pytest.mark.parametrize("limit", ["total_budget", "monthly_budget"])
def test_a_budget_of_what_a_plan_comes_to_in_cents_is_kept_by_it(limit: str) -> None:
    """1,000.0003 h at 55.04 / 8 USD are 6,880.002 USD, of which 6,880.00 are paid."""

    def rented(budget: float) -> Scenario:
        plain: dict[str, Any] = {"on_prem": {"servers": []}}
        found = compared(
            catalog(offer("55.04")),
            [1000.0003],
            horizon_months=1,
            **plain,
            constraints={limit: budget, "allow_partial_nodes": True},
        )
        return found.scenarios[ScenarioKey.ON_DEMAND]

    assert rented(6_880).total_cost == 6_880
    (reason,) = rented(6_879.9).why_not[:1]
    assert "of at least 6,880 USD instead of" in reason


def test_a_cheaper_plan_that_seldom_keeps_it_says_so_and_the_proof_leaves_it_out() -> None:
    prices = catalog(
        offer("23"), offer("20", "reserved", term_months=36, payment_option="no_upfront")
    )
    ends = {"end_probability": 0.4, "end_after_months": 12}
    answer = compared(
        prices, MONTH * 8, horizon_months=36, on_prem={"servers": []},
        constraints={"total_budget": 610_000}, risk={"price_sd": 0.3, "hours_spread": 0} | ends,
    ).answer  # fmt: skip
    rent = answer.by_key[ScenarioKey.ON_DEMAND]
    assert not rent.allowed
    assert rent.why_not_allowed.startswith("Renting on demand keeps the budget in only ")
    assert rent.why_not_allowed.endswith("% of outcomes; 90% is asked for.")
    assert "no plan that may be advised" in answer.recommendation.because[-1]
