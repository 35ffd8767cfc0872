"""Cells and sheets of a workbook, read back by another library: names, and ids beside them."""

import io
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import openpyxl
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.scenario import Purchase
from planner.contract.figures import verdict_facts
from planner.contract.labels import SCENARIO_TITLES, cloud_title, traits
from planner.exports.csv_export import Context
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.exports.workbook import _source, as_workbook
from tests.planner.exports.answers import KEYS, answer, plain_book, typed
from tests.planner.exports.test_tables import REQUEST, sheets
from tests.planner.portfolio.portfolios import H100, burst, planned, project, relay


def test_a_field_comes_from_the_nearest_whole_that_the_team_gave() -> None:
    sources = {"a": "far", "a.b": "near"}
    assert [_source(name, sources) for name in ("a.b.c", "a.b", "a.x", "b")] == [
        "near", "near", "far", "",
    ]  # fmt: skip


def test_what_is_left_of_each_budget_is_a_fact() -> None:
    assert typed().verdict is not None
    left = {
        ("total", None): (5, ""), ("capital", None): (6, ""), ("capital", 2027): (8, ""),
        ("monthly", None): (-7, "Over by 7."),
    }  # fmt: skip
    budget = tuple(
        SimpleNamespace(kind=kind, fiscal_year=year, headroom=Decimal(rest), sentence=sentence)
        for (kind, year), (rest, sentence) in left.items()
    )
    verdict = typed().verdict.model_copy(update={"budget": budget})
    facts = verdict_facts(typed().model_copy(update={"verdict": verdict}))
    assert facts[-5:] == [
        ("Budget, left", 5, "money"), ("Capital budget, left", 6, "money"),
        ("Capital budget of fiscal year 2027, left", 8, "money"),
        ("Monthly budget, left", -7, "money"), ("Monthly budget, in words", "Over by 7.", ""),
    ]  # fmt: skip


def test_the_summary_says_which_total_is_advised_and_which_may_not_be() -> None:
    found = typed()
    refused = {"allowed": False, "why_not_allowed": "It saves too little."}
    bars = lambda one: one.key is ScenarioKey.ON_DEMAND  # noqa: E731
    scenarios = [one.model_copy(update=refused) if bars(one) else one for one in found.scenarios]
    answer = found.model_copy(update={"scenarios": tuple(scenarios)})
    sheet = openpyxl.load_workbook(io.BytesIO(as_workbook(answer, Context())))["Summary"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(max_col=5)]
    advice = {row[0]: row[4] for row in rows if row[0] in KEYS}
    assert advice[SCENARIO_TITLES[answer.recommendation.scenario]] == "advised"
    barred = {SCENARIO_TITLES[one.key]: one for one in answer.feasible if not one.allowed}
    assert barred
    for title, scenario in barred.items():
        assert advice[title] == f"not advised: {scenario.why_not_allowed}"
    assert [*advice.values()].count("advised") == 1


def test_the_sheets_call_scenarios_by_their_titles_and_never_by_their_keys() -> None:
    book = plain_book()
    told = {row[0] for name in ("Lines", "Capacity") for row in body(book[name])}
    assert told
    assert told <= set(KEYS)
    assert {cell.value for cell in book["Cash flow"][1]} - set(KEYS) == {"Month"}
    cells = {cell for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row}
    assert not cells & {"on_prem", "hybrid"}


def body(sheet: Any) -> list[tuple[Any, ...]]:
    return list(sheet.iter_rows(min_row=2, values_only=True))


def test_the_request_stands_in_words_beside_its_fields() -> None:
    book = sheets(answer(), context=Context(request=REQUEST))
    rows = [[cell.value for cell in row] for row in book["Request"].iter_rows(min_row=2)]
    provider = next(row for row in rows if row[4] == "price_adjustments.0.provider")
    assert provider[:3] == ["contract discounts", "contract discounts 1: provider", "AWS"]
    assert provider[5] == "aws"
    bought = {"on_prem": {"servers": [{"server": "dgx-h100"}]}}
    book = sheets(answer(), context=Context(request=bought))
    (server,) = book["Request"].iter_rows(min_row=2, max_row=2, values_only=True)
    assert (server[2], server[4:]) == (
        "DGX H100 (8x H100)",
        ("on_prem.servers.0.server", "dgx-h100"),
    )
    kind = next(row for row in rows if row[4] == "workload.kind")
    assert kind[1:3] == ["work: kind", "accelerator hours"]
    counted = answer() | {"inherited": [{"field": "price_adjustments", "source": "2 of the team"}]}
    book = sheets(counted, context=Context(request=REQUEST))
    told = {row[4].value: row[3].value for row in book["Request"].iter_rows(min_row=2)}
    assert told["price_adjustments.0.multiplier"] == "contract discounts: 2 of the team"


