"""What moves the answer, and whether the advice would change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.sensitivity import cost_plans
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import CATALOG, TODAY, request_of

SERVERS = {"servers": [{"server": "dgx-h100"}]}


def rows(**fields: Any) -> dict[str, dict[str, Any]]:
    found = compared(on_prem=SERVERS, sensitivity=True, **fields).as_dict()["sensitivity"]
    return {row["field"]: row for row in found}


@pytest.fixture(scope="module")
def plain() -> dict[str, dict[str, Any]]:
    return rows(constraints={"purchase_options": ["on_demand"]}, hours=8 * 600)


def test_the_plans_cost_the_same_without_a_change() -> None:
    comparison = compared(on_prem=SERVERS)
    plans = [s for s in comparison.scenarios.values() if s.feasible]
    for plan, cost in zip(plans, cost_plans(plans, comparison.inputs), strict=True):
        assert cost == pytest.approx(float(plan.net_present_cost), rel=1e-6, abs=1)


def test_the_furthest_reaching_figure_comes_first(plain: dict[str, dict[str, Any]]) -> None:
    reach = [
        abs(float(r["net_present_cost_at_high"]) - float(r["net_present_cost_at_low"]))
        for r in plain.values()
    ]
    assert reach == sorted(reach, reverse=True)


def test_the_discount_rate_moves_the_present_alone(plain: dict[str, dict[str, Any]]) -> None:
    row = plain["finance.discount_rate_per_year"]
    assert row["total_at_low"] == row["total_at_high"]
    assert row["net_present_cost_at_low"] != row["net_present_cost_at_high"]


def test_a_default_moves_between_its_published_ends(plain: dict[str, dict[str, Any]]) -> None:
    row = plain["on_prem.electricity_per_kwh"]
    assert (row["low"], row["high"]) == (0.0575, 0.2391)


def test_a_figure_given_moves_by_a_fifth() -> None:
    given = compared(
        on_prem=SERVERS | {"electricity_per_kwh": 0.2}, hours=8 * 600, sensitivity=True
    ).as_dict()
    row = next(r for r in given["sensitivity"] if r["field"] == "on_prem.electricity_per_kwh")
    assert (row["low"], row["high"]) == (pytest.approx(0.16), pytest.approx(0.24))


def test_a_row_is_what_the_engine_answers_at_that_value() -> None:
    """Renting on demand alone: the same request at rents 20 % up."""
    alone = {"on_prem": {"servers": []}, "constraints": {"purchase_options": ["on_demand"]}}
    row = next(
        r
        for r in compared(sensitivity=True, **alone).as_dict()["sensitivity"]
        if r["field"] == "rental_prices"
    )
    dearer = compare(
        request_of(price_adjustments=[{"multiplier": 1.2}], **alone), CATALOG, today=TODAY
    ).to_json()
    assert float(row["total_at_high"]) == pytest.approx(
        float(dearer["scenarios"][0]["total_cost"]), abs=0.5
    )


def test_the_advice_may_turn() -> None:
    found = compared(
        on_prem=SERVERS,
        hours=8 * 430,
        sensitivity=True,
        constraints={"purchase_options": ["on_demand"]},
    ).as_dict()
    cheapest = {r["cheapest_at_low"] for r in found["sensitivity"]} | {
        r["cheapest_at_high"] for r in found["sensitivity"]
    }
    assert len(cheapest) > 1


def test_a_plan_that_only_rents_costs_the_same_shared_and_alone() -> None:
    comparison = compared(on_prem=SERVERS)
    plans = [s for s in comparison.scenarios.values() if s.feasible]
    cost_plans(plans, comparison.inputs)
    for field, value in (("pue", 2.0), ("useful_life_months", 30.0), ("tax_rate", 0.2)):
        shared = comparison.inputs.with_assumption(field, value)
        alone = replace(shared)  # nothing worked out yet
        nominal = replace(shared.calendar, discount_rate_per_year=0.0)
        assert cost_plans(plans, shared) == cost_plans(plans, alone)
        assert cost_plans(plans, shared, nominal) == cost_plans(plans, alone, nominal)
    more, alone = (comparison.inputs.with_demand(1.3) for _ in range(2))
    vars(alone).pop("worked_out_from_rentals", None)
    assert cost_plans(plans, more) == cost_plans(plans, replace(alone))


def test_servers_in_place_are_in_the_cost_of_a_plan_that_rents_beside_them() -> None:
    box = {"server": "dgx-h100", "units": 1, "bought": "2026-01"}
    for fields in ({"on_prem": {"already_owned": [box]}}, {"data": {"storage_gib": 9000}}):
        comparison = compared(**fields)
        rent = [comparison.scenarios[ScenarioKey.ON_DEMAND]]
        before = cost_plans(rent, comparison.inputs)
        changed = comparison.inputs.with_assumption("electricity_per_kwh", 1.0)
        assert cost_plans(rent, changed) == cost_plans(rent, replace(changed))
        assert (cost_plans(rent, changed) != before) is ("on_prem" in fields)
