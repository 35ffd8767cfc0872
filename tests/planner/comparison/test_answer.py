"""The comparison end to end: one request, every scenario, one set of totals."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from planner.comparison import compare, compare_in_steps
from planner.contract.answer.common import ScenarioKey
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import CATALOG, H100, TODAY, request_of

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def answer():
    return compared(cheaper_if=True).as_dict()


def scenario(answer, key):
    return next(s for s in answer["scenarios"] if s["key"] == key)


def test_lines_sum_to_the_total_to_the_cent(answer) -> None:
    for one in answer["scenarios"]:
        amounts = [Decimal(line["amount"]) for line in one["lines"]]
        assert sum(amounts) == Decimal(one["total_cost"])
        assert sum(map(Decimal, one["cost_by_category"].values())) == Decimal(one["total_cost"])
        assert sum(map(Decimal, one["cash_per_month"])) == Decimal(one["total_cost"])
        assert sum(map(Decimal, one["accrued_per_month"])) == Decimal(one["total_cost"])
        assert one["cumulative_cost"][-1] == one["total_cost"]


def test_what_is_advised_is_the_same_in_the_first_step_and_in_the_last() -> None:
    asked = request_of(4000, cheaper_if=True, sensitivity=True)
    first, whole = compare_in_steps(asked, CATALOG, today=TODAY)
    assert first.scenarios == whole.scenarios
    assert first.recommendation == whole.recommendation
    assert first.risk == whole.risk
    assert first.verdict
    assert whole.verdict
    assert first.verdict.decision == whole.verdict.decision
    assert first.verdict.expected == whole.verdict.expected
    assert not first.cheaper_if
    assert whole.drivers


def test_a_line_is_quantity_times_price(answer) -> None:
    for one in answer["scenarios"]:
        for line in one["lines"]:
            product = Decimal(str(line["quantity"])) * Decimal(line["unit_price"])
            assert abs(product - Decimal(line["amount"])) <= Decimal("0.0051")


def test_net_present_cost_discounts_each_line(answer) -> None:
    rate = 0.1
    for one in answer["scenarios"]:
        present = sum(float(x["amount"]) / (1 + rate) ** (x["month"] / 12) for x in one["lines"])
        assert float(one["net_present_cost"]) == pytest.approx(present, abs=0.011)


def test_on_demand_is_hours_times_the_cheapest_price(answer) -> None:
    # 4,000 accelerator-hours at 7.20 USD, 24 months; a whole machine of 8 for the 4,000 / 6 hours
    # of six accelerators would be 55.04 × 666.67 × 24 = 880,640.
    assert scenario(answer, "on_demand")["total_cost"] == "691200.00"
    assert {x["offer_id"] for x in scenario(answer, "on_demand")["lines"]} == {
        "aws:us-east-1:p5.6xlarge:on_demand"
    }


def test_hybrid_is_the_cheapest_and_recommended_as_the_simplest_of_its_price() -> None:
    answer = compared(on_prem={"lead_time_months": 3}).as_dict()
    every = {s["key"]: Decimal(s["net_present_cost"]) for s in answer["scenarios"]}
    costs = {s["key"]: every[s["key"]] for s in answer["scenarios"] if s["allowed"]}
    assert costs["hybrid"] == min(costs.values())
    assert costs[answer["recommendation"]["scenario"]] == costs["hybrid"]
    assert costs["cloud"] <= costs["on_demand"]
    assert Decimal(answer["recommendation"]["saving"]) > 0


def test_capacity_covers_the_demand_of_every_month(answer) -> None:
    for one in answer["scenarios"]:
        for month, hours in enumerate(answer["demand"]["hours_per_month"]):
            rows = [r for r in one["capacity"] if r["month"] == month]
            served = sum(r["hours_used"] for r in rows)
            assert hours - 1e-3 <= served <= hours + 1e-3
            assert sum(r["accelerators"] for r in rows) >= hours / 730 - 1e-6
            assert all(r["hours_used"] <= r["hours_available"] + 1e-6 for r in rows)


LENOVO = [
    (98.32, "on_demand", 8556.24),
    (77.43, "reserved", 10890.88),
    (33.0, "on_demand", 25951.0),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("price", "option", "hours"), LENOVO)
def test_the_lenovo_case(price: float, option: str, hours: float) -> None:
    request = json.loads((EXAMPLES / "lenovo.json").read_text())
    term = {"term_months": 12} if option == "reserved" else {}
    request["custom_offers"] = [
        request["custom_offers"][0] | {"usd_per_hour": price, "purchase_option": option} | term
    ]
    (row,) = compare(request, Catalog.of([]), today=TODAY).to_json()["break_even"]
    assert row["hours"] == pytest.approx(hours, rel=1e-3)
    assert row["months_at_full_use"] == pytest.approx(hours / 730, rel=1e-3)


def test_nothing_fits_says_which_limit_excludes_what() -> None:
    answer = compared(constraints={"regions": ["westus3"], "min_accelerators_per_node": 4})
    one = answer.scenarios[ScenarioKey.ON_DEMAND]
    assert not one.feasible
    assert one.lines == ()
    text = " ".join(one.why_not)
    assert "the choice of regions (westus3) excludes 3 of 4 on-demand offers" in text
    assert "the minimum number of accelerators in a machine (4) excludes 2 of 4" in text


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"constraints": {"regions": ["us-east1"]}}, "constraints.regions",
         "did you mean us-east-1"),
        ({"on_prem": {"useful_life_months": 6, "lead_time_months": 9}},
         "on_prem.useful_life_months", "month"),
        ({"hours": 1e-6}, "workload.hours_per_month", r"0\.001 h or more"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_field(
    changes: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        compared(**changes)
    assert caught.value.field == field


def test_another_currency_converts_prices_and_defaults() -> None:
    dollars = compared().as_dict()
    euros = compared(currency="EUR", exchange_rates={"EUR": 0.5}).as_dict()
    for one, other in zip(dollars["scenarios"], euros["scenarios"], strict=True):
        assert float(other["total_cost"]) == pytest.approx(float(one["total_cost"]) / 2, abs=2)


def test_a_price_adjustment_multiplies_the_price_of_its_family() -> None:
    cut = [{"provider": "aws", "family": "p5", "purchase_option": "on_demand", "multiplier": 0.5}]
    assert (
        scenario(compared(price_adjustments=cut).as_dict(), "on_demand")["total_cost"]
        == "345600.00"
    )


def test_servers_already_owned_cost_no_capex() -> None:
    owned = [{"server": "dgx-h100", "units": 1, "bought": "2025-06"}]
    answer = compared(on_prem={"servers": [], "already_owned": owned}).as_dict()
    one = scenario(answer, "on_prem")
    assert one["feasible"]
    assert not {x["category"] for x in one["lines"]} & {"capex", "install", "spares"}
    assert {"power", "colocation", "staff"} <= {x["category"] for x in one["lines"]}
    assert len(answer["servers"]) == 1
    assert answer["servers"][0]["accelerator"] == H100
