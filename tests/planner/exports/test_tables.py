"""CSV and workbook: nothing that a person typed runs, numbers stay numbers, totals are live."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from typing import Any

import openpyxl
import pytest

from planner.exports import FORMATS, Context, export
from planner.exports.csv_export import csv_bytes
from planner.exports.safe import text_cell
from tests.planner.exports.answers import answer, scenario

EVIL = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://evil.test","x")',
    "＝1+1",
    "－1+1",
)
SIGNS = ("=", "+", "-", "@", "＝", "－")
CONTEXT = Context(name="=1+1", team="@team", project="-project")


INSIDE = (
    "deal;=1+1",
    "deal; =1+1",
    'deal;"=1+1"',
    "deal\n=1+1",
    "deal\r\n@SUM(A1)",
    "deal\t+1+1",
    "a;b;-1+1",
    ";\t=1+1",
    "deal;＝1+1",
)


@pytest.mark.parametrize("text", EVIL)
def test_text_that_would_run_is_marked(text: str) -> None:
    assert text_cell(text).startswith("'")
    assert text_cell(text).replace("'", "") == text.replace("'", "")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("text", [*EVIL, *INSIDE])
def test_no_cell_runs_however_the_file_is_separated(text: str, separator: str) -> None:
    raw = csv_bytes("abc", [{"a": "first", "b": text, "c": "last"}]).decode()
    lines = raw.replace("\r", "\n").split("\n")
    for line in [raw, *lines]:
        for row in csv.reader(io.StringIO(line, newline=""), delimiter=separator):
            assert not [cell for cell in row if cell.lstrip(' "').startswith(SIGNS)], row


def test_the_label_of_a_private_offer_does_not_run_after_a_semicolon() -> None:
    copy = json.loads(json.dumps(answer()))
    for line in (line for s in copy["scenarios"] for line in s["lines"]):
        line["label"] = "deal;=1+1"
    text = export(copy, CONTEXT, "csv").decode("utf-8-sig")
    assert ",deal;'=1+1," in text
    assert ";=" not in text


@pytest.mark.parametrize(
    "text", ["-5", "+5", "-5.25", "1e-7", "-1E9", "p5.48xlarge", "", "a=b", "5-3", "a; b", "a;b=c"]
)
def test_numbers_and_plain_text_stay(text: str) -> None:
    assert text_cell(text) == text


def test_numbers_are_written_in_full() -> None:
    rows = [{"a": Decimal("-5"), "b": Decimal("1E+3"), "c": -5, "d": None, "e": 1e-7}]
    assert csv_bytes("abcde", rows).decode() == "a,b,c,d,e\r\n-5,1000,-5,,1e-07\r\n"


def with_evil() -> dict[str, Any]:
    """The answer with every text replaced by one that would run."""
    copy = json.loads(json.dumps(answer()))
    for line in (line for s in copy["scenarios"] for line in s["lines"]):
        line["label"] = line["unit"] = EVIL[3]
        line["region"] = EVIL[0]
    for offer in copy["offers"].values():
        offer["source"] = offer["sku"] = EVIL[8]
    for row in copy["assumptions"]:
        row["source"] = EVIL[1]
    copy["warnings"] = list(EVIL)
    copy["recommendation"]["because"] = [EVIL[0]]
    copy["scenarios"][0] |= {"feasible": False, "why_not": [EVIL[0]]}
    return copy


@pytest.mark.parametrize("form", ["csv", "focus"])
def test_no_cell_of_a_csv_runs(form: str) -> None:
    text = export(with_evil(), CONTEXT, form).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len(rows) > 50
    for cell in (cell for row in rows for cell in row):
        is_number = cell.replace(".", "", 1).lstrip("-").isdigit()
        assert is_number or not cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\r")), cell


def test_a_negative_amount_stays_a_number_in_csv() -> None:
    rows = csv.DictReader(io.StringIO(export(answer(), CONTEXT, "csv").decode("utf-8-sig")))
    amounts = [Decimal(row["amount"]) for row in rows if row["category"] == "residual"]
    assert amounts
    assert all(amount < 0 for amount in amounts)


def test_the_csv_s_lines_sum_to_the_totals() -> None:
    rows = list(csv.DictReader(io.StringIO(export(answer(), CONTEXT, "csv").decode("utf-8-sig"))))
    for key in ("on_demand", "committed", "on_prem", "hybrid"):
        total = sum(Decimal(row["amount"]) for row in rows if row["scenario"] == key)
        assert total == Decimal(scenario(key)["total_cost"])


# Workbook ---------------------------------------------------------------------------------

OURS = ("=SUMIFS(", "=SUM(")


def sheets(data: dict[str, Any], values: bool = False) -> Any:
    raw = export(data, CONTEXT, "xlsx")
    return openpyxl.load_workbook(io.BytesIO(raw), data_only=values)


def test_the_workbook_has_its_sheets() -> None:
    names = ["Summary", "Cash flow", "Lines", "Capacity", "Assumptions", "Offers"]
    assert sheets(answer()).sheetnames == names


def test_no_cell_of_a_workbook_runs_unless_we_wrote_it() -> None:
    formulas = 0
    for sheet in sheets(with_evil()):
        for cell in (cell for row in sheet.iter_rows() for cell in row):
            if cell.data_type == "f":
                assert str(cell.value).startswith(OURS), cell.value
                formulas += 1
            assert cell.hyperlink is None
    assert formulas > 100


def test_evil_text_is_kept_as_it_was_typed() -> None:
    summary = sheets(with_evil())["Summary"]
    assert summary["A1"].value == "=1+1"
    assert summary["A1"].data_type == "s"


def test_totals_are_formulas_whose_cached_value_is_the_answer_s() -> None:
    live, cached = sheets(answer()), sheets(answer(), values=True)
    found = {}
    for row in range(1, 40):
        key = live["Summary"].cell(row, 1).value
        if key in {s["key"] for s in answer()["scenarios"]}:
            assert live["Summary"].cell(row, 2).value.startswith("=SUMIFS(Lines!")
            found[key] = cached["Summary"].cell(row, 2).value
    assert found == {s["key"]: float(s["total_cost"]) for s in answer()["scenarios"]}


def test_the_cash_flow_s_formulas_cover_every_month() -> None:
    flow = sheets(answer())["Cash flow"]
    months = len(scenario("hybrid")["cash_per_month"])
    assert flow.cell(months + 2, 1).value == "Total"
    assert flow.cell(months + 2, 2).value == f"=SUM(B2:B{months + 1})"
    assert flow.cell(2, 2).value.startswith("=SUMIFS(")


def test_amounts_are_numbers_and_months_are_dates() -> None:
    lines = sheets(answer())["Lines"]
    kinds = {cell.value: cell.column for cell in lines[1]}
    row = lines[2]
    assert row[kinds["Amount"] - 1].data_type == "n"
    assert row[kinds["Month"] - 1].is_date
    residual = [
        r for r in lines.iter_rows(min_row=2) if r[kinds["Category"] - 1].value == "residual"
    ]
    assert residual[0][kinds["Amount"] - 1].value < 0


def test_the_json_is_the_answer() -> None:
    assert json.loads(export(answer(), CONTEXT, "json")) == json.loads(json.dumps(answer()))


@pytest.mark.parametrize("form", FORMATS)
def test_an_answer_in_which_nothing_is_feasible_can_be_exported(form: str) -> None:
    empty = json.loads(json.dumps(answer()))
    for row in empty["scenarios"]:
        row |= {"feasible": False, "lines": [], "capacity": [], "total_cost": None}
    empty["recommendation"] |= {"scenario": None}
    assert export(empty, Context(), form)
