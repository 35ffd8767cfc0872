"""The table of warnings: each is said where its condition holds, and nowhere else."""

import datetime as dt
import re
from typing import Any

import pytest

from planner.comparison.warnings import CONDITIONS, WARNINGS
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import BEFORE_TODAY, RESERVED_AS_ESTIMATED
from pricing.bundled.catalog import bundled_catalog
from pricing.common.invalid_input import InvalidInput
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

RENT = catalog(offer("50"))
NOTHING_OWNED: dict[str, Any] = {"servers": []}
YEAR = {"first": "2027-01", "last": "2027-12"}
BOX = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
       "unit_price": 200_000, "running_cost_per_hour": 1}  # fmt: skip
QUOTES = [{"unit_price": price, "quoted": "2026-10"} for price in (200_000, 250_000)]
TRAINING = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": "H100"}
ONE_OF_EIGHT = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 730}


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


def answer(fields: dict[str, Any], prices: Any = RENT) -> ComparisonAnswer:
    plain = {"hours": 5840, "on_prem": NOTHING_OWNED}
    return compared(prices, **plain | fields).answer


def test_every_code_stands_once_with_its_sentence() -> None:
    codes = [code for code, _, _ in WARNINGS]
    assert len(set(codes)) == len(codes)
    assert set(codes) == CONDITIONS.keys()
    sentences = " ".join(sentence for _, sentence, _ in WARNINGS)
    assert all(sentence.endswith((".", "}")) for _, sentence, _ in WARNINGS)
    assert BEFORE_TODAY in sentences  # by which other modules know these two again
    assert RESERVED_AS_ESTIMATED in sentences


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"start": "2026-09", "hours": 5840}, "in September 2026, before today: 2 of its 24"),
        ({"on_prem": {"servers": [], "already_owned": [{"server": "dgx-h100"}]}}, "is assumed to"),
        ({"on_prem": {"servers": [], "already_owned": [
            {"server": "dgx-h100", "bought": "2019-06"}]}}, "60 months was over before the start"),
        ({"on_prem": {"servers": [], "already_owned": [
            {"server": "dgx-h100", "bought": "2022-06"}]}}, "months is over in June 2027; after"),
        ({"workload": ONE_OF_EIGHT | {"peak_accelerators": 1}},
         "Only 1 of the 8 accelerators paid for at once works"),
        (credit(provider="azure"), "The credit 'Grant' pays for nothing here: no plan has a "
                                   "bill from Azure"),
        (credit(expires="2026-12"), "from AWS before it expires in 2026-12."),
        (credit(amount=300_000), "The credit 'Grant' pays 219,000 USD of its 300,000 USD in the "
                                 "advised plan: 81,000 USD is lost when it expires in 2027-06."),
        (minimum(provider="gcp"), "no plan has a bill from Google Cloud in its months; what is "
                                  "left of it (1,000 USD) is owed"),
        (minimum(first="2029-01", last="2029-12"), "'EDP' (2029-01 to 2029-12): no plan"),
        (minimum(amount=500_000), "its total includes a shortfall of 62,000 USD."),
        (signed(ends="2026-12"), "The commitment 'Reserved' ended in 2026-12, before the plan"),
        (signed(provider="awss"), "The commitment 'Reserved' is with awss, a name that nothing"),
        ({"constraints": {"quotas": [
            {"provider": "aws", "accelerator": "H100", "max_accelerators": 4}]}},
         "The quota for H100 SXM5 80 GB at AWS (4) is smaller than one machine of 1 offer"),
        ({"constraints": {"quotas": [
            {"provider": "aws", "accelerator": "L4", "max_accelerators": 8}]}},
         "at AWS matches no price and limits nothing."),
        ({"currency": "EUR", "exchange_rates": {"EUR": 0.9}, "on_prem": {}},
         "Electricity for own servers is counted at 0.0826 USD/kWh"),
        ({"currency": "EUR", "exchange_rates": {
            "EUR": {"units_per_usd": 0.9, "as_of": "2026-06"}}},
         "converted at 0.9 EUR per USD (as the request states, June 2026)."),
    ],
)  # fmt: skip
def test_what_holds_is_said_and_only_there(fields: dict[str, Any], words: str) -> None:
    assert any(words in warning for warning in answer(fields).warnings)
    if fields:
        assert not any(words in warning for warning in answer({}).warnings)


