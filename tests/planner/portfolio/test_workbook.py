"""The workbook of a portfolio says what its figures came from."""

from __future__ import annotations

import io

import openpyxl
import pytest

from planner.contract.answer.scenario import Purchase
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from tests.planner.portfolio.portfolios import planned, relay


def test_it_holds_assumptions_with_their_sources_and_the_prices_used():
    answer = planned(relay(2, 12))
    book = openpyxl.load_workbook(io.BytesIO(PORTFOLIO_FORMATS["xlsx"].make(answer)))
    head, *assumed = book["Assumptions"].iter_rows(values_only=True)
    ids = [row[head.index("Assumption (id)")] for row in assumed]
    assert ids == [row.field for row in answer.assumptions]
    assert [row[4] for row in assumed] == [row.source for row in answer.assumptions]
    offers = {row[0]: row for row in book["Offers"].iter_rows(min_row=2, values_only=True)}
    assert list(offers) == list(answer.offers)
    for offer_id, offer in answer.offers.items():
        assert offers[offer_id][8] == pytest.approx(float(offer.native_price_per_hour))
        assert offers[offer_id][15] == offer.source
    facts = {row[0]: row[1] for row in book["Summary"].iter_rows(values_only=True)}
    assert f"AWS revision {answer.catalog[0].revision} of " in facts["Prices"]
    lines = list(book["Lines"].iter_rows(values_only=True))
    amounts = [row[lines[0].index("amount")] for row in lines[1:]]
    assert sum(amounts) == pytest.approx(float(answer.total_cost), abs=0.005)


def test_a_purchase_stands_in_it_with_its_idle_months():
    """In the months' own names, as in the CSV; a workbook of any plan that bought ended in 500."""
    bought = Purchase(month=0, source="s", kind="server", units=2, first=0, last=5,
                      idle_months=(1, 4), due_at_start="530000.00")  # fmt: skip
    answer = planned(relay(1, 6))
    answer = answer.model_copy(update={"purchases": (bought,)})
    book = openpyxl.load_workbook(io.BytesIO(PORTFOLIO_FORMATS["xlsx"].make(answer)))
    head, row = book["Purchases"].iter_rows(values_only=True)
    purchase = dict(zip(head, row, strict=True))
    assert purchase["idle months"] == "2027-02 2027-05"
    assert (purchase["first"], purchase["last"]) == ("2027-01", "2027-06")
    assert purchase["due at start"] == pytest.approx(530_000)
