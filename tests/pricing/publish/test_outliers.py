"""The band of a price, and how many prices beyond theirs put the whole list in doubt."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from pricing.market.offers import PurchaseOption
from tests.pricing.make import offer
from tests.pricing.publish.test_batch_checks import DAY, judge

SPOT = PurchaseOption.SPOT
MANY = tuple(offer(region=f"region-{n}", as_of=DAY) for n in range(40))


def with_moved(count: int, factor: str, offers=MANY):
    moved = [replace(o, price_per_hour=o.price_per_hour * Decimal(factor)) for o in offers[:count]]
    return (*moved, *offers[count:])


@pytest.mark.parametrize("factor", ["5.01", "0.19", "1000"])
@pytest.mark.parametrize("count", [1, 2])
def test_few_outliers_are_quarantined_alone_and_keep_their_published_price(count, factor):
    result = judge(*with_moved(count, factor), published=MANY)
    assert result.reasons == ()
    assert result.offers == MANY
    assert [one.offer.region for one in result.outliers] == [f"region-{n}" for n in range(count)]


def test_more_than_a_twentieth_of_outliers_hold_the_batch():
    result = judge(*with_moved(3, "6"), published=MANY)
    assert result.reasons[0].startswith("3 changed by more than a factor of 5: aws:region-0:")
    assert result.outliers == ()


def test_force_publishes_outliers():
    moved = with_moved(1, "6")
    result = judge(*moved, published=MANY, force=True)
    assert (result.offers, result.outliers) == (moved, ())


SPOTS = tuple(offer("10", region=f"region-{n}", as_of=DAY, purchase_option=SPOT) for n in range(40))


@pytest.mark.parametrize(
    ("low", "high", "factor", "is_out"),
    [("2", "10", "0.05", 0), ("2", "10", "0.03", 1), ("10", "30", "14", 0), ("10", "30", "16", 1)],
)
def test_the_band_of_spot_is_counted_from_its_history(low, high, factor, is_out):
    def read_ranges(offers):
        return {one.id: (float(low), float(high)) for one in offers}

    result = judge(*with_moved(1, factor, SPOTS), published=SPOTS, read_ranges=read_ranges)
    assert len(result.outliers) == is_out
    listed = judge(*with_moved(1, factor), published=MANY, read_ranges=read_ranges)
    assert len(listed.outliers) == 1
