"""Sentences of the market pages, with and without what they may leave out."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from planner.web.market import sentences
from pricing.market.accelerators import Accelerator
from pricing.market.offers import Offer, PurchaseOption
from pricing.models import Revision

ACCELERATOR = Accelerator(
    slug="x",
    name="X",
    vendor="v",
    architecture="a",
    year=2024,
    accelerator_class="training",
    form="sxm",
    memory_gib=80,
)
OFFER = Offer(
    provider="aws",
    region="us-east-1",
    instance_type="p5.48xlarge",
    accelerator="x",
    accelerator_count=Fraction(8),
    purchase_option=PurchaseOption.ON_DEMAND,
    price_per_hour=Decimal("55.040"),
)


def test_the_interconnect_names_its_bandwidth_where_known() -> None:
    assert sentences.interconnect(ACCELERATOR) == "not known"
    assert sentences.link_name("nvlink-bridge") == "NVLink bridge"
    linked = replace(ACCELERATOR, interconnect="NVLink 4")
    assert sentences.interconnect(linked) == "NVLink 4"
    assert (
        sentences.interconnect(replace(linked, interconnect_gb_per_s=900)) == "NVLink 4, 900 GB/s"
    )


@pytest.mark.parametrize(
    ("months", "payment", "term"),
    [(0, "", ""), (12, "", "12 months"), (36, "all_upfront", "36 months, all upfront")],
)
def test_a_commitment_says_its_term_and_payment(months: int, payment: str, term: str) -> None:
    offer = replace(OFFER, term_months=months, payment_option=payment)
    assert sentences.commitment_term(offer) == term


def test_the_oldest_price_counts_those_without_a_date() -> None:
    day = dt.date(2026, 11, 1)
    assert sentences.oldest_price(Revision(oldest_price_as_of=day)) == "1 November 2026."
    undated = Revision(oldest_price_as_of=None, undated_prices=1200)
    assert sentences.oldest_price(undated) == "not known; 1,200 prices carry no date."


@pytest.mark.parametrize(
    ("offer_id", "name"),
    [
        ("aws:us-east-1:p5.48xlarge:on_demand", "p5.48xlarge, AWS us-east-1, on demand"),
        ("aws:us-east-1:gone:on_demand", "aws:us-east-1:gone:on_demand"),
    ],
)
def test_an_offer_is_named_by_machine_place_and_way_of_paying(
    prices: None, offer_id: str, name: str
) -> None:
    assert sentences.offer_name(offer_id) == name
