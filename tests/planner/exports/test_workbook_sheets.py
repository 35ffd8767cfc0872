"""Cells and sheets of a workbook, read back by another library."""

from __future__ import annotations

import io
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import openpyxl
import xlsxwriter

from planner.contract.labels import SCENARIO_TITLES
from planner.exports.csv_export import Context
from planner.exports.workbook import (
    OPTIONS,
    Book,
    Cell,
    Column,
    _source,
    as_workbook,
    verdict_facts,
)
from tests.planner.exports.answers import KEYS, plain_book, typed


def read_back(rows: list[list[Cell]], *columns: Column) -> Any:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, OPTIONS) as raw:
        Book(raw, "USD").table("Sheet", columns or (Column("A", 9), Column("B", 9)), rows)
    return openpyxl.load_workbook(buffer)["Sheet"]


def cell(value: Cell, style: str = "") -> Any:
    return read_back([[value]], Column("A", 9, style))["A2"]


def test_a_sheet_has_its_head_its_rows_and_a_filter_over_both() -> None:
    sheet = read_back([["a", 1], ["b", 2]])
    assert [[c.value for c in row] for row in sheet.rows] == [["A", "B"], ["a", 1], ["b", 2]]
    assert sheet.auto_filter.ref == "A1:B3"
    assert sheet["A1"].font.bold
    assert read_back([]).auto_filter.ref == "A1:B2"


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
    answer = typed()
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
    assert not cells & {"on_prem", "cloud_mix", "hybrid"}


def body(sheet: Any) -> list[tuple[Any, ...]]:
    return list(sheet.iter_rows(min_row=2, values_only=True))
