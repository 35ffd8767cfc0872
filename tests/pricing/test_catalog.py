import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.snapshot import Region
from pricing.publish import history, publication
from pricing.publish.batch import OfferBatch
from pricing.storage import reference
from tests.pricing.make import A100, offer

pytestmark = pytest.mark.django_db

H100 = offer("98.32")
TODAY = dt.date(2026, 11, 20)
SPRING, SUMMER = dt.date(2026, 3, 1), dt.date(2026, 6, 1)


def publish(*offers, as_of=SPRING, provider="aws"):
    return publication.publish(OfferBatch(provider, offers, as_of), force=True, today=TODAY)


def prices(found) -> dict[str, Decimal]:
    return {o.id: o.price_per_hour for o in found.offers.offers}


def test_the_current_catalog_holds_every_provider():
    publish(H100)
    publish(replace(H100, provider="gcp"), provider="gcp")
    found = catalog.current()
    assert [(info.provider, info.revision) for info in found.revisions] == [("aws", 1), ("gcp", 1)]
    assert len(found.offers) == 2


def test_the_same_catalog_is_given_until_another_revision_is_published():
    publish(H100)
    first = catalog.current()
    assert catalog.current() is first
    publish(replace(H100, price_per_hour=Decimal("90")), as_of=SUMMER)
    assert prices(catalog.current()) == {H100.id: Decimal("90")}


def test_the_current_catalog_costs_one_query_once_it_is_known(django_assert_num_queries):
    publish(H100)
    catalog.current()
    with django_assert_num_queries(1):
        catalog.current()


def test_another_exchange_rate_gives_another_catalog():
    rates = [ExchangeRate("CNY", SPRING, Decimal(8))]
    reference.replace_exchange_rates(rates)
    publish(replace(H100, currency="CNY", price_per_hour=Decimal(64)))
    assert catalog.current().offers.usd_per_hour.tolist() == [8.0]
    reference.replace_exchange_rates([ExchangeRate("CNY", SPRING, Decimal(4))])
    assert catalog.current().offers.usd_per_hour.tolist() == [16.0]


def test_a_rate_from_after_the_revision_does_not_change_what_it_says():
    reference.replace_exchange_rates([ExchangeRate("CNY", SPRING, Decimal(8))])
    publish(replace(H100, currency="CNY", price_per_hour=Decimal(64)))
    later = ExchangeRate("CNY", SUMMER, Decimal(4))
    reference.replace_exchange_rates([ExchangeRate("CNY", SPRING, Decimal(8)), later])
    assert catalog.at({"aws": 1}).offers.usd_per_hour.tolist() == [8.0]


def test_past_revisions_can_be_asked_for():
    publish(H100)
    publish(replace(H100, price_per_hour=Decimal("55.04")), as_of=SUMMER)
    assert prices(catalog.at({"aws": 1})) == {H100.id: Decimal("98.32")}
    assert prices(catalog.at({"aws": 2})) == {H100.id: Decimal("55.04")}


def test_a_revision_that_never_was_is_refused():
    publish(H100)
    with pytest.raises(InvalidInput, match="aws has no revision 9; known are 1 to 1"):
        catalog.at({"aws": 9})


def test_as_of_gives_the_last_revision_read_by_that_day():
    publish(H100)
    publish(replace(H100, price_per_hour=Decimal("55.04")), as_of=SUMMER)
    before = SUMMER - dt.timedelta(days=1)
    assert prices(catalog.as_of(before)) == {H100.id: Decimal("98.32")}
    assert prices(catalog.as_of(SUMMER)) == {H100.id: Decimal("55.04")}


def test_a_day_of_which_nothing_is_known_is_refused_with_the_first_known():
    publish(H100)
    with pytest.raises(InvalidInput, match="the first known day is 2026-03-01"):
        catalog.as_of(dt.date(2020, 1, 1))


def test_price_history_shows_each_change_and_when_the_offer_went():
    other = replace(H100, region="us-west-2", accelerator=A100)
    publish(H100, other)
    publish(H100, other, as_of=dt.date(2026, 4, 1))
    publish(replace(H100, price_per_hour=Decimal("55.04")), other, as_of=SUMMER)
    gone = OfferBatch("aws", (other,), dt.date(2026, 7, 1))
    publication.publish(gone, force=True, today=TODAY)
    history_of = catalog.price_history(H100.id)
    assert [(p.date, p.revision, p.offer and p.offer.price_per_hour) for p in history_of] == [
        (SPRING, 1, Decimal("98.32")),
        (SUMMER, 3, Decimal("55.04")),
        (dt.date(2026, 7, 1), 4, None),
    ]


def test_dated_prices_from_before_the_first_revision_come_first():
    june = replace(H100, price_per_hour=Decimal("55.04"), as_of=dt.date(2025, 6, 5))
    old = replace(H100, as_of=dt.date(2023, 8, 1))
    history.replace_past_prices("aws", [june, old])
    publish(replace(H100, price_per_hour=Decimal("55.04")))
    assert [(p.date, p.offer.price_per_hour) for p in catalog.price_history(H100.id)] == [
        (dt.date(2023, 8, 1), Decimal("98.32")),
        (dt.date(2025, 6, 5), Decimal("55.04")),
    ]


def test_as_of_before_the_first_revision_gives_the_last_dated_price():
    june = replace(H100, price_per_hour=Decimal("55.04"), as_of=dt.date(2025, 6, 5))
    history.replace_past_prices("aws", [june, replace(H100, as_of=dt.date(2023, 8, 1))])
    publish(H100)
    may = catalog.as_of(dt.date(2025, 5, 31))
    assert prices(may) == {H100.id: Decimal("98.32")}
    assert (may.revisions[0].revision, may.revisions[0].origin) == (0, "history")
    assert prices(catalog.as_of(dt.date(2025, 6, 30))) == {H100.id: Decimal("55.04")}


def test_a_day_is_read_once_and_costs_two_queries_from_then_on(django_assert_num_queries):
    history.replace_past_prices("aws", [replace(H100, as_of=dt.date(2023, 8, 1))])
    publish(H100)
    first = catalog.as_of(dt.date(2025, 5, 31))
    with django_assert_num_queries(2):
        assert catalog.as_of(dt.date(2025, 5, 31)) is first


def test_a_day_is_read_again_when_anything_that_it_shows_changes():
    day, past = dt.date(2025, 5, 31), replace(H100, as_of=dt.date(2023, 8, 1))
    history.replace_past_prices("aws", [past])
    publish(replace(H100, provider="gcp"), provider="gcp")
    assert prices(catalog.as_of(day)) == {H100.id: Decimal("98.32")}
    history.replace_past_prices("aws", [replace(past, price_per_hour=Decimal("97"))])
    assert prices(catalog.as_of(day)) == {H100.id: Decimal("97")}
    reference.replace_regions({("aws", "us-east-1"): Region("north-america", "US", "Ashburn")})
    assert catalog.as_of(day).offers.select(geographies=["north-america"]).tolist() == [0]
    publish(H100, as_of=dt.date(2024, 1, 1))
    assert [info.origin for info in catalog.as_of(day).revisions] == ["live"]
