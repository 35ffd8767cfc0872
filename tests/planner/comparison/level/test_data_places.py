"""Data by tier and place, at home and away: the guide's example, and plain arithmetic at random."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.request.comparison import read_request
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog, Region
from tests.planner.costing.market_of import TODAY

PAGE = (Path(settings.BASE_DIR) / "docs" / "guides" / "data.md").read_text()
REQUEST: dict[str, Any] = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
BRIEF = {"sensitivity": False, "cheaper_if": False, "risk": {"samples": 100}}
BOX = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
       "unit_price": 1000, "running_cost_per_hour": 1}  # fmt: skip


def answer(data: dict[str, Any] | None = None, **fields: Any) -> ComparisonAnswer:
    request = REQUEST | BRIEF | fields
    if data is not None:
        request["data"] = data
    return compare(request, Catalog.of([]), today=TODAY)


def says(amount: object) -> bool:
    return f"{amount:,.2f}".removesuffix(".00") + " USD" in PAGE


def offer(label: str, place: str, price: float) -> dict[str, Any]:
    return REQUEST["custom_offers"][0] | {
        "label": label, "provider": place, "region": place, "usd_per_hour": price
    }  # fmt: skip


def test_the_work_stays_where_the_data_is() -> None:
    plan = answer().by_key["on_demand"]
    assert {line.provider for line in plan.lines if line.category == "compute"} == {"north"}
    assert says(plan.total_cost)


def test_away_everything_is_counted() -> None:
    dear = REQUEST["custom_offers"][0] | {"usd_per_hour": 9000}
    away = answer(custom_offers=[dear, REQUEST["custom_offers"][1]]).by_key["on_demand"]
    assert says(away.total_cost)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"transfer_gib_per_month": 1}, "data.transfer_gib_per_month"),
        ({"home": {"provider": "north"}, "storage_gib": 1}, "data.home.region"),
        ({"home": {"provider": "on_prem"}}, "data.storage_gib"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(data: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_request(REQUEST | {"data": data})
    assert field in str(refused.value)


@pytest.mark.parametrize(
    ("home", "says"),
    [
        ({"provider": "nowhere", "region": "n1"}, "data.home.provider: 'nowhere' is not known; "
         "allowed are aws, north, south, on_prem"),
        ({"provider": "aws", "region": "n1"}, "data.home.region: 'n1' is not known; "
         "allowed are us-east-1"),
        ({"provider": "south", "region": "n1"}, "data.home.region: 'n1' is not known; "
         "allowed are s1"),
    ],
)  # fmt: skip
def test_data_lives_at_a_place_that_is_known(home: dict[str, Any], says: str) -> None:
    catalog = replace(Catalog.of([]), regions={("aws", "us-east-1"): Region("north-america", "US")})
    data = {**REQUEST["data"], "home": home}
    with pytest.raises(InvalidInput) as refused:
        compare(REQUEST | BRIEF | {"data": data}, catalog, today=TODAY)
    assert str(refused.value) == says
