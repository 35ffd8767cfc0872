"""Data by tier and place, at home and away: the guide's example, and plain arithmetic at random."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.conf import settings

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.request.comparison import read_request
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog, Region
from tests.planner.costing.market_of import TODAY
from tests.properties import one_in

PAGE = (Path(settings.BASE_DIR) / "docs" / "guides" / "data.md").read_text()
REQUEST: dict[str, Any] = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
BRIEF = {"sensitivity": False, "cheaper_if": False, "risk": {"samples": 100}}
GIGABIT = 8 * 1024**3 / 1e9
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
    away = answer(custom_offers=REQUEST["custom_offers"][1:]).by_key["on_demand"]
    assert says(away.total_cost)
    waiting = [line for line in away.lines if "wait for data" in line.label]
    assert says(sum(line.amount for line in waiting))


def tiers(random: Random, item: str, place: str | None) -> list[dict[str, Any]]:
    where = {} if place is None else {"provider": place}
    first = {"item": item, **where, "price_per_gib": round(random.uniform(0, 0.2), 3)}
    second = first | {"above_gib": random.choice([100, 3000]), "price_per_gib": 0.01}
    return [first, second] if random.random() < 0.5 else [first]


def paid(prices: list[dict[str, Any]], item: str, place: str, gib: float) -> float | None:
    """Volume by volume, from the most particular prices."""
    for named in (place, None):
        own = [p for p in prices if p["item"] == item and p.get("provider") == named]
        if own:
            total, ordered = 0.0, sorted(own, key=lambda p: p.get("above_gib", 0))
            for i, tier in enumerate(ordered):
                end = ordered[i + 1]["above_gib"] if i + 1 < len(ordered) else gib
                total += max(0.0, min(gib, end) - tier.get("above_gib", 0)) * tier["price_per_gib"]
            return total
    return None


def drawn(seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    random = Random(seed)
    prices = [p for item in ("storage", "egress") for p in tiers(random, item, None)]
    for item in ("storage", "egress", "transfer", "ingest"):
        for place in ("one", "two"):
            if random.random() < 0.4:
                prices += tiers(random, item, place)
    data: dict[str, Any] = {
        "storage_gib": random.choice([10, 2000, 40_000]),
        "egress_gib_per_month": random.choice([0, 500, 9000]),
        "on_prem_storage_per_tib_month": random.choice([0, 20, 400]),
        "prices": prices,
    }
    home = random.choice([None, "one", "two", "on_prem"])
    if home is not None:
        region = {} if home == "on_prem" else {"region": home}
        data |= {"home": {"provider": home, **region}}
        if random.random() < 0.6:
            data["transfer_gbit_per_s"] = random.choice([0.5, 1, 10])
        if random.random() < 0.4:
            data["transfer_gib_per_month"] = random.choice([0, 300, 5000])
    offers = [offer("One", "one", random.choice([20, 30, 40])),
              offer("Two", "two", random.choice([20, 30, 40]))]  # fmt: skip
    return data, offers


def by_hand(data: dict[str, Any], place: str, price: float) -> float:
    """A month of eight accelerators for 365 h in one place; "" stands for the box of one's own."""
    prices, stored = data["prices"], data["storage_gib"]
    home = data.get("home", {}).get("provider")
    own = "" if home == "on_prem" else home
    moved = data.get("transfer_gib_per_month", stored)

    def keep(where: str, gib: float) -> float:
        if where == "":
            return gib / 1024 * data["on_prem_storage_per_tib_month"]
        return paid(prices, "storage", where, gib) or 0.0

    total = price * 365
    if place:
        total += paid(prices, "egress", place, data["egress_gib_per_month"]) or 0.0
    if home is None:
        return total + keep(place, stored)
    total += keep(own, stored)
    if place == own:
        return total
    out = paid(prices, "transfer", own or "on_prem", moved)
    if out is None:
        out = 0.0 if own == "" else paid(prices, "egress", own, moved) or 0.0
    into = paid(prices, "ingest", place or "on_prem", moved)
    total += keep(place, moved) + out + (into or 0.0)
    hours = moved * GIGABIT / data.get("transfer_gbit_per_s", float("inf")) / 3600
    if hours >= 730:
        return float("inf")
    return total + price * hours if place else total


@pytest.mark.parametrize("seed", one_in(5, range(60)))
def test_the_cheapest_place_by_plain_arithmetic(seed: int) -> None:
    data, offers = drawn(seed)
    plan = answer(data, custom_offers=offers).by_key["on_demand"]
    costs = [by_hand(data, one["provider"], one["usd_per_hour"]) for one in offers]
    assert plan.feasible == (min(costs) < float("inf"))
    if plan.feasible:
        assert float(plan.total_cost) == pytest.approx(min(costs), abs=0.02)


@pytest.mark.parametrize("seed", one_in(4, range(0, 60, 3)))
def test_own_servers_pay_for_data_too(seed: int) -> None:
    data, _ = drawn(seed)
    data.pop("transfer_gbit_per_s", None)
    dear = [offer("One", "one", 90_000), offer("Two", "two", 90_000)]
    box = {"servers": [BOX], "lead_time_months": 0, "spare_rate": 0, "network_storage_rate": 0,
           "residual_rate": 0}  # fmt: skip
    plan = answer(data, custom_offers=dear, on_prem=box).by_key["on_prem"]
    assert float(plan.total_cost) == pytest.approx(1000 + by_hand(data, "", 1.0), abs=0.02)


def test_commitments_away_deliver_fewer_hours() -> None:
    year = REQUEST["custom_offers"][1] | {
        "purchase_option": "reserved", "term_months": 12, "usd_per_hour": 1}  # fmt: skip
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    data = REQUEST["data"] | {"transfer_gbit_per_s": 1}
    fields = {"workload": work, "horizon_months": 12}
    plan = answer(data, custom_offers=[year, REQUEST["custom_offers"][0]], **fields)
    used = [row for row in plan.by_key["committed"].capacity if row.source.startswith("south")]
    wait = 50_000 * GIGABIT / 3600
    assert max(row.accelerators for row in used) == 16  # one machine is not enough
    for row in used:
        assert row.hours_available == pytest.approx(row.accelerators * (730 - wait), abs=0.01)
        assert row.hours_used <= row.hours_available + 0.01


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"transfer_gbit_per_s": 1}, "data.transfer_gbit_per_s"),
        ({"home": {"provider": "north"}, "storage_gib": 1}, "data.home.region"),
        ({"home": {"provider": "on_prem"}}, "data.storage_gib"),
        ({"prices": [{"item": "egress", "above_gib": 9, "price_per_gib": 1}]}, "data.prices"),
        ({"prices": [{"item": "egress", "region": "x", "price_per_gib": 1}]},
         "data.prices.0.provider"),
        ({"prices": [{"item": "egress", "price_per_gib": 1}] * 2}, "data.prices.1.above_gib"),
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
    data = {**REQUEST["data"], "home": home, "prices": []}
    with pytest.raises(InvalidInput) as refused:
        compare(REQUEST | BRIEF | {"data": data}, catalog, today=TODAY)
    assert str(refused.value) == says
