"""What is typed is judged before it is converted, at a cost that its length bounds."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.commands.command import read_request as read_file
from planner.contract import typed_numbers
from planner.contract.request.comparison import read_request
from planner.usage import tables as cells
from pricing.common import bounded
from pricing.common.invalid_input import MAX_REFUSALS, InvalidInput
from pricing.common.problems import list_errors, problem_body

HOSTILE = (
    *("1e999999", "1e-300000000", "1e9999999", "-1e-999990", "9" * 5000, "0." + "9" * 5000),
    *("1e301", "1e-301", "9" * 41, "." + "1" * 41),
)
HOURS = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 10}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_number_out_of_bounds_is_refused_as_typed_with_what_is_allowed(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        bounded.read_decimal(text, "budget")
    assert refused.value.field == "budget"
    assert text[:50] in refused.value.message
    assert "allowed are numbers between 1e-300 and 1e300" in refused.value.message
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("text", ["²", "١٢", "nan", "Infinity", "1_000", "0x10", "", "1e", "--1"])
def test_what_is_no_number_is_called_so(text: str) -> None:
    assert bounded.number_problem(text) == f"{text!r} is not a number"


@given(st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-(10**13),
                   max_value=10**13))  # fmt: skip
def test_every_ordinary_amount_is_read_exactly(amount: Decimal) -> None:
    assert bounded.read_decimal(str(amount)) == amount


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-299, max_value=1e299))
def test_every_float_in_bounds_is_read_exactly(value: float) -> None:
    assert float(bounded.read_decimal(repr(value))) == value


@pytest.mark.parametrize(
    "read",
    [
        lambda: bounded.loads('"' + '\\"' * 500_000),
        lambda: bounded.loads("[" * 1_000_000),
        lambda: bounded.loads("9" * 1_000_000),
        lambda: bounded.looks_like_number("9" * 1_000_000 + "x"),
        lambda: bounded.looks_like_number("9." * 500_000),
        lambda: typed_numbers.check_tree({"x" * 500_000: [0] * 100_000}),
        lambda: typed_numbers.check_tree([["\0"] * 10] * 10_000),
        lambda: cells.amount("1e-999999999", "cost"),
        lambda: cells.quantity("9" * 100_000, "hours"),
        lambda: read_request({"workload": HOURS | {"hours_per_month": "9" * 1_000_000}}),
        lambda: read_request({"workload": HOURS, **{f"f{i}": 1 for i in range(60_000)}}),
    ],
)
def test_judging_costs_no_more_than_the_text_is_long(read: Callable[[], object]) -> None:
    began = time.process_time()
    with suppress(ValueError):
        read()
    assert time.process_time() - began < 3


@pytest.mark.parametrize("text", ["1e999", "-1e999999", "1e-400", "9" * 302])
@pytest.mark.parametrize("field", ["hours_per_month", "horizon_months", "total_budget"])
def test_a_json_number_that_nothing_holds_is_refused_by_its_field(text: str, field: str) -> None:
    body = {"workload": dict(HOURS), "constraints": {}, "horizon_months": 6}
    place = {"hours_per_month": "workload", "total_budget": "constraints"}.get(field)
    here = body[place] if place else body
    here[field] = "HERE"  # type: ignore[index]
    with pytest.raises(InvalidInput) as refused:
        read_request(bounded.loads(json.dumps(body).replace('"HERE"', text)))
    assert refused.value.field == (f"{place}.{field}" if place else field)
    assert text[:50] in refused.value.message


def test_an_answer_lists_twenty_refusals_and_how_many_more_there_are() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_request({"workload": HOURS, **{f"f{i}": 1 for i in range(60_000)}})
    refusals = refused.value.all()
    assert len(refusals) == MAX_REFUSALS + 1
    assert (refusals[0].field, refusals[-1].message) == ("f0", "and 59,980 more")
    assert problem_body(400, "", list_errors(refused.value))["errors"][-1]["message"] == (
        "and 59,980 more"
    )
    errors = problem_body(400, "", [{"field": str(i), "message": ""} for i in range(90)])["errors"]
    assert (errors[-1]["code"], errors[-1]["message"]) == ("more", "and 70 more")


def test_a_nul_deep_in_a_body_is_named_by_its_path() -> None:
    with pytest.raises(InvalidInput, match=r"^servers\.1\.name: holds a NUL"):
        typed_numbers.check_tree({"servers": [{}, {"name": "a\0"}]})
    with pytest.raises(InvalidInput, match="surrogate"):
        typed_numbers.check_tree({"a": {"\ud800": 1}})


def test_nesting_is_judged_outside_texts() -> None:
    depth = bounded.MAX_DEPTH
    assert bounded.loads("[" * depth + '"[[[[\\"[["' + "]" * depth)
    with pytest.raises(InvalidInput, match=f"deeper than {depth} levels"):
        bounded.loads("[" * (depth + 1) + "]" * (depth + 1))


@pytest.mark.parametrize(
    "text",
    ["a = " + "9" * 5000, "a = 1e999999", "a." * 3000 + "b = 1", "a = " + "[" * 5000,
     'a = "' + "x" * 200_000 + '"', 'a = "\\u0000"'],
)  # fmt: skip
def test_a_hostile_file_of_a_command_is_refused_or_left_for_its_field(tmp_path, text) -> None:
    (tmp_path / "request.toml").write_text(text)
    with pytest.raises(InvalidInput):
        read_request(read_file(str(tmp_path / "request.toml")))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        *((f"Ac{chr(code)}me", f"U+{code:04X}") for code in range(0x202A, 0x202F)),
        *((f"Ac{chr(code)}me", f"U+{code:04X}") for code in range(0x2066, 0x206A)),
        ("\u200bAcme", "U+200B (zero width space), which cannot be seen, at its beginning"),
        ("Ac\u200dme", "U+200D (zero width joiner), which cannot be seen, after 'Ac'; remove it"),
        ("Acme\ufeff", "U+FEFF"),
        ("Ac\u00adme", "U+00AD (soft hyphen)"),
        ("Acme\U000e0041", "U+E0041"),
        ("\u3164", "U+3164"),
        ("Acme\x1b[2J", "U+001B (a control character)"),
        ("A\ufe0fcme", "U+FE0F"),
    ],
)
def test_what_cannot_be_seen_is_refused_by_name_and_place(name: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        typed_numbers.check_tree({"projects": [{"name": name}]})
    assert refusal.value.field == "projects.0.name"
    assert says in refusal.value.message
    assert bounded.check_text("name", typed_numbers.without_invisible(name)).isascii()


@pytest.mark.parametrize(
    "name",
    ["Müller & Søn", "می\u200cخواهم", "क्\u200dष", "👩\u200d💻 lab", "❤\ufe0f\u200d🔥",
     "1\ufe0f\u20e3 first", "東京\u00a0GPU", "אבג", "line\r\n\tnext"],
)  # fmt: skip
def test_names_of_every_script_stay(name: str) -> None:
    assert bounded.check_text("name", name) == typed_numbers.without_invisible(name) == name
