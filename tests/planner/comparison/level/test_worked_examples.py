"""The worked examples of the guide to the same rules on both sides, computed as it says."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import TODAY

PAGE = (Path(settings.BASE_DIR) / "docs" / "guides" / "level-ground.md").read_text()
SECTIONS = {part.splitlines()[0]: part for part in PAGE.split("\n## ")[1:] if "```json" in part}


def example(title: str) -> ComparisonAnswer:
    (block,) = re.findall(r"```json\n(.*?)```", SECTIONS[title], re.DOTALL)
    return compare(json.loads(block), Catalog.of([]), today=TODAY)


def sums(scenario: ScenarioAnswer) -> dict[str, Decimal]:
    return dict(scenario.cost_by_category)


def says(title: str, amount: Decimal) -> bool:
    """Whether the page states the amount, with cents where it has some."""
    text = f"{amount:,.2f}".removesuffix(".00")
    return f"{text} USD" in SECTIONS[title]


def test_every_example_is_computed() -> None:
    assert set(SECTIONS) == {
        "Support and people", "A resale without a cliff", "What no price list knows",
    }  # fmt: skip


def test_support_and_people() -> None:
    title = "Support and people"
    rent = example(title).by_key[ScenarioKey.ON_DEMAND]
    found = sums(rent)
    assert set(found) == {"compute", "support", "staff"}
    for amount in (*found.values(), rent.total_cost):
        assert says(title, amount), amount


def test_a_resale_without_a_cliff() -> None:
    title = "A resale without a cliff"
    plan = example(title).by_key[ScenarioKey.HYBRID]
    first = next(x for x in plan.lines if x.category == "residual")
    assert first.month == 24
    assert says(title, -first.amount)
    assert float(-first.amount) == pytest.approx(300_000 * 0.717**2 * 0.9, abs=0.01)


def test_what_no_price_list_knows() -> None:
    title = "What no price list knows"
    found: dict[str, Any] = {
        key.value: sums(s).get("other") for key, s in example(title).by_key.items() if s.feasible
    }
    assert says(title, found["on_demand"])
    assert found["hybrid"] - found["on_demand"] == 40_000


def test_people_by_the_day_cost_what_the_page_says() -> None:
    title = "What no price list knows"
    (block,) = re.findall(r"```json\n(.*?)```", SECTIONS[title], re.DOTALL)
    (by_day,) = re.findall(r"`(\{.*?\})`", SECTIONS[title])
    request = json.loads(block)
    request["other_costs"][0] = json.loads(by_day)
    found = compare(request, Catalog.of([]), today=TODAY)
    for scenario, expected in zip(found.scenarios, example(title).scenarios, strict=True):
        assert scenario.feasible == expected.feasible
        if scenario.feasible:
            assert scenario.total_cost == expected.total_cost
