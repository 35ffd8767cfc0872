"""What each scenario may use, what it says when it cannot, and workloads of every kind."""

from contextlib import nullcontext
from decimal import Decimal
from math import ceil
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.costing.results.scenario_result import Scenario
from pricing.common.invalid_input import InvalidInput
from tests.golden.answers import MARKET, REQUESTS
from tests.planner.comparison.compared import compared, solved
from tests.planner.costing.market_of import CATALOG, H100, TODAY, catalog, offer, request_of

NODE = 8 * 730.0


def scenario(key: str, **fields: Any) -> Scenario:
    return compared(**fields).scenarios[ScenarioKey(key)]


def options(one: Scenario) -> set[str]:
    return {line.purchase_option for line in one.lines if line.category != "tax"}


def test_an_advised_plan_that_no_scenario_had_keeps_what_is_proven_of_them() -> None:
    """It was solved with little work, which alone left a gap of 28 %."""
    found = solved(REQUESTS["hours, commitments with upfront, tax, falling prices"], MARKET)
    before, after = (one[ScenarioKey.CLOUD] for one in (found.solved_scenarios, found.scenarios))
    assert after.lines != before.lines
    assert after.bound >= before.bound * (1 - 1e-9)
    assert after.gap < 0.01


def test_no_plan_is_proven_where_a_scenario_has_a_cheaper_one() -> None:
    """The advised plan was the cheapest of a search without what is cheaper as stated."""
    google = {"provider": "gcp", "region": "us-central1"}
    prices = offer("40", **google), offer("20", count=4, **google), offer("39")
    credits = [{"label": "Start", "amount": 100_000, "provider": "gcp", "expires": "2027-06"}]
    alone = {"on_prem": {"servers": []}, "existing": {"credits": credits}, "horizon_months": 12}
    found = compared(catalog(*prices), **alone)
    for key in (ScenarioKey.ON_DEMAND, ScenarioKey.CLOUD):
        before, after = (one[key] for one in (found.solved_scenarios, found.scenarios))
        assert after.lines == found.scenarios[ScenarioKey.HYBRID].lines != before.lines
        assert after.bound == before.bound <= before.cost < after.cost


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("key", "allowed"),
    [
        ("on_demand", {"on_demand"}),
        ("cloud", {"reserved", "on_demand", "spot"}),
        ("on_prem", {"owned", "on_demand"}),
    ],
)
def test_a_scenario_uses_what_its_name_says(key: str, allowed: set[str]) -> None:
    assert options(scenario(key, hours=NODE)) <= allowed


def test_spot_is_topped_up_where_a_limit_requires_it() -> None:
    """Of five machines around the clock two may be spot."""
    whole = scenario("cloud", hours=NODE * 5, constraints={"max_spot_share": 1})
    capped = scenario("cloud", hours=NODE * 5, constraints={"max_spot_share": 0.4})
    assert options(whole) == {"spot"}
    assert options(capped) == {"spot", "reserved"}
    spot = sum(r.hours_used for r in capped.capacity if r.source.endswith(":spot"))
    assert spot == pytest.approx(0.4 * 5 * NODE * 24, rel=1e-6)


@pytest.mark.parametrize(
    ("start", "runs_already", "is_refused"),
    [("2026-10", False, True), ("2026-10", True, False), ("2026-11", False, False)],
)
def test_a_start_before_this_month_is_refused_unless_the_plan_runs_already(
    start: str, runs_already: bool, is_refused: bool
) -> None:
    request = request_of(start=start, horizon_months=3)
    with pytest.raises(InvalidInput, match="2026-11 or later") if is_refused else nullcontext():
        compare(request, CATALOG, today=TODAY, runs_already=runs_already)


def test_a_monthly_budget_of_nothing_is_answered_with_the_least() -> None:
    one = scenario("on_demand", constraints={"monthly_budget": 0})
    assert not one.feasible
    assert one.why_not[0].startswith("it takes a monthly budget of at least ")
    assert one.why_not[0].endswith(" USD instead of 0 USD")


def test_purchase_options_limit_what_is_rented() -> None:
    found = compared(constraints={"purchase_options": ["reserved"]})
    assert not found.scenarios[ScenarioKey.ON_DEMAND].feasible
    assert (
        "the choice of purchase options leaves out on demand"
        in found.scenarios[ScenarioKey.ON_DEMAND].why_not
    )
    assert options(found.scenarios[ScenarioKey.CLOUD]) == {"reserved"}


def test_a_larger_peak_takes_more_nodes_for_fewer_hours() -> None:
    wide = {
        "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 4000,
        "peak_accelerators": 40,
    }  # fmt: skip
    one = scenario("on_demand", workload=wide)
    assert {row.accelerators for row in one.capacity} == {40.0}
    # Five machines of 8 for 4,000 / 40 = 100 h a month.
    assert one.total_cost == 5 * 100 * 24 * Decimal("55.04")


def test_other_accelerators_serve_by_their_throughput() -> None:
    slug = "nvidia-a100-80gb-sxm"
    prices = catalog(offer("50"), offer("10", accelerator=slug, instance_type="p4de.24xlarge"))
    both = compared(
        prices, on_prem={"servers": []}, constraints={"accelerators": [H100, "A100-80GB"]}
    ).as_dict()
    candidates = {c["accelerator"]: c["relative_throughput"] for c in both["demand"]["candidates"]}
    assert 0.3 < candidates[slug] < 0.8
    assert {x["accelerator"] for x in both["offers"].values()} == {slug}
    machines = ceil(4000 / 730 / (8 * candidates[slug]))
    total = machines * 730 * 24 * 10
    assert machines == 2
    assert float(both["scenarios"][0]["total_cost"]) == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize(
    ("limits", "share"),
    [
        ({}, 0.0),
        ({"min_providers": 2}, 0.25),
        ({"min_providers": 2, "min_provider_share": 0.4}, 0.4),
        ({"min_providers": 3}, 2 / 6),
    ],
)
def test_each_of_so_many_providers_has_a_real_share_of_the_work(
    limits: dict[str, Any], share: float
) -> None:
    """Half of an equal share unless another is given: of one machine of eight, at 40 an hour or at
    60 with the two dearer clouds."""
    prices = catalog(
        offer("40"), *(offer("60", provider=name, region=name) for name in ("gcp", "azure"))
    )
    plan = compared(prices, 5840, constraints=limits).scenarios[ScenarioKey.ON_DEMAND]
    assert float(plan.total_cost) == pytest.approx(24 * 730 * (40 + 20 * share), rel=1e-6)
