from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from pricing.freshness import freshness
from pricing.models import HeldBatch, RefreshRun
from pricing.publish import publication
from pricing.publish.batch import OfferBatch
from tests.pricing.make import offer

pytestmark = pytest.mark.django_db

DAY = dt.date(2026, 9, 1)


def publish(*offers):
    publication.publish(OfferBatch("aws", offers or (offer(as_of=DAY),), DAY), today=DAY)


def aws(days: int = 0):
    found = freshness(DAY + dt.timedelta(days=days))
    return next(entry for entry in found if entry.provider == "aws")


@pytest.mark.parametrize(
    ("days", "level"), [(0, "green"), (6, "green"), (7, "amber"), (29, "amber"), (30, "red")]
)
def test_age_turns_amber_and_then_red(settings, days, level):
    settings.PRICES_AMBER_AFTER_DAYS, settings.PRICES_RED_AFTER_DAYS = 7, 30
    publish()
    assert (aws(days).age_days, aws(days).level) == (days, level)


def test_trap_9_the_age_is_that_of_the_oldest_price_sold_now():
    old = offer(region="eu-west-1", as_of=DAY - dt.timedelta(days=400))
    publish(
        offer(as_of=DAY), old, replace(old, region="x", sold_now=False, as_of=dt.date(2017, 1, 1))
    )
    assert (aws().age_days, aws().level) == (400, "red")


def test_a_provider_that_was_never_read_is_red():
    assert (aws().revision, aws().age_days, aws().level) == (None, None, "red")


def test_the_last_run_and_what_it_said_are_told():
    publish()
    RefreshRun.objects.create(provider="aws", outcome="failed", message="no network")
    assert (aws().last_run, aws().message) == ("failed", "no network")


def test_batches_that_wait_for_review_are_counted():
    publish()
    publish(offer("5504", as_of=DAY))
    assert aws().held_batches == HeldBatch.objects.count() == 1
