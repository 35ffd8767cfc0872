"""One outlier is one row: quarantined with the revision, released into the next one."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import Offer, PurchaseOption
from pricing.models import QuarantinedBatch, QuarantinedPrice, Revision
from pricing.publish import publication
from pricing.publish.batch import OfferBatch
from pricing.storage import store
from tests.pricing.make import offer

pytestmark = pytest.mark.django_db
DAY = dt.date(2026, 9, 1)
LIST = tuple(offer(region=f"region-{n:02}") for n in range(40))
TYPO = (replace(LIST[0], price_per_hour=Decimal(5504)), *LIST[1:])
State = QuarantinedPrice.State


def publish(offers: tuple[Offer, ...], day: int = 1, **changes: object) -> publication.Publication:
    date = DAY.replace(day=day)
    dated = tuple(replace(one, as_of=date) for one in offers)
    return publication.publish(OfferBatch("aws", dated, date), today=date, **changes)


def in_force() -> dict[str, Offer]:
    return {one.id: one for one in store.read_offers(store.latest("aws"))}


@pytest.fixture
def waiting() -> QuarantinedPrice:
    publish(LIST)
    done = publish(TYPO, day=2)
    assert (done.outcome, done.new_outliers) == ("published", 1)
    return QuarantinedPrice.objects.get()


def test_the_others_are_published_and_the_one_keeps_its_price_and_its_date(waiting):
    offers = in_force()
    assert offers[LIST[0].id] == replace(LIST[0], as_of=DAY)
    assert {offers[one.id].as_of for one in LIST[1:]} == {DAY.replace(day=2)}
    assert not QuarantinedBatch.objects.exists()
    assert (waiting.offer_id, waiting.state, waiting.ratio) == (LIST[0].id, State.WAITING, 100)
    (warning,) = store.latest("aws").warnings
    assert warning == f"quarantined: {LIST[0].id} 55.04 USD/h → 5504 USD/h (× 100)"


def test_the_same_price_again_is_one_row_and_no_news(waiting):
    assert publish(TYPO, day=3).new_outliers == 0
    row = QuarantinedPrice.objects.get()
    assert row.seen_again_at is not None
    assert in_force()[LIST[0].id].price_per_hour == Decimal("55.04")


def test_a_price_back_within_its_band_ends_the_quarantine(waiting):
    publish(LIST, day=3)
    waiting.refresh_from_db()
    assert waiting.state == State.SUPERSEDED


def test_a_released_price_is_in_the_next_revision_with_its_date_and_is_no_outlier_then(waiting):
    before = store.latest("aws")
    done = publication.release_prices([waiting], today=DAY.replace(day=3))
    waiting.refresh_from_db()
    assert (waiting.state, waiting.revision) == (State.RELEASED, done.revision)
    assert (done.revision.number, done.revision.dearer) == (before.number + 1, 1)
    assert in_force()[LIST[0].id] == replace(TYPO[0], as_of=DAY.replace(day=2))
    assert done.revision.as_of == before.as_of
    assert store.verify_revision(done.revision)
    assert publish(TYPO, day=4).outliers == ()


def test_a_rejected_price_is_not_brought_up_again_and_another_one_is(waiting):
    waiting.state = State.REJECTED
    waiting.save()
    assert publish(TYPO, day=3).new_outliers == 0
    assert QuarantinedPrice.objects.count() == 1
    assert in_force()[LIST[0].id].price_per_hour == Decimal("55.04")
    other = (replace(LIST[0], price_per_hour=Decimal(9000)), *LIST[1:])
    assert publish(other, day=4).new_outliers == 1


def test_a_price_is_released_once_and_only_while_its_offer_is_in_force(waiting):
    publication.release_prices([waiting], today=DAY.replace(day=3))
    waiting.refresh_from_db()
    with pytest.raises(InvalidInput, match="not waiting"):
        publication.release_prices([waiting])
    gone = QuarantinedPrice.objects.create(
        provider="aws", offer_id="aws:gone", before={}, after=waiting.after, ratio=9
    )
    with pytest.raises(InvalidInput, match="no longer in force"):
        publication.release_prices([gone])
    assert Revision.objects.count() == 3


def test_what_spot_cost_in_former_revisions_widens_its_band():
    spot = tuple(replace(one, purchase_option=PurchaseOption.SPOT) for one in LIST)
    for day, price in enumerate(("10", "45", "12"), 1):
        moved = replace(spot[0], price_per_hour=Decimal(price))
        assert publish((moved, *spot[1:]), day=day).outliers == ()
    assert store.read_price_ranges(spot[:1]) == {spot[0].id: (10.0, 45.0)}
    far = replace(spot[0], price_per_hour=Decimal(200))
    assert publish((far, *spot[1:]), day=4).outliers == ()
    farther = replace(spot[0], price_per_hour=Decimal(1001))
    assert publish((farther, *spot[1:]), day=5).new_outliers == 1
