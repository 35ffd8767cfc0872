from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from pricing import catalog
from pricing.ingest.provider import NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import PurchaseOption
from pricing.models import Listing, Price, QuarantinedBatch, Revision
from pricing.publish import publication
from pricing.publish.batch import OfferBatch
from pricing.storage import store
from pricing.storage.bulk import AlreadyRunning, provider_lock
from tests.pricing.make import A100, T4, offer

pytestmark = pytest.mark.django_db

DAY = dt.date(2026, 9, 1)
TODAY = dt.date(2026, 11, 20)


def batch(*offers, as_of=DAY, **more) -> OfferBatch:
    return OfferBatch("aws", offers, as_of, **more)


def publish(*offers, force=False, **more):
    return publication.publish(batch(*offers, **more), force=force, today=TODAY)


def in_force() -> list:
    return sorted(store.read_offers(store.latest("aws")), key=lambda o: o.id)


THREE = (
    offer("55.04"),
    offer("20.48", instance_type="p4de.24xlarge", accelerator=A100),
    offer("0.526", 1, instance_type="g4dn.xlarge", accelerator=T4, region="eu-west-1"),
)


def test_what_is_published_reads_back_exactly():
    odd = offer(
        "12345678.1234567891",
        Fraction(1, 6),
        instance_type="odd",
        zone="us-east-1a",
        vcpus=6.0,
        memory_gib=0.1 + 0.2,
        network_gbps=None,
        sku="ABC",
        source="§ é",
        as_of=None,
    )
    publish(*THREE, odd)
    assert in_force() == sorted((*THREE, odd), key=lambda o: o.id)


def test_a_retrieval_date_that_moved_adds_no_row_and_both_dates_read_back():
    later = dt.date(2026, 9, 2)
    publish(*THREE)
    publish(*(replace(o, as_of=later) for o in THREE), as_of=later)
    first, second = Revision.objects.order_by("number")
    assert Price.objects.count() == 3
    assert {o.as_of for o in store.read_offers(first)} == {DAY}
    assert {o.as_of for o in store.read_offers(second)} == {later}


def test_any_past_revision_reads_back_exactly():
    states = [
        THREE,
        (THREE[0], replace(THREE[1], price_per_hour=Decimal("21")), THREE[2]),
        (*THREE, offer("1.2", 1, instance_type="g6.xlarge", accelerator="nvidia-l4")),
        (replace(THREE[0], sku="NEW"), *THREE[1:]),
        THREE,
    ]
    for offers in states:
        publish(*offers, force=True)
    for revision, offers in zip(Revision.objects.order_by("number"), states, strict=True):
        assert sorted(store.read_offers(revision), key=lambda o: o.id) == sorted(
            offers, key=lambda o: o.id
        )
        assert store.verify_revision(revision)


def test_a_listing_that_comes_back_is_the_same_listing():
    publish(*THREE)
    publish(replace(THREE[0], sku="NEW"), *THREE[1:])
    publish(*THREE)
    assert Listing.objects.count() == 4
    assert Price.objects.count() == 5


def test_what_changed_is_told_and_kept():
    publish(*THREE)
    done = publish(
        replace(THREE[0], price_per_hour=Decimal("98.32")),
        replace(THREE[1], price_per_hour=Decimal("10.24")),
        replace(THREE[2], vcpus=4.0),
        offer("9", instance_type="p5.xlarge", accelerator=A100),
    )
    revision = done.revision
    counts = (revision.added, revision.gone, revision.dearer, revision.cheaper, revision.changed)
    assert counts == (1, 0, 1, 1, 1)
    assert revision.moves[0]["offer_id"] == THREE[1].id
    assert (revision.moves[0]["before"], revision.moves[0]["after"]) == ("20.48", "10.24")
    assert revision.moves[0]["ratio"] == 0.5


def test_a_doubtful_batch_is_held_whole_and_nothing_changes():
    publish(*THREE)
    done = publish(replace(THREE[0], price_per_hour=Decimal("5504")), *THREE[1:])
    assert done.outcome == "quarantined"
    assert "changed by more than a factor of 5" in done.reasons[0]
    assert in_force() == sorted(THREE, key=lambda o: o.id)
    assert done.quarantined_batch.offer_count == 3


def test_a_quarantined_batch_can_be_released_as_it_was_fetched():
    publish(*THREE)
    dear = replace(THREE[0], price_per_hour=Decimal("5504"))
    held = publish(dear, *THREE[1:], skipped=(SkippedRow("why", "x"),)).quarantined_batch
    publication.release(held, today=TODAY)
    held.refresh_from_db()
    assert (held.state, held.revision.number) == (QuarantinedBatch.State.RELEASED, 2)
    assert dear in in_force()
    assert held.revision.skipped == {"why": {"count": 1, "examples": {"x": 1}}}


def test_the_same_batch_held_twice_is_kept_once():
    publish(*THREE)
    for _ in range(2):
        publish(replace(THREE[0], price_per_hour=Decimal("5504")), *THREE[1:])
    (held,) = QuarantinedBatch.objects.all()
    assert held.seen_again_at is not None


def test_a_good_batch_supersedes_one_that_waits():
    publish(*THREE)
    held = publish(replace(THREE[0], price_per_hour=Decimal("5504")), *THREE[1:]).quarantined_batch
    publish(*THREE)
    held.refresh_from_db()
    assert held.state == QuarantinedBatch.State.SUPERSEDED


def test_a_dry_run_writes_nothing():
    done = publication.publish(batch(*THREE), dry_run=True, today=TODAY)
    assert (done.outcome, done.changes.added) == ("would_publish", 3)
    assert not Revision.objects.exists()


def test_a_batch_without_a_usable_offer_is_refused():
    with pytest.raises(ProviderUnavailable, match="nothing to publish"):
        publish(offer("0"))
    assert not Revision.objects.exists()


def test_parts_that_were_not_read_stay_in_force_with_their_dates():
    spot = offer("16", purchase_option=PurchaseOption.SPOT)
    later = dt.date(2026, 9, 9)
    publish(*THREE, spot)
    done = publish(
        *(replace(o, as_of=later) for o in THREE),
        as_of=later,
        not_read=(NotRead("no credentials", ("spot",)),),
    )
    kept = next(o for o in in_force() if o.purchase_option is PurchaseOption.SPOT)
    assert (kept.as_of, done.carried_over) == (DAY, 1)
    assert done.warnings == ("not read: no credentials",)


def test_trap_11_a_retired_machine_stays_shown_as_last_known_with_its_date():
    old = offer("0.9", 1, instance_type="p2.xlarge", as_of=dt.date(2017, 1, 1), sold_now=False)
    publish(*THREE, old)
    publish(*THREE)
    assert old in in_force()
    assert not catalog.current().offers.select(instance_types=["p2.xlarge"]).size


def test_a_provider_locked_elsewhere_is_left_alone():
    with provider_lock("aws"), pytest.raises(AlreadyRunning, match="refresh of aws is running"):
        publish(*THREE)
    publish(*THREE)