def test_the_workbook_of_a_portfolio_shows_names_beside_its_ids() -> None:
    request = {
        "start": "2027-01",
        "horizon_months": 12,
        "projects": [project("speech", burst(12, 2, 7, 96))],
        "what_if": False,
    }
    made = PORTFOLIO_FORMATS["xlsx"].make(planned(request))
    book = openpyxl.load_workbook(io.BytesIO(made))
    head, row = ([cell.value for cell in line] for line in book["Projects"].iter_rows(max_row=2))
    shown = dict(zip(head, row, strict=True))
    assert (shown["accelerator"], shown["accelerator (id)"]) == ("H100 SXM5 80 GB", H100)
    rows = list(book["Lines"].iter_rows(values_only=True))
    lines = [dict(zip(rows[0], line, strict=True)) for line in rows[1:]]
    assert {one["provider"] for one in lines} == {
        cloud_title(one["provider (id)"]) for one in lines
    }
    assert {one["category"] for one in lines if one["category (id)"] == "compute"} == {
        "machines rented"
    }
    head, *uses = book["Uses"].iter_rows(values_only=True)
    used = dict(zip(head, uses[0], strict=True))
    provider, region, machine, option = used["source (id)"].split(":")
    label = traits(option).label.lower()
    assert used["source"].startswith(f"{machine} at {cloud_title(provider)} {region}")
    counted = [cell.value for cell in book["Machines"][1]]
    assert "accelerators" in counted
    assert "accelerators (id)" not in counted
    options = {one["purchase option"].lower(): one["purchase option (id)"] for one in lines}
    assert options[label] == option


def test_that_of_a_portfolio_holds_assumptions_with_sources_and_the_prices_used() -> None:
    answer = planned(relay(2, 12))
    book = openpyxl.load_workbook(io.BytesIO(PORTFOLIO_FORMATS["xlsx"].make(answer)))
    head, *assumed = book["Assumptions"].iter_rows(values_only=True)
    ids = [row[head.index("Assumption (id)")] for row in assumed]
    assert ids == [row.field for row in answer.assumptions]
    assert [row[4] for row in assumed] == [row.source for row in answer.assumptions]
    offers = {row[0]: row for row in book["Offers"].iter_rows(min_row=2, values_only=True)}
    assert list(offers) == list(answer.offers)
    for offer_id, offer in answer.offers.items():
        assert offers[offer_id][8] == pytest.approx(float(offer.native_price_per_hour))
        assert offers[offer_id][15] == offer.source
    facts = {row[0]: row[1] for row in book["Summary"].iter_rows(values_only=True)}
    assert f"AWS revision {answer.catalog[0].revision} of " in facts["Prices"]
    lines = list(book["Lines"].iter_rows(values_only=True))
    amounts = [row[lines[0].index("amount")] for row in lines[1:]]
    assert sum(amounts) == pytest.approx(float(answer.total_cost), abs=0.005)


def test_a_purchase_of_a_portfolio_stands_in_it_with_its_idle_months() -> None:
    """In the months' own names, as in the CSV; a workbook of any plan that bought ended in 500."""
    bought = Purchase(month=0, source="s", kind="server", units=2, first=0, last=5,
                      idle_months=(1, 4), due_at_start="530000.00")  # fmt: skip
    answer = planned(relay(1, 6))
    answer = answer.model_copy(update={"purchases": (bought,)})
    book = openpyxl.load_workbook(io.BytesIO(PORTFOLIO_FORMATS["xlsx"].make(answer)))
    head, row = book["Purchases"].iter_rows(values_only=True)
    purchase = dict(zip(head, row, strict=True))
    assert purchase["idle months"] == "2027-02 2027-05"
    assert (purchase["first"], purchase["last"]) == ("2027-01", "2027-06")
    assert purchase["due at start"] == pytest.approx(530_000)
