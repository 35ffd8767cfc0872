"""The comparison request: what it takes, and what it refuses by name."""

from __future__ import annotations

from typing import Any

import pytest

from planner.contract.request.comparison import read_request
from planner.contract.request.rules import resolve_rules
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption

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


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"horizon_months": 200}, "horizon_months"),
        ({"horizon_months": 0}, "horizon_months"),
        ({"horizon": 36}, "horizon"),
        ({"currency": "dollars"}, "currency"),
        ({"start": "2027"}, "start"),
        ({"constraints": {"regions": []}}, "constraints.regions"),
        ({"constraints": {"region": ["x"]}}, "constraints.region"),
        ({"constraints": {"max_spot_share": 1.2}}, "constraints.max_spot_share"),
        ({"constraints": {"capex_budget": -1}}, "constraints.capex_budget"),
        ({"constraints": {"purchase_options": ["rent"]}}, "constraints.purchase_options.0"),
        ({"finance": {"discount_rate_per_year": 1.1}}, "finance.discount_rate_per_year"),
        ({"finance": {"depreciation": "fast"}}, "finance.depreciation"),
        ({"finance": {"tax_rate": float("nan")}}, "finance.tax_rate"),
        ({"on_prem": {"pue": 0.9}}, "on_prem.pue"),
        ({"on_prem": {"lead_time_months": 2.5}}, "on_prem.lead_time_months"),
        ({"on_prem": {"servers": [{"server": "custom"}]}}, "on_prem.servers.0.unit_price"),
        ({"price_adjustments": [{"multiplier": 0}]}, "price_adjustments.0.multiplier"),
        ({"risk": {"samples": 3}}, "risk.samples"),
        ({"workload": HOURS | {"hours_per_month": -5}}, "workload.hours_per_month"),
        ({"workload": HOURS | {"hours_per_month": float("nan")}}, "workload.hours_per_month"),
        ({"workload": HOURS | {"kind": "guess"}}, "workload.kind"),
    ],
)
def test_a_refusal_names_its_field(fields: dict[str, Any], field: str) -> None:
    assert refusal(**fields).field == field


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
    ("field", "value"),
    [("epochs", -1), ("benchmark", 3), ("goodput", 2), ("colour", "blue")],
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
