"""Losses of a part of the market quarantine a batch, however small beside the whole."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from pricing.market.offers import Offer, PurchaseOption
from pricing.publish.batch import OfferBatch
from pricing.publish.batch_checks import PublishedState, check
from tests.pricing.make import offer

DAY = dt.date(2026, 9, 1)
RESERVED = PurchaseOption.RESERVED


def reasons(*offers: Offer, published: tuple[Offer, ...]) -> tuple[str, ...]:
    batch = OfferBatch("aws", offers, DAY)
    return check(batch, PublishedState(offers=published), DAY).reasons


# Two families of two sizes in ten regions, on demand and reserved: 80 offers.
MARKET = tuple(
    offer(
        str(price), count, instance_type=f"{family}.{size}", region=f"region-{n}",
        purchase_option=option, term_months=12 if option is RESERVED else 0,
        vcpus=8.0 * count, memory_gib=64.0 * count,
    )
    for family in ("p5", "p4d")
    for size, count, price in (("small", 1, 10), ("big", 8, 80))
    for n in range(10)
    for option in (PurchaseOption.ON_DEMAND, RESERVED)
)  # fmt: skip


@pytest.mark.parametrize(
    ("lost", "part"),
    [
        (lambda o: o.region in ("region-3", "region-4") and o.instance_type == "p5.big",
         None),
        (lambda o: o.instance_type == "p5.big" and o.region < "region-5", "family p5 (10 of 40)"),
        (lambda o: o.purchase_option is RESERVED and o.region < "region-3"
         and o.instance_type != "p5.big", "option reserved (9 of 40)"),
    ],
)  # fmt: skip
def test_a_part_that_lost_more_than_a_fifth_holds_the_batch(lost, part):
    found = reasons(*(o for o in MARKET if not lost(o)), published=MARKET)
    if part is None:
        assert found == ()
    else:
        assert f"1 part lost more than 20% of its offers: {part}" in found


def test_new_offers_hide_no_loss_of_a_part():
    lost = [o for o in MARKET if o.instance_type != "p5.big" or o.region >= "region-5"]
    new = [replace(o, instance_type="p5.huge") for o in MARKET if o.instance_type == "p5.big"]
    assert any(
        "family p5 (10 of 40)" in reason for reason in reasons(*lost, *new, published=MARKET)
    )
