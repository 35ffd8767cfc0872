"""What an answer says to a budget holder: true, complete, and naming what was really given."""

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.advice.verdict import describe_proof
from planner.costing.results.scenario_result import Scenario
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

ALONE: dict[str, Any] = {"on_prem": {"servers": []}}
RENT = offer("60")


def because(found: Any) -> str:
    return " ".join(found.recommendation.because)


def box(**fields: Any) -> dict[str, Any]:
    plain = {"server": "custom", "label": "box", "unit_price": 100_000, "accelerator": "H100"}
    return plain | {"accelerator_count": 8, "running_cost_per_hour": 4} | fields


def test_the_proof_is_of_what_may_be_advised_where_something_else_costs_less() -> None:
    """A contract that saves less than the hurdle stands in the same table, at less."""
    prices = catalog(RENT, offer("50", "reserved", term_months=12))
    refused = compared(prices, 5840, horizon_months=12, choice={"effort_cost": 1e6}, **ALONE)
    assert "Proven: no plan that may be advised from these" in because(refused)
    assert "Proven: no plan from these" in because(compared(catalog(RENT), **ALONE))


def test_tax_on_the_resale_is_not_called_relief() -> None:
    found = compared(
        catalog(RENT),
        5000,
        on_prem={
            "servers": [box()],
            "residual_rate": 0.5,
            "resale_cost_rate": 0,
            "lead_time_months": 0,
        },
        finance={"tax_rate": 0.25},
    )
    taxes = [x for x in found.scenarios[ScenarioKey.ON_PREM].lines if x.category == "tax"]
    assert {x.label for x in taxes} == {
        "Tax relief on expenses",
        "Tax relief on capital written off",
        "Tax on the residual value",
    }
    resale = next(x for x in taxes if x.label == "Tax on the residual value")
    assert resale.amount == Decimal("6250.00") * len(
        [x for x in found.scenarios[ScenarioKey.ON_PREM].lines if x.category == "residual"]
    )


@pytest.mark.parametrize(
    ("cost", "bound", "words"),
    [
        (1000.0, 1000.0, "is cheaper."),
        (1000.0, 990.0, "is more than 1.00% cheaper."),
        (-1000.0, -1000.0, "is cheaper."),
        (-1000.0, -1010.0, "is more than 10.00 USD cheaper."),
        (0.0, -0.001, "is cheaper."),
    ],
)
def test_the_proof_is_what_the_bound_says(cost: float, bound: float, words: str) -> None:
    sentence = describe_proof(Scenario(ScenarioKey.HYBRID, True, cost=cost, bound=bound), "USD")
    assert sentence == f"Proven: no plan from these offers and servers {words}"


OWNED: dict[str, Any] = {
    "servers": [],
    "already_owned": [{"server": "hgx-h100-8", "units": 2, "bought": "2026-06"}],
}


def test_what_is_there_costs_what_it_takes_to_run_it() -> None:
    """What it fetches is there whatever is decided, and so is what it was worth at first."""
    found = compared(catalog(offer("50")), 5840, horizon_months=12, on_prem=OWNED)
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    assert "residual" not in plan.cost_by_category
    assert plan.total_cost > 0
    assert "resale" not in because(found)


def test_a_quota_that_no_machine_fits_is_named() -> None:
    quota = {"provider": "aws", "accelerator": "H100-80GB-SXM", "max_accelerators": 4}
    found = compared(
        catalog(offer("55.04")), hours=8 * 730, on_prem={"servers": []},
        constraints={"quotas": [quota]},
    )  # fmt: skip
    reasons = found.scenarios["on_demand"].why_not
    larger = "the quota for H100 SXM5 80 GB at AWS (4) excludes 1, whose machines are larger"
    assert larger in reasons


def test_a_negative_cost_is_still_advised() -> None:
    owned = [{"server": "dgx-h100", "units": 50, "bought": "2026-12"}]
    found = compared(hours=100, horizon_months=1, on_prem={"already_owned": owned})
    assert found.recommendation.scenario is not None
