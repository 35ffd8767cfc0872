import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import PurchaseOption
from pricing.publish.batch import OfferBatch, digest_offers, group_by_reason, pack, unpack
from tests.pricing.make import offer

BATCH = OfferBatch(
    provider="aws",
    offers=(
        offer("0.1234567891", Fraction(1, 8), zone="a", vcpus=0.5, memory_gib=None, as_of=None),
        offer(
            "0",
            purchase_option=PurchaseOption.RESERVED,
            term_months=36,
            payment_option="all_upfront",
            upfront=Decimal("1E+5"),
            sold_now=False,
        ),
    ),
    as_of=dt.date(2026, 9, 1),
)


def test_quarantined_offers_come_back_whole():
    assert unpack(pack(BATCH.offers)) == BATCH.offers


def test_the_digest_changes_with_a_price_and_not_with_the_dates():
    later = [replace(offer, as_of=dt.date(2027, 1, 1)) for offer in BATCH.offers]
    dearer = [replace(BATCH.offers[0], price_per_hour=Decimal(9))]
    assert digest_offers(later) == digest_offers(BATCH.offers) != digest_offers(dearer)


def test_details_are_limited_and_counts_are_whole():
    rows = [SkippedRow("unknown accelerator", f"X{n}") for n in range(30)]
    found = group_by_reason([*rows, SkippedRow("windows")])
    assert found["unknown accelerator"]["count"] == 30
    assert len(found["unknown accelerator"]["examples"]) == 10
    assert list(found) == ["unknown accelerator", "windows"]
