"""The questions of the start page lead to the plan that they ask for."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape
from typing import Any

from django.http import QueryDict

from planner.contract.request.comparison import read_request
from planner.web.common.fields import FIELD_TYPES
from planner.web.common.query_codec import read, with_start

_INPUT = re.compile(r'<input[^>]*?name="([^"]+)"[^>]*?>')
_VALUE = re.compile(r'value="([^"]*)"')
_SELECT = re.compile(r'<select[^>]*?name="([^"]+)"[^>]*>(.*?)</select>', re.DOTALL)
_OPTION = re.compile(r'<option value="([^"]*)"( selected)?>')


def questions(client: Any, work: str = "train") -> dict[str, str]:
    """What the form holds before anybody types: name → value."""
    text = client.get("/", {"work": work}).content.decode()
    form = text[text.index('id="start-form"') : text.index("Compare renting and owning")]
    boxes = {m[1]: _VALUE.search(m[0]) for m in _INPUT.finditer(form)}
    fields = {name: unescape(value[1]) if value else "" for name, value in boxes.items()}
    return fields | {name: _chosen(options) for name, options in _SELECT.findall(form)}


def _chosen(options: str) -> str:
    """The option that is selected, else the first."""
    values = _OPTION.findall(options)
    return unescape(max(values, key=lambda one: bool(one[1]))[0])


def asked(client: Any, work: str = "train", **changes: str) -> Any:
    fields = questions(client, work)
    assert set(changes) <= set(fields)
    query = QueryDict(mutable=True)
    query.update(fields | changes)
    return read_request(read(with_start(query), FIELD_TYPES))


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


def test_known_hours_are_asked_for_in_hours(client, prices) -> None:
    request = asked(client, "hours", **{"workload.hours_per_month": "1460"})
    workload: Any = request.workload
    assert (workload.kind, workload.accelerator) == ("accelerator_hours", "nvidia-h100-80gb-sxm")
    assert set(workload.hours_per_month) == {1460}
    assert request.horizon_months == 12


def test_servers_at_hand_are_named_with_how_many_there_are(client, prices) -> None:
    row = "on_prem.already_owned.0"
    owned = {f"{row}.server": "dgx-h100", f"{row}.units": "2", f"{row}.bought": "2025-06"}
    (row,) = asked(client, **owned).on_prem.already_owned
    assert (row.server, row.units) == ("dgx-h100", 2)


def test_what_is_to_be_served_is_asked_in_requests(client, prices) -> None:
    answers = {"workload.requests_per_second": "1,5", "workload.peak_requests_per_second": "12"}
    request = asked(client, "serve", **answers, **{"workload.engine": "tuned"})
    workload: Any = request.workload
    assert (workload.kind, workload.model, workload.engine) == ("serving", "7B", "tuned")
    assert (workload.requests_per_second, workload.peak_requests_per_second) == (1.5, 12)
    assert (workload.prompt_tokens, workload.answer_tokens) == (500, 250)
    assert request.horizon_months == 12


def test_the_budget_is_in_the_currency_that_is_chosen(client, prices) -> None:
    budget = {"constraints.total_budget": "300.000,50"}
    assert asked(client, **budget).currency == "USD"
    request = asked(client, **budget, currency="EUR")
    assert (request.currency, request.constraints.total_budget) == ("EUR", Decimal("300000.50"))