def test_the_rate_of_exchange_is_among_what_the_answer_rests_on() -> None:
    told = answer({"currency": "GBP"}, bundled_catalog())
    (row,) = (one for one in told.assumptions if one.field == "exchange_rates.GBP")
    assert told.exchange_rate
    assert (row.value, row.unit, row.given) == (told.exchange_rate.units_per_usd, "GBP per USD",
                                                False)  # fmt: skip
    assert any(f"at {row.value} GBP per USD (Federal Reserve, " in one for one in told.warnings)


def test_capacity_that_a_provider_reserves_by_date_is_kept_ready() -> None:
    by_date = offer("10", "dws_calendar_mode", provider="gcp", instance_type="a3-highgpu-8g")
    work = {"hours": 70 * 5840, "horizon_months": 2}
    assert "Secure" not in answer(work, catalog(by_date)).verdict.sentence


def test_many_machines_by_the_hour_are_said_in_the_sentence() -> None:
    many, few = (answer({"hours": units * 5840}) for units in (32, 31))
    ready = "Secure capacity first: no cloud keeps 32 × p5.48xlarge ready to rent by the hour."
    assert ready in many.verdict.sentence
    assert "Secure" not in few.verdict.sentence


def test_a_savings_plan_for_many_machines_fixes_no_more_than_their_price() -> None:
    prices = catalog(offer("50"), offer("30", "savings_plan", term_months=12))
    plan = {"hours": 32 * 5840, "horizon_months": 12, "risk": {"hours_spread": 0}}
    words = "Secure capacity first: a savings plan fixes the price of 32 × p5.48xlarge alone."
    assert words in answer(plan, prices).verdict.sentence
    assert "Secure" not in answer(plan | {"hours": 31 * 5840}, prices).verdict.sentence


def test_what_the_busiest_hours_take_beside_contracts_is_priced() -> None:
    """1 replica for 20 hours of the day and 4 for 4 are paid as 1.5 + 2.5 / 6 → 2 around the clock;
    2 more for 4 hours a day are 243.3 hours a month, at 10 USD over 24 months."""
    work = {"kind": "serving", "model": "Llama-3.1-8B", "accelerator": "H100", "engine": "tuned",
            "requests_by_hour": [1.0] * 20 + [160.0] * 4}  # fmt: skip
    term = offer("2", "reserved", count=1, term_months=12, payment_option="no_upfront")
    told = answer({"workload": work}, catalog(offer("10", count=1), term)).warnings
    words = "take 243 hours of one H100 SXM5 80 GB a month; rented on demand, about 58,400 USD more"
    assert any(words in one for one in told)
    assert not any("Not in the cost" in one for one in answer({"workload": work}).warnings)


@pytest.mark.parametrize(
    ("job", "count", "is_told"),
    [({}, 1, True), ({}, 8, False), ({"accelerators_per_job": 1}, 1, False)],
)
def test_hours_on_small_machines_are_told_to_be_of_single_jobs(
    job: dict[str, int], count: int, is_told: bool
) -> None:
    work = ONE_OF_EIGHT | {"hours_per_month": 5840} | job
    told = answer({"workload": work}, catalog(offer("5", count=count))).warnings
    assert any("taken as jobs of one accelerator each" in one for one in told) is is_told


