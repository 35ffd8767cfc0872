"""The questions of the start page lead to the plan that they ask for."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.http import QueryDict

from planner.contract.request.comparison import read_request
from planner.web.common.form_fields import FIELD_TYPES
from planner.web.common.query_codec import read, with_start
from planner.web.market.lowest_prices import find_lowest_price
from pricing.market.offers import PurchaseOption
from tests.planner.costing.market_of import catalog, offer

_INPUT = re.compile(r'<input[^>]*?name="([^"]+)"[^>]*?>')
_VALUE = re.compile(r'value="([^"]*)"')
_SELECT = re.compile(r'<select[^>]*?name="([^"]+)"[^>]*>\s*<option value="([^"]*)"')


def questions(client: Any) -> dict[str, str]:
    """What the form holds before anybody types: name → value."""
    text = client.get("/").content.decode()
    form = text[text.index('action="/plan/"') : text.index("Compare renting and owning")]
    boxes = {m[1]: _VALUE.search(m[0]) for m in _INPUT.finditer(form)}
    fields = {name: unescape(value[1]) if value else "" for name, value in boxes.items()}
    return fields | {name: unescape(value) for name, value in _SELECT.findall(form)}


def asked(client: Any, **changes: str) -> Any:
    fields = questions(client)
    assert set(changes) <= set(fields)
    query = QueryDict(mutable=True)
    query.update(fields | changes)
    return read_request(read(with_start(query), FIELD_TYPES))


def test_as_it_stands_it_asks_for_one_run_of_a_7b_within_a_year(client, prices) -> None:
    request = asked(client)
    workload: Any = request.workload
    assert (workload.parameters, workload.tokens) == (7e9, 140e9)
    assert [run.count for run in workload.runs] == [1]
    assert (request.start, request.horizon_months) == (workload.runs[0].start, 12)
    assert request.constraints.total_budget is None
    assert workload.interruptible is None


def test_the_plan_begins_with_the_work_where_no_other_start_is_named(client, prices) -> None:
    runs = {"workload.runs.0.start": "2028-01", "workload.runs.0.deadline": "2028-12"}
    request = asked(client, **runs)
    assert (f"{request.start:%Y-%m}", request.horizon_months) == ("2028-01", 12)
    answer = client.get("/plan/", {**questions(client), **runs, "workload.runs.1.start": "2027-10"})
    assert "start=2027-10" in answer["Location"]
    kept = client.get("/plan/", {"start": "2027-09", **runs})
    assert kept.status_code != 302


def test_twice_in_the_eu_with_a_budget(client, prices) -> None:
    answers = {
        "workload.model": "Llama-3.1-8B", "workload.runs.0.count": "2",
        "constraints.geographies": "eu", "constraints.total_budget": "300,000",
        "workload.interruptible": "true",
    }  # fmt: skip
    request = asked(client, **answers)
    workload: Any = request.workload
    assert (round(workload.parameters / 1e9), workload.runs[0].count) == (8, 2)
    assert request.constraints.geographies == ("eu",)
    assert request.constraints.total_budget == 300_000
    assert workload.interruptible


def test_an_equal_price_is_shown_in_the_region_rather_than_a_zone_beside_it() -> None:
    market = catalog(offer("40", region="us-east-1-atl-1"), offer("40"), offer("50"))
    slug, option = "nvidia-h100-80gb-sxm", PurchaseOption.ON_DEMAND
    found, usd = find_lowest_price(market.offers, slug, option)
    assert found is not None
    assert (found.region, usd) == ("us-east-1", 5)
