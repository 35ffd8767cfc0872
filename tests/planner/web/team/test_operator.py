"""Refreshes for operators, and jobs for everybody whose they are."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.test import Client

from planner.models import AuditEntry, Job
from planner.services.observability.measures import render_measures
from pricing.models import QuarantinedBatch, QuarantinedPrice, Revision
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish
from pricing.storage import store
from tests.planner.costing.market_of import offer
from tests.planner.web.team.texts import text
from tests.planner.workspace import SEEN, person


@pytest.fixture
def operator(db) -> Client:
    browser = Client()
    browser.force_login(person("operator", is_staff=True))
    return browser


@pytest.fixture
def held(work) -> QuarantinedBatch:
    """A hundredfold price, which the checks hold back."""
    rows = (offer("5504.00", as_of=SEEN),)
    done = publish(OfferBatch("aws", rows, as_of=SEEN), today=SEEN)
    assert done.outcome == "quarantined"
    return done.quarantined_batch


def test_what_a_refresh_left_as_it_was_is_named_with_its_remedy(work, operator):
    rows = tuple(offer("55.04", region=f"region-{n}", as_of=SEEN) for n in range(10))
    for offers in (rows, rows[1:]):
        publish(OfferBatch("aws", offers, as_of=SEEN), today=SEEN, force=offers is rows)
    page = text(operator.get("/operator/"))
    assert "AWS: what the last refresh left as it was" in page
    assert "region-0 lost 1 of its 1 offer; refresh with --region region-0 --force" in page
    assert 'planner_unread_price_parts{provider="aws"} 1.0' in render_measures().decode()


def test_held_prices_are_released(held, operator):
    page = text(operator.post(f"/operator/quarantined/{held.pk}/release/", follow=True))
    assert "are published" in page
    assert Revision.objects.filter(provider="aws").count() == 2
    entry = AuditEntry.objects.get(team=None)
    assert (entry.actor, entry.action) == ("operator", "prices.released")
    assert entry.after == {"provider": "aws", "offers": 1, "reasons": held.reasons, "revision": 2}
    assert "prices.released" in page


@pytest.fixture
def quarantined(work) -> QuarantinedPrice:
    """One hundredfold price among 40."""
    rows = tuple(offer("55.04", region=f"region-{n}", as_of=SEEN) for n in range(40))
    publish(OfferBatch("aws", rows, as_of=SEEN), today=SEEN, force=True)
    dear = replace(rows[0], price_per_hour=Decimal(5504))
    publish(OfferBatch("aws", (dear, *rows[1:]), as_of=SEEN), today=SEEN)
    return QuarantinedPrice.objects.get()


def test_a_quarantined_price_is_shown_with_counts_and_difference(quarantined, operator):
    page = text(operator.get("/operator/"))
    assert "Quarantined: 1 of 40 prices of AWS" in page
    assert "55.0400 USD/h → 5,504.0000 USD/h" in page
    assert "Its history" in page


def test_a_ticked_price_is_released_and_written_down(quarantined, operator):
    data = {"row": quarantined.pk, "decision": "release"}
    page = text(operator.post("/operator/prices/", data, follow=True))
    assert "Released: 1 price, published now." in page
    assert "Quarantined:" not in page
    quarantined.refresh_from_db()
    assert quarantined.state == "released"
    newest = store.latest("aws")
    assert Decimal(5504) in {one.price_per_hour for one in store.read_offers(newest)}
    entry = AuditEntry.objects.get(action="price.released")
    assert (entry.before["price_per_hour"], entry.after["price_per_hour"]) == ("55.04", "5504")


def test_a_ticked_price_is_rejected_and_nothing_ticked_is_nothing_decided(quarantined, operator):
    revisions = Revision.objects.count()
    page = text(operator.post("/operator/prices/", {"decision": "release"}, follow=True))
    assert "Tick the prices" in page
    operator.post("/operator/prices/", {"row": quarantined.pk, "decision": "reject"})
    quarantined.refresh_from_db()
    assert quarantined.state == "rejected"
    assert Revision.objects.count() == revisions


@pytest.fixture
def running(work) -> Job:
    return Job.objects.create(
        team=work.team, kind="project_reprice", state="running", done=3, total=10, message="Third"
    )


def test_htmx_gets_the_bar_alone(running, signed_in):
    answer = signed_in().get(f"/jobs/{running.pk}/", headers={"HX-Request": "true"})
    assert "<html" not in text(answer)


@pytest.mark.parametrize(
    ("others", "words"), [([], "failed"), (["published", "quarantined"], "1 failed, 1 quarantined")]
)
def test_a_refresh_that_failed_somewhere_is_not_said_to_have_succeeded(operator, others, words):
    failed = {"provider": "aws", "outcome": "failed", "message": "no answer", "remedy": "Wait."}
    results = [failed, *({"provider": "gcp", "outcome": one} for one in others)]
    job = Job.objects.create(kind="price_refresh", state="succeeded", result={"results": results})
    page = text(operator.get(f"/jobs/{job.pk}/"))
    assert f'<span class="badge bg-red-lt">{words}</span>' in page
    assert "succeeded" not in page
    assert "failed. no answer. Wait." in page
