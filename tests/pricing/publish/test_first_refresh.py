"""What the bundled prices sell guards the first live list: half a page of it is quarantined."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from pricing.bundled.load import load
from pricing.market.offer_rows import read_csv
from pricing.market.offers import Offer
from pricing.publish import refresh
from pricing.publish.batch import BUNDLED_OFFERS, OfferBatch
from pricing.publish.batch_checks import PublishedState, check
from tests.pricing.publish.fake_provider import FakeProvider
from tests.properties import one_in

DAY = dt.date(2026, 11, 20)


def bundled(provider: str) -> list[Offer]:
    return [one for one in read_csv(BUNDLED_OFFERS) if one.provider == provider]


@pytest.fixture(scope="module")
def azure() -> list[Offer]:
    return [one for one in bundled("azure") if one.sold_now]


@pytest.fixture
def expected_market() -> None:
    """The bundled prices, as outside of tests."""


def is_guarded(short: list[Offer], published: list[Offer], **state: object) -> bool:
    """Whether the batch is quarantined, or all that it lacks is left as published and named."""
    batch = OfferBatch(short[0].provider, tuple(short), DAY)
    result = check(batch, PublishedState(tuple(published), **state), DAY)  # type: ignore[arg-type]
    ids = {offer.id for offer in result.offers}
    return bool(
        result.reasons or (result.doubtful_parts and ids == {offer.id for offer in published})
    )


def held(offers: list[Offer], published: list[Offer], **state: object) -> tuple[str, ...]:
    batch = OfferBatch(offers[0].provider, tuple(offers), DAY)
    return check(batch, PublishedState(tuple(published), **state), DAY).reasons  # type: ignore[arg-type]


ORDERS: dict[str, Callable[[Offer], object]] = {
    "by region": lambda one: (one.region, one.instance_type),
    "by machine": lambda one: (one.instance_type, one.region),
    "by option": lambda one: (one.purchase_option.value, one.instance_type, one.region),
    "in no order": lambda one: random.Random(one.id).random(),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("origin", ["live", "bundled"])
@pytest.mark.parametrize("start", one_in(3, [0, 300, 900]))
def test_one_halved_page_of_azure_is_held(
    azure: list[Offer], order: Callable[[Offer], object], origin: str, start: int
) -> None:
    listed = sorted(azure, key=order)  # type: ignore[arg-type]
    short = listed[:start] + listed[start + 128 :]
    assert is_guarded(short, azure, as_of=DAY, origin=origin)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("state", [{"as_of": DAY, "origin": "live"}, {}])
def test_every_third_row_of_google_cloud_is_held(state: dict[str, object]) -> None:
    offers = [one for one in bundled("gcp") if one.sold_now]
    published = offers if state else []
    extra = state or {"expected": offers}
    assert held([one for n, one in enumerate(offers) if n % 3], published, **extra)


@pytest.mark.django_db
@pytest.mark.parametrize("is_loaded", one_in(2, [False, True]))
def test_half_of_the_list_on_the_first_refresh_is_held(is_loaded: bool) -> None:
    if is_loaded:
        load()
    half = [replace(one, as_of=None) for one in bundled("azure") if one.sold_now][::2]
    (result,) = refresh.refresh([FakeProvider(half, name="azure")])
    assert result.outcome == "quarantined"
    assert "fewer" in result.message
    assert "/operator/" in result.hint
