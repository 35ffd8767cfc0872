import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import PurchaseOption
from pricing.models import Listing, Price, QuarantinedPart, Revision
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
        force=True,
    )
    revision = done.revision
    counts = (revision.added, revision.gone, revision.dearer, revision.cheaper, revision.changed)
    assert counts == (1, 0, 1, 1, 1)
    assert revision.moves[0]["offer_id"] == THREE[1].id
    assert (revision.moves[0]["before"], revision.moves[0]["after"]) == ("20.48", "10.24")
    assert revision.moves[0]["ratio"] == 0.5


DEAR = (replace(THREE[0], price_per_hour=Decimal("5504")), *THREE[1:])
REASON = "on demand of p5 in us-east-1: 1 price, × 100 of what is published"
State = QuarantinedPart.State


@pytest.fixture
def waiting() -> QuarantinedPart:
    publish(*THREE)
    cheaper = replace(THREE[1], price_per_hour=Decimal("19"))
    done = publish(DEAR[0], cheaper, THREE[2])
    assert (done.outcome, done.reasons, done.revision.number) == ("quarantined", (REASON,), 2)
    assert in_force() == sorted((THREE[0], cheaper, THREE[2]), key=lambda o: o.id)
    assert done.revision.warnings == [f"quarantined: {REASON}"]
    return QuarantinedPart.objects.get()


def test_a_part_waits_alone_and_is_kept_once(waiting):
    assert (waiting.purchase_option, waiting.region, waiting.family) == (
        "on_demand", "us-east-1", "p5"
    )  # fmt: skip
    assert (waiting.reason, waiting.offer_count, waiting.moves[0]["ratio"]) == (REASON, 1, 100)
    assert publish(*DEAR).outcome == "quarantined"
    assert QuarantinedPart.objects.get().seen_again_at is not None


def test_a_part_is_released_once_beside_all_else_that_is_in_force(waiting):
    done = publication.release([waiting])
    waiting.refresh_from_db()
    assert (waiting.state, waiting.revision) == (State.RELEASED, done.revision)
    assert (done.revision.number, done.revision.dearer) == (3, 1)
    assert done.revision.warnings == [f"quarantined: {REASON}", f"released: {REASON}"]
    assert DEAR[0] in in_force()
    assert store.verify_revision(done.revision)
    assert publish(*DEAR).outcome == "published"
    with pytest.raises(InvalidInput, match="not waiting"):
        publication.release([waiting])


def test_a_part_that_is_sound_again_supersedes_the_one_that_waits(waiting):
    publish(*THREE)
    waiting.refresh_from_db()
    assert waiting.state == State.SUPERSEDED


def test_rejected_prices_are_not_brought_up_again_and_others_are(waiting):
    QuarantinedPart.objects.update(state=State.REJECTED)
    assert publish(*DEAR).outcome == "published"
    assert QuarantinedPart.objects.count() == 1
    assert THREE[0] in in_force()
    assert publish(replace(DEAR[0], price_per_hour=Decimal(9000)), *THREE[1:]).outcome == (
        "quarantined"
    )


def test_where_every_part_waits_no_revision_is_written_and_all_can_be_released():
    done = publication.publish_locked(batch(DEAR[0]), today=TODAY, expected=lambda _provider: THREE)
    assert (done.outcome, done.revision) == ("quarantined", None)
    publication.release(list(QuarantinedPart.objects.all()))
    assert in_force() == [DEAR[0]]


def test_a_part_that_waits_since_the_first_list_is_compared_again_in_the_second():
    """The second read of an empty database once published what the first had held."""
    for _ in range(2):
        done = publication.publish_locked(
            batch(DEAR[0], *THREE[1:]), today=TODAY, expected=lambda _provider: THREE
        )
        assert done.outcome == "quarantined"
        assert DEAR[0] not in in_force()
    publication.release(list(QuarantinedPart.objects.filter(state=State.WAITING)))
    assert DEAR[0] in in_force()


def test_what_a_list_lacks_is_marked_in_the_catalog_and_no_longer_sold_after_three():
    publish(*THREE)
    marks = []
    for _ in range(3):
        done = publish(*THREE[1:])
        missing = next(one for one in in_force() if one.id == THREE[0].id)
        marks.append((missing.sold_now, missing.absent_since))
        assert store.verify_revision(done.revision)
    assert marks == [(True, DAY), (True, DAY), (False, None)]
    publish(*THREE)
    assert in_force() == sorted(THREE, key=lambda o: o.id)


@pytest.mark.parametrize(
    ("as_of", "words"),
    [(dt.date(2026, 8, 1), "older than revision 1"), (dt.date(2026, 12, 1), "after today")],
)
def test_a_list_of_another_time_is_refused(as_of, words):
    publish(*THREE)
    with pytest.raises(ProviderUnavailable, match=words):
        publish(*THREE, as_of=as_of)


def test_a_dry_run_writes_nothing():
    done = publication.publish(batch(*THREE), dry_run=True, today=TODAY)
    assert (done.outcome, done.changes.added) == ("would_publish", 3)
    assert not Revision.objects.exists()


def test_a_batch_without_a_usable_offer_is_refused():
    words = r"nothing to publish: Windows \(2 rows\); price is not above 0 \(1 row, aws:.*; no key"
    with pytest.raises(ProviderUnavailable, match=words):
        publish(offer("0"), skipped=(SkippedRow("Windows"),) * 2, not_read=(NotRead("no key"),))
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
