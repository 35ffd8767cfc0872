"""CSV and workbook: nothing that a person typed runs, numbers stay numbers, totals are live."""

import csv
import datetime as dt
import io
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import openpyxl
import pytest

from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports import FORMATS, Context
from planner.exports.csv_export import Step, csv_bytes, text_cell
from tests.planner.exports.answers import KEYS, answer, plain_book, typed

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
def test_no_cell_runs_however_the_file_is_separated(separator: str) -> None:
    for text in [*EVIL, *INSIDE]:
        raw = csv_bytes("abc", [{"a": "first", "b": text, "c": "last"}]).decode()
        lines = raw.replace("\r", "\n").split("\n")
        for line in [raw, *lines]:
            for row in csv.reader(io.StringIO(line, newline=""), delimiter=separator):
                assert not [cell for cell in row if cell.lstrip(' "').startswith(SIGNS)], row


def test_a_csv_file_says_that_it_is_utf_8() -> None:
    assert FORMATS["csv"].make(typed(), CONTEXT).startswith(b"\xef\xbb\xbfscenario,month,")
    assert csv_bytes("a", []) == b"a\r\n"


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
    text = (
        FORMATS[form]
        .make(ComparisonAnswer.model_validate(with_evil()), CONTEXT)
        .decode("utf-8-sig")
    )
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len(rows) > 50
    for cell in (cell for row in rows for cell in row):
        is_number = cell.replace(".", "", 1).lstrip("-").isdigit()
        assert is_number or not cell.lstrip().startswith(("=", "+", "-", "@", "\t", "\r")), cell


OURS = ("=SUMIFS(", "=SUM(")


def sheets(data: dict[str, Any], values: bool = False, context: Context = CONTEXT) -> Any:
    raw = FORMATS["xlsx"].make(ComparisonAnswer.model_validate(data), context)
    return openpyxl.load_workbook(io.BytesIO(raw), data_only=values)


def test_no_cell_of_a_workbook_runs_unless_we_wrote_it() -> None:
    formulas = 0
    for sheet in sheets(with_evil()):
        for cell in (cell for row in sheet.iter_rows() for cell in row):
            if cell.data_type == "f":
                assert str(cell.value).startswith(OURS), cell.value
                formulas += 1
            assert cell.hyperlink is None
    assert formulas > 100


def test_totals_are_formulas_whose_cached_value_is_the_answer_s() -> None:
    live, cached = plain_book(), plain_book(values=True)
    found = {}
    for row in range(1, 40):
        key = KEYS.get(live["Summary"].cell(row, 1).value)
        if key:
            assert live["Summary"].cell(row, 2).value.startswith("=SUMIFS(Lines!")
            found[key] = cached["Summary"].cell(row, 2).value
    assert found == {s["key"]: float(s["total_cost"]) for s in answer()["scenarios"]}


def found(sheet: Any) -> dict[str, Any]:
    """First column → second."""
    return {row[0].value: row[1].value for row in sheet.iter_rows()}


REQUEST = {
    "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": [4, 5.5]},
    "constraints": {"regions": ["us-east-1", "eu-west-1"], "max_spot_share": 0.25},
    "price_adjustments": [{"provider": "aws", "multiplier": 0.9}, {"multiplier": 0.8}],
    "custom_offers": [{"label": "=1+1", "usd_per_hour": 2}],
}


def asked(request: dict[str, Any], data: dict[str, Any] | None = None) -> dict[str, Any]:
    book = sheets(data or answer(), context=Context(request=request))
    return {row[4].value: row[5].value for row in book["Request"].iter_rows(min_row=2)}


def test_the_workbook_holds_what_was_asked_for() -> None:
    assert asked(REQUEST) == {
        "workload.kind": "accelerator_hours",
        "workload.accelerator": "H100",
        "workload.hours_per_month": "4, 5.5",
        "constraints.regions": "us-east-1, eu-west-1",
        "constraints.max_spot_share": 0.25,
        "price_adjustments.0.provider": "aws",
        "price_adjustments.0.multiplier": 0.9,
        "price_adjustments.1.multiplier": 0.8,
        "custom_offers.0.label": "=1+1",
        "custom_offers.0.usd_per_hour": 2,
    }


AT = dt.datetime(2027, 1, 31, 8, 30, tzinfo=dt.UTC)
STEPS = (Step("draft", "ada", AT), Step("submitted", "ada", AT), Step("approved", "bo", AT))
SAVED = Context(name="Plan", team="Alpha", project="Model A", saved="4711", steps=STEPS)


@pytest.mark.parametrize("form", ["csv", "focus"])
def test_every_row_says_how_far_the_plan_is_approved(form: str) -> None:
    text = FORMATS[form].make(typed(), SAVED).decode("utf-8-sig")
    rows = [row[-4:] for row in csv.reader(io.StringIO(text))]
    assert {tuple(row) for row in rows[1:]} == {("4711", "approved", "bo", "2027-01-31T08:30:00Z")}
    draft = FORMATS[form].make(typed(), replace(SAVED, steps=STEPS[:1])).decode("utf-8-sig")
    assert {row[-3] for row in csv.reader(io.StringIO(draft))} == {rows[0][-3], "draft"}


def test_the_workbook_says_how_far_the_plan_is_approved() -> None:
    book = sheets(answer(), context=SAVED)
    told = found(book["Summary"])
    assert (told["Saved comparison"], told["State"]) == ("4711", "approved")
    assert told["Submitted"] == "2027-01-31 08:30 UTC by ada"
    assert told["Approved"] == "2027-01-31 08:30 UTC by bo"
    assert book.properties.contentStatus == "approved"
    assert found(plain_book()["Summary"])["State"] == "not saved"


def test_the_json_is_the_answer() -> None:
    assert json.loads(FORMATS["json"].make(typed(), CONTEXT)) == json.loads(json.dumps(answer()))


@pytest.mark.parametrize("form", FORMATS)
def test_an_answer_in_which_nothing_is_feasible_can_be_exported(form: str) -> None:
    empty = json.loads(json.dumps(answer()))
    for row in empty["scenarios"]:
        row |= {"feasible": False, "lines": [], "capacity": [], "total_cost": None}
    empty["recommendation"] |= {"scenario": None}
    assert FORMATS[form].make(ComparisonAnswer.model_validate(empty), Context())
