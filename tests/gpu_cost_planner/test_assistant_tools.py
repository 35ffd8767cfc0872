"""The tools of an assistant: schemas of the contract, the verdict first, refusals that help."""

import datetime as dt
import json
from typing import Any

import pytest

from gpu_cost_planner import compare, plan_portfolio
from gpu_cost_planner.assistants.tools import MAX_OFFERS, TOOLS, answer_offers
from planner.contract.request.comparison import ComparisonRequest
from planner.exports import TABLES
from pricing.bundled.catalog import bundled_catalog
from tests.gpu_cost_planner.requests import generated
from tests.planner.costing.market_of import catalog, offer
from tests.properties import one_in

BY_NAME = {tool.name: tool for tool in TOOLS}
EUROPE: dict[str, Any] = {
    "start": "2027-01",
    "horizon_months": 12,
    "workload": {
        "kind": "accelerator_hours",
        "accelerator": "H100",
        "hours_per_month": 5840,
        "peak_accelerators": 8,
    },
    "constraints": {"geographies": ["europe"]},
    "sensitivity": False,
    "cheaper_if": False,
}
"""8 H100 for a year in Europe."""
WHOLE = {"sensitivity": True, "cheaper_if": True}


def call(tool: str, /, **arguments: Any):
    return BY_NAME[tool].call(arguments, bundled_catalog())


def test_schemas_name_the_fields_of_the_contract_and_say_what_they_are() -> None:
    schema = BY_NAME["compare"].schema
    assert schema["properties"].keys() == {"question", *ComparisonRequest.model_fields}
    assert all(tool.schema["type"] == "object" and tool.description for tool in TOOLS)
    for name in ("compare", "estimate", "portfolio"):
        assert call("fields", request=name).text.startswith(("Compar", "Estim", "Portf"))
    workload = call("fields", request="compare", section="workload")
    assert "AcceleratorHours.hours_per_month: h; one value counts for every month." in workload.text
    assert workload.data["Training"]["properties"]["parameters"]


def test_a_line_is_the_request_that_it_asks_for() -> None:
    line = "8 H100 for 12 months from 2027-01 in Europe"
    total = call("compare", question=line).data["verdict"]["total"]
    assert total == compare(line).to_json()["verdict"]["total"]
    assert call("explain", question=line, table="lines").data["rows"]


def test_one_call_gives_the_verdict_first() -> None:
    answer = call("compare", **EUROPE)
    whole = compare(EUROPE)
    assert not answer.is_error
    assert answer.text.splitlines()[0] == whole.answer.advice[0]
    assert len(answer.text) < 5000
    assert answer.data["verdict"] == whole.to_json()["verdict"]
    json.dumps(answer.data, allow_nan=False)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(4))
def test_figures_are_those_of_the_library(seed: int) -> None:
    request = generated(seed)
    data, whole = call("compare", **request).data, compare(request).to_json()
    for name in ("verdict", "recommendation", "cheaper_if", "warnings", "currency"):
        assert data[name] == whole[name]
    kept = [{name: row[name] for name in data["scenarios"][0]} for row in whole["scenarios"]]
    assert data["scenarios"] == kept


def test_a_refusal_says_which_fields_to_change() -> None:
    answer = call("compare", horizon_months=200)
    assert answer.is_error
    assert "horizon_months: 200 is not allowed; must be at most 120" in answer.text
    assert [error["field"] for error in answer.data["errors"]] == ["horizon_months", "workload"]


@pytest.mark.parametrize("table", one_in(4, TABLES))
def test_every_table_is_given_on_demand(table: str) -> None:
    answer = call("explain", request=EUROPE | WHOLE, table=table)
    assert not answer.is_error
    assert answer.text.splitlines()[0].split(",")[0]
    assert answer.data["shown"] <= 200


def test_a_long_table_says_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_cost_planner.assistants.tools.MOST_ROWS", 2)
    answer = call("explain", request=EUROPE, table="assumptions")
    assert answer.text.endswith(f"and {answer.data['rows'] - 2} more rows")


def test_a_portfolio_says_what_each_project_pays() -> None:
    projects = [{"name": name, "workload": EUROPE["workload"]} for name in ("Speech", "Vision")]
    answer = call("portfolio", start="2027-01", horizon_months=12, projects=projects)
    whole = plan_portfolio({"start": "2027-01", "horizon_months": 12, "projects": projects})
    assert answer.text.startswith(f"{whole.headline}\nFor Speech, sign ")
    assert "\n\nSpeech: It pays " in answer.text
    assert answer.data["projects"] == whole.to_json()["projects"]
    assert "lines" not in answer.data


def test_a_bill_becomes_a_request_that_compares() -> None:
    table = "month,accelerator,accelerator_hours\n2026-09,H100,5000\n2026-10,H100,5840\n"
    answer = call("usage", content=table, by="month")
    assert "2026-10: 5,840 accelerator-hours" in answer.text
    assert not call("compare", **answer.data["request"]).is_error


def test_offers_are_listed_with_their_day() -> None:
    answer = call("offers", accelerator="H100-80GB-SXM", geography=["europe"], limit=3)
    assert len(answer.data["results"]) == 3
    assert "as of 20" in answer.text
    json.dumps(answer.data, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("explain", {"request": EUROPE, "table": "everything"}, "table"),
        ("explain", {"table": "lines"}, "request"),
        ("explain", {"request": EUROPE, "table": "lines", "scenario": "x"}, "scenario"),
        ("explain", {"request": EUROPE, "tables": "lines"}, "tables"),
        ("offers", {"limit": MAX_OFFERS + 1}, "limit"),
        ("offers", {"limit": True}, "limit"),
        ("offers", {"accelerator": 17}, "accelerator"),
        ("offers", {"provider": ["azur"]}, "provider"),
        ("offers", {"min_accelerators": "8"}, "min_accelerators"),
        ("offers", {"sold_now": "yes"}, "sold_now"),
        ("offers", {"colour": "blue"}, "colour"),
        ("compare", {"question": "8 H100 for ever"}, "question"),
        ("compare", {"question": "8 H100 for 1 year", "currency": "EUR"}, "question"),
        ("portfolio", {}, "projects"),
        ("usage", {}, "content"),
        ("fields", {"request": "offers"}, "request"),
        ("fields", {"request": "compare", "section": "x"}, "section"),
        ("estimate", {}, "workload"),
        ("compare", {"name": "\ud800"}, "name"),
    ],
)
def test_what_cannot_be_used_is_refused_by_field(
    name: str, arguments: dict[str, Any], field: str
) -> None:
    answer = call(name, **arguments)
    assert answer.is_error
    assert field in answer.text


def test_days_of_offers_are_text() -> None:
    absent = dt.date(2026, 11, 23)
    data = answer_offers(catalog(offer("50", absent_since=absent)), [0], 1).data
    (row,) = json.loads(json.dumps(data))["results"]
    assert (row["as_of"], row["absent_since"]) == ("2026-06-18", "2026-11-23")
