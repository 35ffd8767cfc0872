import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pricing.models import OPEN, Listing, Price, Revision
from pricing.publish import publication
from pricing.publish.batch import OfferBatch
from pricing.storage import store
from tests.pricing.make import offer

pytestmark = pytest.mark.django_db

DAY = dt.date(2026, 9, 1)


def machines(count: int, price: str = "1.5"):
    """Offers whose ids do not come in their order."""
    return tuple(offer(price, instance_type=f"m{n * 7919 % 10_007}.large") for n in range(count))


def publish(offers):
    return publication.publish(OfferBatch("aws", offers, DAY), force=True, today=DAY).revision


def published(revision):
    return {o.id: o for o in store.read_offers(revision)}


def by_id(offers):
    return {o.id: o for o in offers}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("count", [1, 54, 55, 56, 110, 166, 167, 333, 55 * 33 + 1])
def test_a_revision_of_any_size_reads_back_whole(count):
    """Of a statement's 999 values, a listing takes 18 and a price 6."""
    first = publish(machines(count))
    second = publish(machines(count, "2.5"))
    assert published(first) == by_id(machines(count))
    assert published(second) == by_id(machines(count, "2.5"))
    assert store.verify_revision(first)
    assert store.verify_revision(second)


def test_only_prices_that_ended_are_closed():
    before = machines(40)
    after = tuple(
        replace(o, price_per_hour=Decimal(3)) if at % 5 == 0 else o
        for at, o in enumerate(before)
        if at % 7
    )
    first, second, third = publish(before), publish(after), publish(before)
    assert [published(r) for r in (first, second, third)] == list(
        map(by_id, (before, after, before))
    )
    assert all(map(store.verify_revision, (first, second, third)))
    assert Price.objects.filter(last_revision=OPEN).count() == 40


def test_a_fraction_and_a_missing_shape_are_found_again():
    """What a listing says is compared with what the database gives back."""
    odd = offer("1", Fraction(1, 6), vcpus=0.1 + 0.2, memory_gib=None, sku="'\\\t%s", source="é\n")
    publish([odd])
    publish([replace(odd, price_per_hour=Decimal("1.0000000001"))])
    assert (Listing.objects.count(), Price.objects.count()) == (1, 2)
    publish([replace(odd, sku="other")])
    publish([odd])
    assert Listing.objects.count() == 2
    assert all(map(store.verify_revision, Revision.objects.all()))


def test_offers_are_read_row_by_row_from_no_table():
    """PostgreSQL plans a cursor for its first rows, and believes old statistics: reading a list
    took 20 s and, where they called the tables empty, minutes."""
    revision = publish(machines(3))
    is_postgresql = connection.vendor == "postgresql"
    if is_postgresql:
        _call_empty("pricing_price", "pricing_listing")
    with CaptureQueriesContext(connection) as seen:
        assert len(store.read_stored_offers(revision)) == 3
    statements = [one["sql"] for one in seen.captured_queries]
    assert ("cursor_tuple_fraction TO 1" in " ".join(statements)) is is_postgresql
    if is_postgresql:
        query = Price.objects.filter(listing__provider="aws", last_revision=OPEN)
        joined = query.order_by("listing_id").values_list("listing__region")
        assert "Nested Loop" in joined.explain()
        with connection.cursor() as cursor:
            cursor.execute(next(one for one in statements if "enable_nestloop TO off" in one))
            assert "Nested Loop" not in joined.explain()
            cursor.execute(next(one for one in statements if "TO DEFAULT" in one))
        assert "Nested Loop" in joined.explain()


def _call_empty(*tables: str) -> None:
    """What the cleaning of a table leaves that was emptied: pages, and no row in any of them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_class SET reltuples = 0, relpages = 90 WHERE relname = ANY(%s)",
            [list(tables)],
        )
