"""What an answer says to a budget holder: true, complete, and naming what was really given."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.advice.verdict import describe_proof
from planner.costing.results.scenario_result import Scenario
from pricing.common.invalid_input import InvalidInput
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

ALONE: dict[str, Any] = {"on_prem": {"servers": []}}
RENT = offer("60")


def because(found: Any) -> str:
    return " ".join(found.recommendation.because)


def box(**fields: Any) -> dict[str, Any]:
    plain = {"server": "custom", "label": "box", "unit_price": 100_000, "accelerator": "H100"}
    return plain | {"accelerator_count": 8, "running_cost_per_hour": 4} | fields


@pytest.mark.parametrize(
    ("price", "upfront", "beyond"),
    [("20", "0", 730 * 20 * 24), ("0", "360000", 240_000), ("5", "90000", 730 * 5 * 24 + 60_000)],
)
def test_what_a_commitment_owes_beyond_the_horizon_is_said(
    price: str, upfront: str, beyond: float
) -> None:
    """36 months bought for 12: two thirds are still to be paid, and not in the total."""
    prices = catalog(RENT, offer(price, "reserved", term_months=36, upfront=Decimal(upfront)))
    found = compared(prices, 5000, horizon_months=12, term_end="prorate", **ALONE)
    committed = found.scenarios[ScenarioKey.COMMITTED]
    assert f"{beyond:,.0f} USD" in " ".join(committed.warnings)
    assert "2029-12" in because(found)
    assert f"{beyond:,.0f} USD" in because(found)


@pytest.mark.parametrize(("tax_rate", "after"), [(0, ""), (0.25, " after tax")])
def test_what_is_owed_beyond_is_what_counting_it_adds(tax_rate: float, after: str) -> None:
    """36 months at 20 an hour and 36,000 upfront, 24 in the totals: 187,200 before tax."""
    prices = catalog(RENT, offer("20", "reserved", term_months=36, upfront=Decimal(36_000)))
    asked = {"horizon_months": 24, "finance": {"tax_rate": tax_rate}} | ALONE
    part, full = (
        compared(prices, 5840, **asked, term_end=term_end).scenarios[ScenarioKey.COMMITTED]
        for term_end in ("prorate", "full")
    )
    added = full.total_cost - part.total_cost
    assert float(added) == pytest.approx(187_200 * (1 - tax_rate))
    assert f"{added:,.0f} USD{after} more than these totals" in " ".join(part.warnings)


def test_nothing_is_owed_beyond_the_horizon_where_all_is_counted() -> None:
    prices = catalog(RENT, offer("20", "reserved", term_months=36))
    found = compared(prices, 5000, horizon_months=12, term_end="full", **ALONE)
    assert "horizon" not in because(found)


def test_committing_names_its_own_offers_when_none_fits() -> None:
    prices = catalog(RENT, offer("20", "reserved", term_months=12, accelerator="nvidia-t4"))
    limits = {"purchase_options": ["reserved"]}
    words = compared(prices, constraints=limits, **ALONE).scenarios[ScenarioKey.COMMITTED].why_not
    assert "the need for H100 SXM5 80 GB excludes the only reserved offer" in words


def test_where_no_server_may_be_bought_that_is_the_reason() -> None:
    words = compared(**ALONE).scenarios[ScenarioKey.ON_PREM].why_not
    assert "no server may be bought: the list of servers is empty" in words


def test_what_clashes_stands_with_the_advice() -> None:
    found = compared(catalog(RENT), 5840, constraints={"monthly_budget": 100}, **ALONE)
    assert "No plan keeps to these limits." in because(found)
    assert "It takes a monthly budget of at least 43,800 USD instead of 100 USD." in because(found)


def test_alternatives_are_told_from_what_must_change_together() -> None:
    prices = catalog(RENT, offer("20", "spot", zone="us-east-1a"))
    limits = {"monthly_budget": 30_000, "max_spot_share": 0.1}
    words = because(compared(prices, 5840, constraints=limits, **ALONE))
    assert ", or a share of spot of at least " in words


def test_a_plan_proven_to_the_cent_is_called_the_cheapest() -> None:
    known = "Proven: no plan from these offers and servers is cheaper at the prices that are known."
    assert known in because(compared(catalog(RENT), **ALONE))


def test_the_proof_is_of_what_may_be_advised_where_something_else_costs_less() -> None:
    """Spot without consent stands in the same table, at less."""
    prices = catalog(RENT, offer("6", "spot", zone="us-east-1a"))
    assert "Proven: no plan that may be advised from these" in because(compared(prices, **ALONE))
    consent = {"max_spot_share": 1.0}
    assert "Proven: no plan from these" in because(compared(prices, **ALONE, constraints=consent))


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


def test_discounts_multiply_to_a_readable_number() -> None:
    rules = [{"multiplier": 0.9}, {"multiplier": 0.8}]
    answer = compared(catalog(RENT), price_adjustments=rules, **ALONE).as_dict()
    assert [o["multiplier"] for o in answer["offers"].values()] == [0.72]


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


def test_small_amounts_are_said_to_the_cent() -> None:
    """One accelerator of a whole machine at 60 an hour, for 4 hours and for 36 seconds."""
    found = compared(catalog(RENT), 4, horizon_months=1, **ALONE)
    assert "Present value 240.00 USD" in because(found)
    tiny = compared(catalog(RENT), 0.01, horizon_months=1, **ALONE)
    assert "Present value 0.60 USD" in because(tiny)


def test_servers_of_which_none_may_be_bought_are_the_reason() -> None:
    found = compared(on_prem={"servers": [box(max_units=0)]})
    why_not = found.scenarios[ScenarioKey.ON_PREM].why_not
    assert why_not == ("no server may be bought: the most units of each is 0",)


OWNED: dict[str, Any] = {
    "servers": [],
    "already_owned": [{"server": "hgx-h100-8", "units": 2, "bought": "2026-06"}],
}
FLEET = "2 × HGX H100 server (8x H100), already owned, serve"


def test_what_is_there_costs_what_it_takes_to_run_it() -> None:
    """What it fetches is there whatever is decided, and so is what it was worth at first."""
    found = compared(catalog(offer("50")), 5840, horizon_months=12, on_prem=OWNED)
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    assert "residual" not in plan.cost_by_category
    assert plan.total_cost > 0
    assert "resale" not in because(found)


def test_where_only_what_is_in_place_may_serve_that_is_the_reason() -> None:
    """On demand is on sale, but not for this scenario."""
    found = compared(catalog(offer("50")), 20_000, horizon_months=12, on_prem=OWNED)
    assert found.scenarios[ScenarioKey.ON_PREM].why_not == (
        "what is in place is not enough in any month, and nothing more may be bought or rented",
        "no server may be bought: the list of servers is empty",
    )


def test_months_are_counted_from_one_in_words() -> None:
    block = {"label": "block", "accelerator": "H100", "accelerator_count": 8,
             "purchase_option": "on_demand", "usd_per_hour": 50,
             "available_from": "2027-03"}  # fmt: skip
    found = compared(catalog(), 5840, horizon_months=12, custom_offers=[block], **ALONE)
    (reason,) = found.scenarios[ScenarioKey.ON_DEMAND].why_not
    assert reason == "nothing that may be bought or rented is available in the first 2 months"
    workload = {"kind": "accelerator_hours", "accelerator": "H100",
                "hours_per_month": [730, 1460], "peak_accelerators": 1}  # fmt: skip
    with pytest.raises(InvalidInput, match="month 2 of 2 asks for 1,460 h"):
        compared(horizon_months=2, workload=workload)
