"""Contract prices that the catalog lacks, and the price below which signing wins."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.verdict import UnknownPrice
from pricing.bundled.catalog import bundled_catalog
from pricing.market.discounts import list_discounts
from pricing.market.snapshot import Catalog
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import TODAY, catalog, offer

A100 = {"instance_type": "p4d.24xlarge", "accelerator": "nvidia-a100-40gb-sxm"}
RENT = offer("60")
OTHER = offer("30", **A100)
TERM = {"term_months": 12}
FIELDS: dict[str, Any] = {"horizon_months": 24, "cheaper_if": True, "on_prem": {"servers": []}}


def ask_first(prices: Catalog, **fields: Any) -> tuple[UnknownPrice, ...]:
    return compared(prices, 5840, **{**FIELDS, **fields}).answer.verdict.ask_first


def test_the_price_below_which_signing_wins_turns_the_advice() -> None:
    """Another family is 40 % off for a year."""
    prices = (RENT, OTHER, offer("18", "reserved", **A100, **TERM))
    (row,) = ask_first(catalog(*prices))
    assert (row.provider, row.term_months, row.machine) == ("aws", 12, "p5.48xlarge")
    assert (row.families_known, row.families_below) == (1, 1)
    assert row.worth_asking > 0
    turn = row.signing_wins_below
    for price, action in ((turn * 0.99, "commit"), (turn * 1.01, "rent")):
        known = catalog(*prices, offer(f"{price:.4f}", "reserved", **TERM))
        found = compared(known, 5840, **FIELDS).answer.verdict
        assert found.decision[0].action == action, price
        assert not found.ask_first


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
    west = offer("20", region="us-west-2", **A100)
    signed = offer("15", "reserved", region="us-west-2", **A100, **TERM)
    table = catalog(OTHER, west, signed).offers
    assert list_discounts(table) == {
        ("aws", "reserved", 12): {"nvidia-a100-40gb-sxm": pytest.approx(0.25)}
    }


def test_the_three_year_rate_of_64_h100_is_named_with_its_turn() -> None:
    """The bundle has no price of it; published since: 23.78 USD an hour, which signing wins at."""
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 64 * 730}
    request = {"start": "2027-01", "workload": work | {"peak_accelerators": 64}}
    verdict = compare(request, bundled_catalog(), today=TODAY).verdict
    row = verdict.ask_first[0]
    assert (row.provider, row.term_months) == ("aws", 36)
    assert 23.78 < row.signing_wins_below < 30
    assert row.sentence.startswith("Ask AWS for its 3-year")
