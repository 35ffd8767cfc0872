import datetime as dt
from dataclasses import replace

import pytest

from pricing.freshness import freshness
from pricing.market.offers import PurchaseOption
from pricing.models import QuarantinedPart
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


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("days", "level"), [(0, "green"), (6, "green"), (7, "amber"), (29, "amber"), (30, "red")]
)
def test_age_turns_amber_and_then_red(settings, days, level):
    settings.PRICES_AMBER_AFTER_DAYS, settings.PRICES_RED_AFTER_DAYS = 7, 30
    publish()
    assert (aws(days).age_days, aws(days).level) == (days, level)


@pytest.mark.parametrize(
    ("days", "list_level", "spot_level"),
    [(6, "green", "green"), (7, "green", "amber"), (30, "green", "red"), (90, "amber", "red")],
)
def test_list_prices_and_spot_age_apart(days, list_level, spot_level):
    publish(offer(as_of=DAY), offer("16", purchase_option=PurchaseOption.SPOT, as_of=DAY))
    levels = {part.part: part.level for part in aws(days).parts}
    assert levels == {"on_demand": list_level, "spot": spot_level}
    assert aws(days).level == spot_level


def test_one_old_price_colours_nothing_and_is_listed():
    old = offer(region="eu-west-1", as_of=DAY - dt.timedelta(days=400))
    newer = offer(region="eu-west-2", as_of=DAY - dt.timedelta(days=30))
    publish(offer(as_of=DAY), old, newer)
    (part,) = aws().parts
    assert (part.level, part.median_age_days, part.oldest_age_days) == ("green", 30, 400)
    assert part.last_confirmed == DAY
    assert [stale.offer_id for stale in part.stale_offers] == [old.id]


def test_trap_9_the_age_is_that_of_the_oldest_price_sold_now():
    old = offer(region="eu-west-1", as_of=DAY - dt.timedelta(days=400))
    publish(
        offer(as_of=DAY), old, replace(old, region="x", sold_now=False, as_of=dt.date(2017, 1, 1))
    )
    assert (aws().age_days, aws().level) == (400, "green")


def test_parts_that_wait_for_review_are_counted():
    publish()
    publish(offer("5504", as_of=DAY))
    assert aws().quarantined_parts == QuarantinedPart.objects.count() == 1
