"""Support plans, people, insurance and other costs in the files that finance reads."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports.csv_export import Context
from planner.exports.focus import focus_rows
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

KEYS = [ScenarioKey.ON_DEMAND, ScenarioKey.COMMITTED, ScenarioKey.ON_PREM, ScenarioKey.HYBRID]


@cache
def answer() -> ComparisonAnswer:
    """A commitment of three years in a plan of two, servers, and costs beside both."""
    term = {"term_months": 36, "payment_option": "partial_upfront", "upfront": Decimal(200_000)}
    return compared(
        catalog(offer("55.04"), offer("8.00", "reserved", **term)),
        hours=5840,
        on_prem={"servers": [{"server": "dgx-h100"}], "insurance_rate_per_year": 0.01},
        finance={"cloud_support_rate": 0.05, "cloud_staff_fte_per_accelerator": 0.00125},
        other_costs=[
            {"label": "Move", "amount": 40_000, "scenarios": ["on_prem"]},
            {"label": "Link", "per_month": 1_500},
        ],
    ).answer


def context(key: ScenarioKey) -> Context:
    return Context(name="Plan", team="Alpha", project="Model A", scenario=key.value)


@pytest.mark.parametrize("key", KEYS)
def test_focus_books_every_cost_once(key: ScenarioKey) -> None:
    scenario = answer().by_key[key]
    rows = list(focus_rows(answer(), context(key)))
    for column in ("BilledCost", "EffectiveCost"):
        assert sum((row[column] for row in rows), Decimal(0)) == scenario.total_cost
    by_category = {
        category: sum(
            (row["BilledCost"] for row in rows if row["x_Category"] == category), Decimal(0)
        )
        for category in ("support", "staff", "other", "insurance")
    }
    assert by_category == {
        category: scenario.cost_by_category.get(category, Decimal(0)) for category in by_category
    }
    assert by_category["other"] == 36_000 + (40_000 if key is ScenarioKey.ON_PREM else 0)


def test_the_commitment_owes_its_share_of_the_support_plan_too() -> None:
    scenario = answer().by_key[ScenarioKey.COMMITTED]
    late = [x for x in scenario.lines if x.month >= 24]
    assert {x.category.value for x in late} >= {"support"}
    assert sum((x.amount for x in late), Decimal(0)) == scenario.owed_after
    assert scenario.within_horizon + scenario.owed_after == scenario.total_cost
