"""The comparison request: what it takes, and what it refuses by name."""

import datetime as dt
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.comparison import ComparisonRequest, begin_in, read_request
from planner.contract.request.constraints import Constraints
from planner.contract.request.rules import (
    PlaceLimits,
    describe_conflict,
    read_place_limits,
    resolve_rules,
)
from planner.contract.request.workload import months_to_last_deadline
from planner.contract.validation import parse
from pricing.bundled.catalog import bundled_catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption
from pricing.market.place_names import COUNTRY_GROUPS
from pricing.market.snapshot import Region
from tests.properties import examples

HOURS = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}


def refusal(**fields: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read_request({"workload": HOURS} | fields)
    return caught.value


def test_defaults() -> None:
    request = read_request({"workload": HOURS})
    assert (request.horizon_months, request.currency) == (36, "USD")
    assert request.use_catalog
    assert request.risk is None
    assert resolve_rules(request).term_end == "full"
    short = read_request({"workload": HOURS, "horizon_months": 6})
    assert resolve_rules(short).term_end == "within"
    assert "no field rules" in refusal(rules=6).message or "rules" in refusal(rules=6).field


def test_a_custom_offer() -> None:
    offer = {
        "label": "deal",
        "accelerator": "H100",
        "accelerator_count": 8,
        "purchase_option": "reserved",
        "usd_per_hour": 40,
        "term_months": 12,
    }
    request = read_request({"workload": HOURS, "custom_offers": [offer]})
    assert request.custom_offers[0].purchase_option is PurchaseOption.RESERVED


def test_an_exchange_rate_is_a_number_or_dated() -> None:
    rates = {"EUR": 0.9, "CNY": {"units_per_usd": 7.2, "as_of": "2026-10"}}
    request = read_request({"workload": HOURS, "exchange_rates": rates})
    assert request.exchange_rates["EUR"].units_per_usd == 0.9
    assert request.exchange_rates["CNY"].as_of is not None


def test_a_section_that_is_null_counts_as_absent() -> None:
    request = read_request({"workload": HOURS, "constraints": None, "on_prem": None, "risk": None})
    assert request.constraints.quotas == ()


def offer_with(**fields: Any) -> dict[str, Any]:
    plain = {
        "label": "deal",
        "accelerator": "H100",
        "accelerator_count": 8,
        "purchase_option": "on_demand",
        "usd_per_hour": 40,
    }
    return {"custom_offers": [plain | fields]}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"usd_per_hour": 0}, "usd_per_hour"),
        ({"usd_per_hour": -1}, "usd_per_hour"),
        ({"purchase_option": "reserved"}, "term_months"),
        ({"term_months": 12}, "term_months"),
        ({"upfront_usd": 100}, "upfront_usd"),
        ({"available_from": "2027-05", "available_until": "2027-02"}, "available_until"),
    ],
)
def test_an_offer_that_cannot_be_is_refused(fields: dict[str, Any], field: str) -> None:
    assert refusal(**offer_with(**fields)).field == f"custom_offers.0.{field}"


def test_two_offers_of_one_label_are_refused() -> None:
    twice = offer_with()["custom_offers"] * 2
    assert refusal(custom_offers=twice).field == "custom_offers.1.label"


def test_a_server_idles_at_no_more_than_its_load() -> None:
    server = {"server": "dgx-h100", "power_kw": 5, "idle_power_kw": 6}
    assert refusal(on_prem={"servers": [server]}).field == "on_prem.servers.0.idle_power_kw"


@pytest.mark.parametrize("data", [[], "text", None, 7])
def test_what_is_no_object_is_refused(data: object) -> None:
    with pytest.raises(InvalidInput, match="object of fields"):
        read_request(data)


@pytest.mark.parametrize(
    ("field", "value"), [("epochs", -1), ("benchmark", 3), ("goodput", 2), ("colour", "blue")]
)
def test_a_field_of_samples_is_named_though_the_kind_has_a_field_of_its_name(field, value):
    workload = {"kind": "samples", "samples": 10, "epochs": 1, "benchmark": "ssd-lambda"}
    with pytest.raises(InvalidInput) as refusal:
        read_request({"workload": workload | {field: value}})
    assert refusal.value.field == f"workload.{field}"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"start": "9999-12"}, "start"),
        ({"price_adjustments": [{"multiplier": 1e-300}]}, "price_adjustments.0.multiplier"),
        ({"finance": {"tax_rate": 5e-324}}, "finance.tax_rate"),
        ({"on_prem": {"utilisation_ceiling": 1e-200}}, "on_prem.utilisation_ceiling"),
    ],
)
def test_what_cannot_be_counted_with_is_refused(fields: dict[str, Any], field: str) -> None:
    assert refusal(**fields).field == field


TRAINING: dict[str, Any] = {"kind": "training", "parameters": 7e9, "tokens": 1e11}


def horizon(*runs: dict[str, str], **fields: Any) -> int:
    request = {"start": "2027-01", "workload": {**TRAINING, "runs": list(runs)}, **fields}
    return read_request(request).horizon_months


def test_a_plan_ends_with_the_last_deadline() -> None:
    first = {"start": "2027-01", "deadline": "2027-06"}
    assert horizon(first, {"start": "2027-07", "deadline": "2027-12"}) == 12


