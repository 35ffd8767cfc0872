"""Refreshes for operators, and jobs for everybody whose they are."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.test import Client

from planner.models import AuditEntry, Job
from pricing.models import QuarantinedPart, Revision
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


def test_what_the_last_list_lacks_is_named(work, operator):
    rows = tuple(offer("55.04", region=f"region-{n}", as_of=SEEN) for n in range(10))
    for offers in (rows, rows[1:]):
        publish(OfferBatch("aws", offers, as_of=SEEN), today=SEEN, force=offers is rows)
    page = text(operator.get("/operator/"))
    assert "AWS: what the last refresh left as it was" in page
    assert "on demand of p5 in region-0 (1 price)" in page


@pytest.fixture
def waiting(work) -> QuarantinedPart:
    """One region of 40 at a hundred times its price."""
    rows = tuple(offer("55.04", region=f"region-{n}", as_of=SEEN) for n in range(40))
    publish(OfferBatch("aws", rows, as_of=SEEN), today=SEEN, force=True)
    dear = replace(rows[0], price_per_hour=Decimal(5504))
    publish(OfferBatch("aws", (dear, *rows[1:]), as_of=SEEN), today=SEEN)
    return QuarantinedPart.objects.get()


def test_a_quarantined_part_is_shown_with_its_reason_and_its_largest_changes(waiting, operator):
    page = text(operator.get("/operator/"))
    assert "Quarantined: prices of AWS" in page
    assert "on demand of p5 in region-0: 1 price, × 100 of what is published" in page
    assert "→ 5,504 USD/h (× 100)" in page


def test_a_ticked_part_is_released_and_written_down(waiting, operator):
    data = {"part": waiting.pk, "decision": "release"}
    page = text(operator.post("/operator/?form=decide", data, follow=True))
    assert "Released: 1 part, published now." in page
    assert "Quarantined:" not in page
    waiting.refresh_from_db()
    assert waiting.state == "released"
    newest = store.latest("aws")
    assert Decimal(5504) in {one.price_per_hour for one in store.read_offers(newest)}
    entry = AuditEntry.objects.get(action="prices.released")
    assert (entry.actor, entry.after["reason"], entry.after["revision"]) == (
        "operator", waiting.reason, newest.number
    )  # fmt: skip


def test_a_ticked_part_is_rejected_and_nothing_ticked_is_nothing_decided(waiting, operator):
    revisions = Revision.objects.count()
    page = text(operator.post("/operator/?form=decide", {"decision": "release"}, follow=True))
    assert "Tick the parts" in page
    operator.post("/operator/?form=decide", {"part": waiting.pk, "decision": "reject"})
    waiting.refresh_from_db()
    assert waiting.state == "rejected"
    assert Revision.objects.count() == revisions


@pytest.fixture
def running(work) -> Job:
    return Job.objects.create(
        team=work.team, kind="saved_portfolio", state="running", done=3, total=10, message="Third"
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
    assert "no answer" in page
    assert "Wait." in page
