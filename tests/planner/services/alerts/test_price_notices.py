"""Prices that are not published are told to operators, once."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from planner.services.alerts import alerts
from planner.services.alerts.alerts import tell
from pricing.models import RefreshRun
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish, refresh_ended
from pricing.publish.refresh import RefreshResult
from tests.pricing.make import offer

pytestmark = pytest.mark.django_db
QUARANTINED = RefreshResult(
    "aws", "quarantined", "a third of us-east-1 is missing", "Release or reject it."
)
FAILED = RefreshResult("gcp", "failed", "the price list answered 500", "Try again.")
PUBLISHED = RefreshResult("azure", "published")


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Title and text of each notice."""
    letters: list[tuple[str, str]] = []
    monkeypatch.setattr(alerts, "emit", lambda *letter: letters.append(letter[2:]))
    return letters


def run(result: RefreshResult, ago: dt.timedelta = dt.timedelta(0)) -> RefreshResult:
    """A result with the record of its run."""
    moment = timezone.now() - ago
    RefreshRun.objects.create(
        provider=result.provider, outcome=result.outcome, message=result.message,
        started_at=moment, finished_at=moment,
    )  # fmt: skip
    return result


def test_what_is_held_or_failed_is_told_with_its_reason_and_remedy(letters: Any) -> None:
    refresh_ended.send(sender=None, results=(run(PUBLISHED), run(QUARANTINED), run(FAILED)))
    [(title, text)] = letters
    assert title == "Prices of AWS are quarantined for review and 1 more"
    for part in (
        QUARANTINED.message,
        QUARANTINED.hint,
        "Google Cloud could not be refreshed",
        "/operator/",
    ):
        assert part in text


def test_the_subject_names_the_parts_that_wait(letters: Any) -> None:
    rows = tuple(offer("55.04", region=f"region-{n}") for n in range(2))
    publish(OfferBatch("aws", rows, dt.date(2026, 11, 20)))
    dear = (rows[0], replace(rows[1], price_per_hour=rows[1].price_per_hour * 2))
    publication = publish(OfferBatch("aws", dear, dt.date(2026, 11, 21)))
    result = RefreshResult("aws", "quarantined", "; ".join(publication.reasons), "", publication)
    tell(results=(run(result),))
    [(title, text)] = letters
    assert "Prices of AWS (on demand of p5 in region-1) are quarantined" in title
    assert publication.reasons[0] in text


def test_a_part_that_a_list_lacks_is_told_once_with_its_name(letters: Any) -> None:
    rows = tuple(offer("55.04", region=f"region-{n}") for n in range(10))
    day = dt.date(2026, 9, 1)
    for offers in (rows, rows[1:], rows[1:]):
        done = publish(OfferBatch("aws", offers, day), today=day)
        tell(results=(run(RefreshResult("aws", "published", publication=done)),))
    [text] = [text for title, text in letters if "Parts of the prices of AWS" in title]
    assert "not in the list of 2026-09-01: on demand of p5 in region-0" in text


@pytest.mark.parametrize(("every", "days"), [(1, 1), (8, 3), (24, 3)])
def test_a_lasting_failure_is_told_once_a_day_however_often_prices_are_read(
    letters: Any, every: int, days: int
) -> None:
    """Hours between two readings, and days that it lasts."""
    for ago in range(24 * days, -1, -every):
        tell(results=(run(QUARANTINED, ago=dt.timedelta(hours=ago)),))
    assert len(letters) == 1 + days  # at once, and after each day


def test_operators_see_it_on_every_page_and_visitors_do_not(client: Any, admin_client: Any) -> None:
    run(FAILED)
    words = "The last refresh of Google Cloud failed: the price list answered 500"
    assert words in " ".join(admin_client.get("/method/").content.decode().split())
    assert words not in " ".join(client.get("/method/").content.decode().split())
    RefreshRun.objects.create(provider="gcp", outcome="published")
    assert "The last refresh of" not in admin_client.get("/method/").content.decode()
