"""Contract prices that the catalog lacks, and the price below which signing wins."""

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.risk import Driver
from pricing.bundled.catalog import bundled_catalog
from pricing.market.snapshot import Catalog
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import TODAY, catalog, offer

A100 = {"instance_type": "p4d.24xlarge", "accelerator": "nvidia-a100-40gb-sxm"}
RENT = offer("60")
OTHER = offer("30", **A100)
TERM = {"term_months": 12}
FIELDS: dict[str, Any] = {"horizon_months": 24, "cheaper_if": True, "on_prem": {"servers": []}}


def ask_first(prices: Catalog, **fields: Any) -> tuple[Driver, ...]:
    answer = compared(prices, 5840, **{**FIELDS, **fields}).answer
    rows = tuple(row for row in answer.drivers if row.value is None)
    assert answer.verdict
    assert answer.verdict.ask_first == tuple(row.sentence for row in rows)
    return rows


def test_the_price_below_which_signing_wins_turns_the_advice() -> None:
    """Another family is 40 % off for a year."""
    prices = (RENT, OTHER, offer("18", "reserved", **A100, **TERM))
    (row,) = ask_first(catalog(*prices))
    assert row.field == "unknown_prices.aws.reserved.12"
    assert (row.chance, row.source) == (1.0, "discounts of 1 known family")
    assert row.worth_asking
    assert row.turns_at
    turn = row.turns_at
    for price, signs in ((turn * 0.99, True), (turn * 1.03, False)):
        known = catalog(*prices, offer(f"{price:.4f}", "reserved", **TERM))
        found = compared(known, 5840, **FIELDS).answer.verdict
        assert ("commit" in {part.action for part in found.decision}) is signs, price
        assert not found.ask_first
    told = compared(catalog(*prices), 5840, **FIELDS).answer.advice[-1]
    assert told.startswith("Not proven: a price that is not known")


def test_the_price_to_ask_for_is_in_the_currency_of_the_answer() -> None:
    prices = catalog(RENT, OTHER, offer("18", "reserved", **A100, **TERM))
    (row,), (half,) = (
        ask_first(prices, **fields)
        for fields in ({}, {"currency": "EUR", "exchange_rates": {"EUR": 0.5}})
    )
    assert row.turns_at
    assert half.turns_at == pytest.approx(row.turns_at / 2, abs=0.01)
    assert (row.unit, half.unit) == ("USD/h", "EUR/h")
    assert f"below {half.turns_at:.2f} EUR an hour" in half.sentence


@pytest.mark.parametrize(
    ("prices", "fields"),
    [
        ((RENT, OTHER), {}),  # no discount is known
        (
            (RENT, OTHER, offer("29.9", "reserved", **A100, **TERM)),
            {},
        ),  # too small to turn anything
        ((RENT, OTHER, offer("18", "reserved", **A100, **TERM)), {"horizon_months": 6}),
        ((RENT, OTHER, offer("18", "reserved", **A100, **TERM)), {"cheaper_if": False}),
    ],
)
def test_nothing_is_asked_for_that_turns_nothing(prices: Any, fields: dict[str, Any]) -> None:
    assert ask_first(catalog(*prices), **fields) == ()


def test_discounts_are_against_the_same_machine_in_the_same_region() -> None:
    """And those of one part of a cloud are not those of another."""
    west = offer("20", region="us-west-2", **A100)
    signed = offer("15", "reserved", region="us-west-2", **A100, **TERM)
    places = {"region": "cn-north-1", **A100}
    in_china = offer("20", **places), offer("8", "reserved", **places, **TERM)
    table = catalog(OTHER, west, signed, *in_china).offers
    terms = ("aws", "reserved", 12)
    assert table.discounts == {
        "commercial": {terms: {"nvidia-a100-40gb-sxm": pytest.approx(0.25)}},
        "aws-china": {terms: {"nvidia-a100-40gb-sxm": pytest.approx(0.6)}},
    }


def test_a_known_price_of_another_option_or_term_leaves_this_one_unknown() -> None:
    """A savings plan of p5 for a year, dearer than its reservation would be."""
    prices = (RENT, OTHER, offer("18", "reserved", **A100, **TERM))
    known = catalog(*prices, offer("50", "savings_plan", **TERM))
    answer = compared(known, 5840, **FIELDS).answer
    assert [one.field for one in answer.drivers] == ["unknown_prices.aws.reserved.12"]
    states = {
        one.purchase_option: one.unknown_terms
        for one in answer.coverage
        if "h100" in one.accelerator
    }
    assert (states["reserved"], states["savings_plan"]) == ((12, 36), (36,))


def test_three_years_of_64_h100_are_signed_at_the_bundled_price() -> None:
    """Savings plan of p5.48xlarge in us-east-1: 23.78 USD an hour with nothing and 20.70 with all
    upfront, 55.04 on demand; each provider, option and term has a price or is known to have none.
    """
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 64 * 730}
    quick = {"start": "2027-01", "sensitivity": False, "cheaper_if": False}
    request = quick | {"workload": work | {"peak_accelerators": 64}}
    prices = bundled_catalog()
    plan = prices.offers.find("aws:us-east-1:p5.48xlarge:savings_plan:36m:no_upfront")
    assert plan is not None
    assert round(float(plan.price_per_hour), 3) == 23.777
    answer = compare(request, prices, today=TODAY)
    (signed,) = answer.verdict.decision
    assert signed.source == "aws:us-east-1:p5.48xlarge:savings_plan:36m:all_upfront"
    states = {(one.provider, one.purchase_option): one for one in answer.coverage}
    for key in [("aws", "savings_plan"), ("azure", "reserved"), ("gcp", "committed_use")]:
        assert states[key].state == "priced"
        assert not set(states[key].unknown_terms) & {12, 36}
    assert states["azure", "savings_plan"].unknown_terms == (12, 36)
    assert states["aws", "reserved_convertible"].unknown_terms == (12, 36)
