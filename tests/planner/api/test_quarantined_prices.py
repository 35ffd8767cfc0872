"""Operators decide on single prices through the API as on the page, and it is written down."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from rest_framework.test import APIClient

from planner.models import AuditEntry
from pricing.models import QuarantinedPrice
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish
from pricing.storage import store
from tests.planner.costing.market_of import offer
from tests.planner.workspace import SEEN, person

pytestmark = pytest.mark.django_db
LIST = tuple(offer("55.04", region=f"region-{n:02}", as_of=SEEN) for n in range(40))
ADDRESS = "/api/v1/quarantined-prices/"


@pytest.fixture
def operator() -> APIClient:
    for first in (LIST[0], replace(LIST[0], price_per_hour=Decimal(5504))):
        publish(OfferBatch("aws", (first, *LIST[1:]), as_of=SEEN), today=SEEN)
    client = APIClient()
    client.force_authenticate(person("operator", is_staff=True))
    return client


def price_in_force() -> Decimal:
    offers = {one.id: one for one in store.read_offers(store.latest("aws"))}
    return offers[LIST[0].id].price_per_hour


def test_a_price_is_listed_with_both_prices_and_released(operator: APIClient) -> None:
    (row,) = operator.get(ADDRESS, {"state": "waiting", "provider": "aws"}).json()["results"]
    assert (row["offer_id"], row["ratio"], row["revision"]) == (LIST[0].id, 100, None)
    prices = [row[one]["price_per_hour"] for one in ("before", "after")]
    assert list(map(Decimal, prices)) == [Decimal("55.04"), Decimal(5504)]
    released = operator.post(f"{ADDRESS}{row['id']}/release/").json()
    assert (released["state"], released["revision"]) == ("released", 3)
    assert price_in_force() == Decimal(5504)
    entry = AuditEntry.objects.get(action="price.released")
    assert entry.after["price_per_hour"] == row["after"]["price_per_hour"]
    assert operator.get(ADDRESS, {"state": "waiting"}).json()["results"] == []
    assert operator.post(f"{ADDRESS}{row['id']}/reject/").status_code == 409


def test_a_price_is_rejected_and_the_one_in_force_stays(operator: APIClient) -> None:
    row = QuarantinedPrice.objects.get()
    assert operator.post(f"{ADDRESS}{row.pk}/reject/").json()["state"] == "rejected"
    assert price_in_force() == Decimal("55.04")
    assert AuditEntry.objects.filter(action="price.rejected").count() == 1
    assert operator.post(f"{ADDRESS}{row.pk}/release/").status_code == 409


def test_only_operators_see_them(operator: APIClient) -> None:
    operator.force_authenticate(person("somebody"))
    assert operator.get(ADDRESS).status_code == 403