@pytest.mark.parametrize("may_rent", [False, True])
def test_servers_that_nothing_stands_in_for_may_come_late(may_rent: bool) -> None:
    """In service from the eighth month, in which the work begins, if they come as quoted."""
    fields = {"hours": [0] * 7 + [5840] * 17, "use_catalog": may_rent}
    told = answer(fields | {"on_prem": {"servers": [BOX]}}).warnings
    words = r"servers that come late: in 4\d% of outcomes .* begins in August 2027, and the work"
    assert any(re.search(words, one) for one in told) is not may_rent


@pytest.mark.one_in(3)
@pytest.mark.parametrize("fields", [credit(), minimum()])
def test_nothing_is_said_of_what_counts(fields: dict[str, Any]) -> None:
    assert answer(fields).warnings == answer({}).warnings
    assert not any("Reserved" in warning for warning in answer(signed()).warnings)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("spot", "in use1, spot: can be reclaimed at any time; 5.0% of its hours are counted as "
                 "lost"),
        ("dws_flex_start", "flex start waits for capacity and runs for at most seven days."),
        ("low_priority", "low priority exists only in Azure Batch and old scale sets."),
    ],
)  # fmt: skip
def test_ways_to_rent_come_with_their_terms(option: str, words: str) -> None:
    prices = catalog(offer("50"), offer("10", option, zone="use1"))
    fields = {"constraints": {"max_spot_share": 1.0}}
    assert any(words in warning for warning in answer(fields, prices).warnings)


def test_undated_prices_are_named() -> None:
    told = answer({}, catalog(offer("50", as_of=None))).warnings
    assert any("gives no date for the price of p5.48xlarge in us-east-1" in one for one in told)


def test_a_contract_that_meets_a_minimum_spend_in_its_last_month_is_said_so() -> None:
    ahead = offer("0", "reserved", term_months=12, upfront=300_000, payment_option="all_upfront")
    late = minimum(amount=700_000) | {"hours": 2000, "horizon_months": 24}
    told = answer(late, catalog(offer("50"), ahead)).warnings
    words = "300,000 USD paid upfront in December 2027 counts towards the minimum spend 'EDP'"
    assert any(one.startswith(words) for one in told), told


def test_a_price_that_the_last_list_lacks_is_named_with_its_day() -> None:
    told = answer({}, catalog(offer("50", absent_since=dt.date(2026, 11, 23)))).warnings
    words = "p5.48xlarge in us-east-1, on demand: not in the list of 23 November 2026; it may no"
    assert any(words in one for one in told), told


def test_a_server_that_counts_with_its_lowest_quote_is_said_so() -> None:
    own: dict[str, Any] = {"servers": [{**BOX, "quotes": QUOTES}]}
    words = "Box: 200,000 USD is the lowest price known for it, 250,000 USD the highest"
    assert any(words in one for one in answer({"horizon_months": 36, "on_prem": own}).warnings)
    own["servers"][0]["unit_price"] = 220_000
    told = answer({"horizon_months": 36, "on_prem": own}).warnings
    assert not any("lowest" in one for one in told)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (credit(provider="awss"), "existing.credits.0.provider"),
        (minimum(provider="awss"), "existing.minimum_spend.0.provider"),
    ],
)
def test_a_provider_that_nobody_knows_is_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        answer(fields)
    assert str(refused.value).startswith(f"{field}: 'awss' is in neither the catalog nor")
    assert "did you mean aws?" in str(refused.value)


def test_an_offer_or_a_commitment_of_the_request_names_a_provider() -> None:
    own = {"label": "Nimbus", "provider": "nimbus", "accelerator": "H100", "accelerator_count": 8,
           "purchase_option": "on_demand", "usd_per_hour": 10}  # fmt: skip
    found = answer({**credit(provider="nimbus"), "custom_offers": [own]})
    assert found.by_key["on_demand"].cost_by_category["credit"] == -1000
    both = signed(provider="nimbus")["existing"] | credit(provider="nimbus")["existing"]
    assert answer({"existing": both}).by_key["on_demand"].cost_by_category["credit"] < 0
