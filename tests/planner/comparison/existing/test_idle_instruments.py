"""Contracts, credits and prices that apply to nothing: refused or said, never passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Region
from tests.planner.costing.market_of import TODAY, catalog, offer, request_of

MARKET = catalog(offer("50"))
YEAR = {"first": "2027-01", "last": "2027-12"}


def credit(**fields: Any) -> dict[str, Any]:
    one = {"label": "Grant", "amount": 1000, "provider": "aws", "expires": "2027-06", **fields}
    return {"existing": {"credits": [one]}}


def minimum(**fields: Any) -> dict[str, Any]:
    one = {"label": "EDP", "amount": 1000, "provider": "aws", **YEAR, **fields}
    return {"existing": {"minimum_spend": [one]}}


def signed(**fields: Any) -> dict[str, Any]:
    one = {"label": "Reserved", "provider": "aws", "accelerator": "H100", "accelerator_count": 8,
           "price_per_month": 100, "ends": "2027-06", **fields}  # fmt: skip
    return {"existing": {"commitments": [one]}}


def data_price(**fields: Any) -> dict[str, Any]:
    one = {"item": "storage", "provider": "aws", "price_per_gib": 0.1, **fields}
    return {"data": {"storage_gib": 100, "prices": [one]}}


def answer(fields: dict[str, Any]) -> ComparisonAnswer:
    request = request_of(5840, on_prem={"servers": []}, **fields)
    return compare(request, MARKET, today=TODAY)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (credit(provider="awss"), "existing.credits.0.provider"),
        (minimum(provider="awss"), "existing.minimum_spend.0.provider"),
        (data_price(provider="awss"), "data.prices.0.provider"),
    ],
)
def test_a_provider_that_nobody_knows_is_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        answer(fields)
    assert str(refused.value).startswith(f"{field}: 'awss' is in neither the catalog nor")
    assert "did you mean aws?" in str(refused.value)


def test_the_known_ones_are_listed_where_none_is_close() -> None:
    with pytest.raises(InvalidInput, match=r"they hold .*aws.*gcp"):
        answer(credit(provider="zzzzzz"))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (credit(provider="azure"), "The credit 'Grant' pays for nothing here: no plan has a "
                                   "bill from Azure."),
        (credit(expires="2026-12"), "it expired in 2026-12, before the plan"),
        (minimum(provider="gcp"), "no plan has a bill from Google Cloud, so what is left of it "
                                  "(1,000 USD) is owed"),
        (minimum(first="2026-01", last="2026-12"), "its months, 2026-01 to 2026-12, are outside"),
        (minimum(first="2029-01", last="2029-12"), "its months, 2029-01 to 2029-12, are outside"),
        (signed(ends="2026-12"), "The commitment 'Reserved' ended in 2026-12, before the plan"),
        (signed(provider="awss"), "The commitment 'Reserved' is with awss, a name that nothing"),
        (data_price(provider="gcp"), "The price of data (storage) at Google Cloud is not "
                                     "used"),
    ],
)  # fmt: skip
def test_what_applies_to_nothing_is_said(fields: dict[str, Any], words: str) -> None:
    assert any(words in warning for warning in answer(fields).warnings)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "fields", [credit(), minimum(), data_price(), data_price(region="us-east-1"),
               minimum(provider="gcp", spent=1000)]
)  # fmt: skip
def test_nothing_is_said_of_what_counts(fields: dict[str, Any]) -> None:
    assert answer(fields).warnings == answer({}).warnings


def test_nothing_is_said_of_a_commitment_in_force() -> None:
    assert not any("Reserved" in warning for warning in answer(signed()).warnings)


def test_an_offer_or_a_commitment_of_the_request_names_a_provider() -> None:
    own = {"label": "Nimbus", "provider": "nimbus", "accelerator": "H100", "accelerator_count": 8,
           "purchase_option": "on_demand", "usd_per_hour": 10}  # fmt: skip
    found = answer({**credit(provider="nimbus"), "custom_offers": [own]})
    assert found.by_key["on_demand"].cost_by_category["credit"] == -1000
    both = signed(provider="nimbus")["existing"] | credit(provider="nimbus")["existing"]
    assert answer({"existing": both}).by_key["on_demand"].cost_by_category["credit"] < 0


def at(region: str, provider: str = "aws") -> dict[str, Any]:
    price = {"item": "storage", "provider": provider, "region": region, "price_per_gib": 0.1}
    return {"data": {"storage_gib": 100, "prices": [price]}}


@pytest.mark.parametrize(
    ("region", "says"),
    [
        ("us-esat-1", "'us-esat-1' is no region of AWS that is known here; did you mean us-east-1? "
         "Correct it, or leave the region out for a price that holds in all regions of AWS"),
        ("frankfort", "did you mean eu-central-1? Correct it"),
        ("zzz", "known are eu-central-1, us-east-1. Correct it"),
    ],
)  # fmt: skip
def test_a_region_that_its_provider_does_not_have_is_refused(region: str, says: str) -> None:
    places = {("aws", "eu-central-1"): Region("europe", "DE", "Frankfurt", name="Germany")}
    market = replace(MARKET, regions=places)
    with pytest.raises(InvalidInput) as refused:
        compare(request_of(5840, on_prem={"servers": []}, **at(region)), market, today=TODAY)
    assert str(refused.value).startswith("data.prices.0.region: ")
    assert says in str(refused.value)


def test_a_region_of_an_offer_of_the_request_is_known() -> None:
    own = {"label": "Nimbus", "provider": "nimbus", "region": "n1", "accelerator": "H100",
           "accelerator_count": 8, "purchase_option": "on_demand", "usd_per_hour": 10}  # fmt: skip
    found = answer({**at("n1", "nimbus"), "custom_offers": [own]})
    assert found.by_key["on_demand"].cost_by_category["storage"] == 240
    with pytest.raises(InvalidInput, match="known are n1"):
        answer({**at("m2", "nimbus"), "custom_offers": [own]})
    unlisted = answer(at("anywhere", "gcp")).warnings
    assert any("at Google Cloud anywhere is not used" in one for one in unlisted)


def test_what_the_advised_plan_loses_of_a_credit_is_said() -> None:
    """5,840 h of 8 accelerators at 50 USD an hour are 36,500 USD a month, 219,000 USD by June."""
    (words,) = [one for one in answer(credit(amount=300_000)).warnings if "credit" in one]
    assert words == (
        "The credit 'Grant' pays 219,000 USD of its 300,000 USD in the advised plan: 81,000 USD "
        "is lost when it expires in 2027-06."
    )
    for fields in (credit(), credit(amount=3_000_000, expires="2029-12")):
        assert not any("is lost" in one for one in answer(fields).warnings)


def test_what_the_advised_plan_owes_of_a_minimum_is_said() -> None:
    """Of 500,000 USD in a year 438,000 are spent."""
    (words,) = [one for one in answer(minimum(amount=500_000)).warnings if "minimum spend" in one]
    assert words == (
        "The minimum spend 'EDP' is not reached in the advised plan: its total includes a "
        "shortfall of 62,000 USD."
    )
    assert not any("minimum spend" in one for one in answer(minimum()).warnings)


def test_a_contract_in_place_is_called_neither_owned_nor_a_server() -> None:
    fields = signed(accelerator="H100 SXM")
    answer = compare(request_of(start="2027-01", **fields), MARKET, today=TODAY)
    assert any(line.startswith("1 × Reserved serves ") for line in answer.recommendation.because)
    notes = [note for one in answer.scenarios for note in one.warnings]
    assert any(
        note.endswith("renting on demand alone alongside the contracts in place.") for note in notes
    )


def test_a_discount_beyond_the_months_of_its_contract_is_said() -> None:
    """Machines at 9 % off after the contract cost their bills times 9 / 91 more without it."""
    first = {"label": "EDP", "provider": "aws", "amount": 1000, "first": "2027-01",
             "last": "2027-06", "discount_rate": 0.09}  # fmt: skip
    ended = answer({"existing": {"minimum_spend": [first]}})
    (text,) = (words for words in ended.warnings if words.startswith("The discount of 9%"))
    assert f"costs {18 * 730 * 50 * 0.09:,.0f} USD more for that" in text
    goes_on = {**first, "label": "EDP 2", "first": "2027-07", "last": "2028-12"}
    both = answer({"existing": {"minimum_spend": [first, goes_on]}})
    assert not any(words.startswith("The discount") for words in both.warnings)
