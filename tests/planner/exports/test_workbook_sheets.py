"""Cells and sheets of a workbook, read back by another library."""

from __future__ import annotations

import io
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from planner.contract.labels import SCENARIO_TITLES
from planner.exports import workbook
from planner.exports.csv_export import Context
from planner.exports.workbook import (
    OPTIONS,
    Book,
    Cell,
    Column,
    _facts,
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


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, None), ("", None), (True, "yes"), (False, "no"), ("=1+1", "=1+1"),
        ("12", "12"), ("http://a.test", "http://a.test"), (Decimal("1.5"), 1.5), (3, 3), (0, 0),
    ],
)  # fmt: skip
def test_a_cell_is_what_was_written(written: Cell, read: Any) -> None:
    found = cell(written)
    assert found.value == read
    assert found.data_type == ("n" if read is None or isinstance(read, int | float) else "s")
    assert found.hyperlink is None


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


@pytest.mark.parametrize(
    ("name", "own_name", "title"),
    [("Saved", "Asked", "Saved"), ("", "Asked", "Asked"), ("", "", "Comparison")],
)
def test_the_summary_is_its_name_its_facts_and_below_the_scenarios_its_advice(
    monkeypatch: pytest.MonkeyPatch, name: str, own_name: str, title: str
) -> None:
    written: dict[tuple[int, int], Any] = {}
    starts: list[int] = []

    def scenarios(book: Any, sheet: Any, row: int, *_: Any) -> int:
        starts.append(row)
        return row + 100

    monkeypatch.setattr(workbook, "_scenarios", scenarios)
    book: Any = SimpleNamespace(
        write=lambda sheet, row, column, value, style="": written.update({(row, column): value})
    )
    sheet: Any = SimpleNamespace(set_column=lambda *_: None)
    answer, context = typed().model_copy(update={"name": own_name}), Context(name=name)
    unused: Any = None
    workbook._summary(book, sheet, answer, context, unused)
    facts = [*((t, v) for t, v in _facts(answer, context))]
    facts += [(t, v) for t, v, _ in verdict_facts(answer)]
    assert written[0, 0] == title
    assert [(written[i, 0], written[i, 1]) for i in range(1, len(facts) + 1)] == facts
    assert starts == [len(facts) + 2]
    texts = [*answer.advice, *answer.warnings]
    assert texts
    assert [written[starts[0] + 100 + i, 0] for i in range(len(texts))] == texts


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
