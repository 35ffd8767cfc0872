"""The address of a page is the request."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from planner.web.common import query_codec
from planner.web.common.fields import FIELD_TYPES, usual_share
from planner.web.common.plan_request import read_plan_request


def read(text: str):
    return query_codec.read(QueryDict(text), FIELD_TYPES, usual_share)


def test_dotted_names_become_the_nested_request():
    found = read("workload.kind=training&workload.parameters~bn=7&finance.tax_rate~pct=21")
    assert found == {
        "workload": {"kind": "training", "parameters": 7_000_000_000},
        "finance": {"tax_rate": 0.21},
    }


@pytest.mark.parametrize(
    ("suffix", "factor"), [("pct", 0.01), ("k", 1e3), ("mn", 1e6), ("bn", 1e9), ("tn", 1e12)]
)
def test_each_suffix_is_its_unit(suffix, factor):
    assert query_codec.number("2.5", suffix) == 2.5 * factor
    found = read(f"workload.samples~{suffix}=40")
    assert found == {"workload": {"samples": 40 * factor}}


def test_a_pasted_column_is_one_number_per_month():
    assert read("workload.hours_per_month=100%0A200%0A300") == {
        "workload": {"hours_per_month": [100, 200, 300]}
    }


def test_repeated_choices_are_a_list_and_empty_ones_are_absent():
    found = read("constraints.providers=aws&constraints.providers=gcp&constraints.regions=")
    assert found == {"constraints": {"providers": ["aws", "gcp"]}}
    found = read("constraints.regions=&constraints.providers=aws&constraints.providers=gcp")
    assert found == {"constraints": {"providers": ["aws", "gcp"]}}


@pytest.mark.parametrize(
    ("typed", "suffix", "figure"),
    [
        ("140B", "bn", 140_000_000_000),
        ("7b", "bn", 7_000_000_000),
        ("140 billion", "bn", 140_000_000_000),
        ("1,5 T", "bn", 1_500_000_000_000),
        ("350M", "bn", 350_000_000),
        ("500 thousand", "mn", 500_000),
        ("1.500B", "bn", "1.500: 1.5 or 1500?"),
        ("7e9B", "pct", "7e9B"),
        ("many B", "bn", "many B"),
    ],
)
def test_a_size_may_name_its_own_magnitude(typed, suffix, figure):
    assert query_codec.number(typed, suffix) == figure


def test_fields_of_another_tab_stay_out_of_the_request():
    query = QueryDict(
        "workload.kind=accelerator_hours&workload.hours_per_month=5&workload.tokens~bn=3"
    )
    assert read_plan_request(query) == {
        "workload": {"kind": "accelerator_hours", "hours_per_month": 5}
    }


leaves = st.one_of(
    st.integers(0, 10**12),
    st.floats(1e-9, 1e12, allow_nan=False).filter(lambda x: not x.is_integer()),
)


@given(st.dictionaries(st.sampled_from(["tax_rate", "discount_rate_per_year"]), leaves, min_size=1))
def test_a_request_survives_the_way_to_its_address_and_back(finance):
    pairs = query_codec.flatten({"finance": finance})
    query = QueryDict(mutable=True)
    for name, value in pairs:
        query.appendlist(name, value)
    assert read(query.urlencode()) == {"finance": finance}


def test_whatever_the_api_takes_can_stand_in_an_address():
    request = {
        "workload": {"kind": "training", "parameters": 7e9, "tokens": 2e9, "zero_stage": 3},
        "exchange_rates": {"EUR": 0.9},
        "on_prem": {"servers": []},
        "risk": {},
        "sensitivity": False,
        "constraints": {"providers": ["aws"], "quotas": [{"max_accelerators": 8}]},
    }
    query = QueryDict(mutable=True)
    for name, value in query_codec.flatten(request):
        query.appendlist(name, value)
    assert read(query.urlencode()) == request


@pytest.mark.parametrize(
    ("typed", "scale", "number"),
    [
        ("8%", "", 0.08), ("12.5 %", "pct", 0.125), ("8%", "k", "8%"), ("1 250 000", "", 1_250_000),
        ("-1,250.5", "", -1250.5), ("1,25", "", 1.25), ("inf", "", "inf"), (" 7 ", "", 7),
        ("2", "unknown", 2), ("0.5", "", 0.5), ("3.0", "", 3),
    ],
)  # fmt: skip
def test_what_is_typed_is_read_as_the_number_that_it_says(typed, scale, number):
    assert query_codec.number(typed, scale) == number
    assert type(query_codec.number(typed, scale)) is type(number)


@pytest.mark.parametrize("typed", ["1", "true", "on", "yes"])
def test_a_flag_is_set_by_its_words_and_by_no_other(typed):
    assert read(f"sensitivity={typed}") == {"sensitivity": True}
    assert read("sensitivity=0") == read("sensitivity=no") == {"sensitivity": False}


def test_an_address_is_written_with_changes_and_without_what_is_taken_out():
    query = QueryDict("a=1&b=2&c=3&c=4&d=")
    assert query_codec.write(query, b=None) == "a=1&c=3&c=4"
    assert query_codec.write(query, a="9") == "b=2&c=3&c=4&a=9"
    assert query_codec.write({"x": ["1", "2"], "y": 3}, z=0) == "x=1&x=2&y=3&z=0"


def test_values_are_flattened_as_the_form_would_write_them():
    request = {"a": True, "b": False, "c": None, "d": [5], "e": [5, 0.1], "f": ["x", "y"], "g": []}
    assert query_codec.flatten(request) == [
        ("a", "true"), ("b", "false"), ("d", "5;"), ("e", "5 0.1"), ("f", "x"), ("f", "y"),
        ("g", "none"),
    ]  # fmt: skip
    assert query_codec.flatten({"h": [{"i": 1}, {"i": {}}]}) == [
        ("h.0.i", "1"),
        ("h.1.i", "default"),
    ]


BOXES = ("workload.hours_per_month", "constraints.total_budget", "horizon_months")


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("1,460", 1460),
        ("1'460", 1460),
        ("1.460,5", 1460.5),
        ("1,460.5", 1460.5),
        ("1.460", "1.460: 1.46 or 1460?"),
        ("2.000", "2.000: 2 or 2000?"),
    ],
)
def test_marks_of_thousands_mean_the_same_in_every_box(box: str, typed: str, meant: Any):
    query = QueryDict(mutable=True)
    query[box] = typed
    found: Any = query_codec.read(query, FIELD_TYPES)
    for name in box.split("."):
        found = found[name]
    assert found == meant


@pytest.mark.parametrize(
    ("name", "typed", "share"),
    [
        ("workload.mfu", "0.4", "0.4: 0.4 % or 40 %?"),
        ("workload.goodput", "0,95", "0,95: 0,95 % or 95 %?"),
        ("workload.mfu", "0.4 %", 0.004),
        ("workload.mfu", "40", 0.4),
        ("on_prem.insurance_rate_per_year", "0.5", 0.005),
        ("finance.tax_rate", "0.21", "0.21: 0.21 % or 21 %?"),
        ("finance.discount_rate_per_year", "0.08", "0.08: 0.08 % or 8 %?"),
        ("choice.simplicity_share", "0.5", 0.005),
    ],
)
def test_a_share_below_one_in_a_box_of_per_cent_is_asked_about(name, typed, share):
    section, _, field = name.partition(".")
    assert read(urlencode({f"{name}~pct": typed}))[section][field] == share
