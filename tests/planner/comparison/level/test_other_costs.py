"""Costs beside machines: in the lines, the totals, the budgets and the risk of their scenarios."""

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.scenario import least_changes
from pricing.common.invalid_input import InvalidInput
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer

MARKET = catalog(offer("50"), offer("30", "reserved", term_months=12, payment_option="no_upfront"))
SERVER = {
    "server": "custom", "accelerator": H100, "accelerator_count": 8, "unit_price": 100_000,
    "running_cost_per_hour": 5,
}  # fmt: skip
MOVE = {"label": "Engineers who move the data", "amount": 40_000, "month": 2,
        "scenarios": ["on_prem", "hybrid"]}  # fmt: skip
LINK = {"label": "Dedicated link", "per_month": 1_500, "month": 1}
LICENCE = {"label": "Software licence", "per_accelerator_hour": "0.51"}


def asked(*costs: dict[str, Any], **fields: Any) -> Compared:
    plain = {"horizon_months": 12, "on_prem": {"servers": [SERVER]}}
    return compared(MARKET, hours=4000, other_costs=list(costs), **(plain | fields))


def other(found: Compared, key: ScenarioKey) -> list[tuple[int, str, Decimal]]:
    lines = found.scenarios[key].lines
    return [(x.month, x.label, x.amount) for x in lines if x.category is Category.OTHER]


def test_each_kind_falls_due_in_its_months() -> None:
    found = asked(MOVE, LINK, LICENCE)
    lines = other(found, ScenarioKey.HYBRID)
    assert [x for x in lines if x[1].startswith("Engineers")] == [(2, MOVE["label"], 40_000)]
    assert [x[0] for x in lines if x[1] == "Dedicated link"] == list(range(1, 12))
    assert {x[2] for x in lines if x[1] == "Software licence"} == {Decimal("2040.00")}  # 4000 h
    assert sum(x[2] for x in lines) == 40_000 + 11 * 1_500 + 12 * 2_040


def test_a_scenario_has_only_its_own() -> None:
    plain, found = asked(), asked(MOVE, LINK)
    for key, scenario in found.scenarios.items():
        if scenario.feasible:
            owns = key in (ScenarioKey.ON_PREM, ScenarioKey.HYBRID)
            added = 11 * 1_500 + (40_000 if owns else 0)
            assert scenario.total_cost - plain.scenarios[key].total_cost == added, key
            by_category = found.answer.by_key[key].cost_by_category
            assert by_category["other"] == added
            assert sum(by_category.values()) == scenario.total_cost


def test_they_turn_the_advice_where_they_outweigh_it() -> None:
    dear = MOVE | {"amount": 5_000_000, "month": 0}
    advised = asked(dear).recommendation.scenario
    assert advised not in (ScenarioKey.ON_PREM, ScenarioKey.HYBRID)


def test_they_count_towards_budgets() -> None:
    """A month's budget that the rent keeps to and the rent with the link does not."""
    rent = asked()
    most = max(rent.scenarios[ScenarioKey.ON_DEMAND].cash_per_month_float)
    limit = {"constraints": {"monthly_budget": float(most) + 100}}
    assert asked(**limit).scenarios[ScenarioKey.ON_DEMAND].feasible
    assert not asked(LINK, **limit).scenarios[ScenarioKey.ON_DEMAND].feasible


def test_the_least_budget_is_that_of_a_way_without_them() -> None:
    """Owning, and owning and renting together, pay for the move: committing does not."""
    most = asked(MOVE, on_prem={"servers": []}).scenarios[ScenarioKey.CLOUD].total_cost
    found = asked(MOVE, on_prem={"servers": []}, constraints={"total_budget": float(most) - 1})
    (needed,) = least_changes(found.answer.by_key)
    assert needed.required_value == pytest.approx(float(most), abs=1)
    assert any(needed.sentence in sentence for sentence in found.answer.recommendation.because)
    (widest,) = found.scenarios[ScenarioKey.HYBRID].relaxations
    assert widest.required_value == pytest.approx(float(most) + 40_000, abs=1)


def test_the_risk_has_them_in_every_outcome() -> None:
    owning = {"servers": [SERVER], "lead_time_months": 3}
    risk = {"risk": {"samples": 1000}, "on_prem": owning}
    plain, found = asked(**risk), asked(MOVE | {"month": 0, "amount": 4_000}, LINK, **risk)
    assert plain.risk
    assert found.risk
    for key in (ScenarioKey.ON_DEMAND, ScenarioKey.ON_PREM):
        added = found.scenarios[key].net_present_cost - plain.scenarios[key].net_present_cost
        moved = found.risk.mean[key] - plain.risk.mean[key]
        assert moved == pytest.approx(float(added), rel=0.02)  # a late start is worth less today


@pytest.mark.parametrize(
    ("cost", "field"),
    [
        ({"label": "none"}, "other_costs.0.amount"),
        ({"label": "two", "amount": 1, "per_month": 2}, "other_costs.0.per_month"),
        ({"label": "late", "amount": 1, "month": 12}, "other_costs.0.month"),
        ({"label": "free", "amount": -1}, "other_costs.0.amount"),
        ({"label": "days", "days": 3}, "other_costs.0.per_day"),
        ({"label": "rate", "per_day": 800}, "other_costs.0.days"),
        ({"label": "both", "amount": 1, "days": 3, "per_day": 800}, "other_costs.0.days"),
        ({"label": "none", "days": 0, "per_day": 800}, "other_costs.0.days"),
        ({"label": "whose", "amount": 1, "scenarios": ["lease"]}, "other_costs.0.scenarios.0"),
    ],
)
def test_what_is_refused(cost: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        asked(cost)
    assert caught.value.field == field