@pytest.mark.parametrize("fields", [{"horizon_months": 36}, {"start": None}])
def test_unless_it_says_how_long_it_is_or_has_no_start(fields: dict[str, Any]) -> None:
    assert horizon({"start": "2027-01", "deadline": "2027-06"}, **fields) == 36


def test_a_plan_without_a_start_is_as_long_as_its_deadlines_say_when_it_begins() -> None:
    run = {"start": "2027-01", "deadline": "2027-06"}
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e9, "runs": [run]}
    request = read_request({"workload": work})
    first = dt.date(2026, 12, 1)
    dated = begin_in(first, request)
    assert (request.horizon_months, dated.horizon_months, dated.start) == (36, 7, first)
    assert begin_in(first, dated) is dated


def test_a_deadline_beyond_the_longest_horizon_leaves_the_longest() -> None:
    assert horizon({"start": "2027-01", "deadline": "2036-12"}) == 120
    assert horizon({"start": "2027-01", "deadline": "2090-01"}) == 120


@examples(20, 2000)
@given(st.recursive(st.none() | st.text(max_size=9) | st.integers(), lambda x: st.lists(x)))
def test_anything_may_be_asked(value: Any) -> None:
    for part in ({"runs": value}, value, {"runs": [{"deadline": value}]}):
        assert months_to_last_deadline({"start": "2027-01", "workload": part}) is None


Places = set[tuple[str, str]]
GEOGRAPHIES = (None, ["europe"], ["eu"], ["uk", "north-america"], ["eu", "asia"], ["europe", "uk"])
COUNTRIES = (None, ["DE"], ["GB", "IN"], ["US", "DE"])
REGIONS = (None, ["eu-central-1"], ["us-east-1", "eu-west-2"])


def admitted(**limits: Any) -> Places:
    regions = bundled_catalog().regions
    places = PlaceLimits(read_place_limits(Constraints(**limits)), regions)
    return {key for key in regions if places.admits(*key)}


def lies_in(place: Region, name: str) -> bool:
    groups = {"eu": COUNTRY_GROUPS["eu"], "uk": {"GB"}}
    return place.country in groups[name] if name in groups else place.geography == name


@pytest.mark.parametrize("geographies", GEOGRAPHIES)
def test_names_of_one_list_are_alternatives_and_lists_narrow_each_other(geographies: Any) -> None:
    for countries, regions in product(COUNTRIES, REGIONS):
        expected = {
            key
            for key, place in bundled_catalog().regions.items()
            if geographies is None or any(lies_in(place, name) for name in geographies)
            if countries is None or place.country in countries
            if regions is None or key[1] in regions
        }
        limits = {"geographies": geographies, "countries": countries, "regions": regions}
        assert admitted(**limits) == expected, limits


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"geographies": ["eu"], "countries": ["IN"]}, "places (eu) and the choice of countries"),
        (
            {"geographies": ["eu", "asia"], "countries": ["IN"], "regions": ["us-east-1"]},
            "regions (us-east-1) and the choice of places (eu, asia) together",
        ),
        ({"geographies": ["eu"], "countries": ["DE"], "regions": ["eu-central-1"]}, ""),
    ],
)
def test_limits_that_leave_no_place_together_are_named(limits: Any, words: str) -> None:
    regions = bundled_catalog().regions
    clause = describe_conflict(PlaceLimits(read_place_limits(Constraints(**limits)), regions))
    assert words in clause
    assert bool(clause) is bool(words)


TEN_HOURS = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 10}
SOME_TRAINING = {"kind": "training", "parameters": 7e9, "tokens": 1e9}
SAMPLES = {"kind": "samples", "benchmark": "x", "samples": 1e6, "epochs": 1}


def refusal_of(workload: dict[str, Any], **fields: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        parse(ComparisonRequest, {"workload": workload} | fields)
    return caught.value.message


@pytest.mark.parametrize(
    ("work", "name", "meant"),
    [
        (SOME_TRAINING, "num_layers", "layers"),
        (TEN_HOURS, "hours_per_months", "hours_per_month"),
        (TEN_HOURS, "horizon_months", "horizon_months, at the top of the request"),
    ],
)
def test_a_name_is_answered_with_the_closest_or_its_place(
    work: dict[str, Any], name: str, meant: str
) -> None:
    expected = f"is not a known field; did you mean {meant}?"
    assert refusal_of(work | {name: 8}) == expected


def test_fields_at_the_top_are_answered_with_where_they_stand() -> None:
    for name, meant in (
        ("providers", "constraints.providers"),
        ("hours_per_month", "workload.hours_per_month"),
        ("currencyy", "currency"),
    ):
        assert refusal_of(TEN_HOURS, **{name: 1}) == f"is not a known field; did you mean {meant}?"
    assert "; allowed are break_even, " in refusal_of(TEN_HOURS, zzz=1)


def test_a_field_of_another_kind_of_work_is_answered_with_the_kind() -> None:
    expected = "is not a known field; it belongs to kind training"
    assert refusal_of(TEN_HOURS | {"optimizer": 8}) == expected
    assert (
        refusal_of(SOME_TRAINING | {"loader": 8})
        == "is not a known field; it belongs to kind samples"
    )
