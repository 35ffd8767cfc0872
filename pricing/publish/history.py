"""Dated prices from before the first revision, from published histories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.db import transaction

from pricing.common.amounts import to_scaled
from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_files import read_csv
from pricing.market.offers import Offer
from pricing.models import PastPrice
from pricing.storage import bulk, store

_COLUMNS = ("listing", "date", "price_per_hour", "upfront", "sold_now")


def load(path: Path) -> dict[str, int]:
    """Record the history in a CSV file (`OFFER_COLUMNS`, plain or .gz, .xz, .zst).

    Gives the number of prices by provider. All of the file or nothing is recorded.
    """
    by_provider: dict[str, list[Offer]] = defaultdict(list)
    for offer in read_csv(path):
        by_provider[offer.provider].append(offer)
    with transaction.atomic():
        return {
            name: replace_past_prices(name, offers) for name, offers in sorted(by_provider.items())
        }


def replace_past_prices(provider: str, offers: Iterable[Offer]) -> int:
    """Put these dated prices in the place of the provider's; gives how many there are.

    `Offer.as_of` is the day from which a price held; of two on one day the last given counts.
    """
    offers_by_day = {(offer.id, offer.as_of): offer for offer in store.to_stored_precision(offers)}
    rows = list(offers_by_day.values())
    offer_without_date = next((offer.id for offer in rows if offer.as_of is None), None)
    if offer_without_date:
        raise InvalidInput(
            "as_of", f"{offer_without_date} has no date; every price of a history needs one"
        )
    with transaction.atomic():
        bulk.lock_publishing()
        PastPrice.objects.filter(listing__provider=provider).delete()
        _insert_past_prices(rows)
    return len(rows)


def _insert_past_prices(offers: Sequence[Offer]) -> None:
    offers_by_listing: dict[object, Offer] = {}
    listing_values = [store.get_listing_values(offer) for offer in offers]
    for key, offer in zip(listing_values, offers, strict=True):
        offers_by_listing.setdefault(key, offer)
    listings = dict(
        zip(
            offers_by_listing,
            store.find_or_insert_listings(list(offers_by_listing.values())),
            strict=True,
        )
    )
    prices = [
        (
            listings[key],
            offer.as_of.isoformat() if offer.as_of else None,
            to_scaled(offer.price_per_hour),
            to_scaled(offer.upfront),
            offer.sold_now,
        )
        for key, offer in zip(listing_values, offers, strict=True)
    ]
    bulk.insert(PastPrice, _COLUMNS, prices)
