"""The catalog that comes with the program, read from its files: no database, no Django. PURE.

Same figures as the database's once `manage.py load_catalog` has published the same files: offers
in order of provider and id, every provider at its first revision, money converted with the rates
known on the last day on which a provider was read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from pricing.bundled import files
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog, RevisionInfo


@lru_cache(maxsize=2)
def bundled_catalog(folder: Path = files.FOLDER) -> Catalog:
    """The shipped offers with their regions and exchange rates; read once in a process.

    Raises `InvalidInput` naming file, line and column of a row that cannot be read.
    """
    offers = tuple(files.read_offers(folder))
    revisions = tuple(_summarize(offers))
    rates = ExchangeRates.of(files.read_exchange_rates(folder))
    return Catalog.of(
        offers,
        revisions=revisions,
        regions=files.read_regions(folder),
        exchange_rates=rates.known_by(_last_day(revisions)),
    )


def _summarize(offers: Iterable[Offer]) -> Iterable[RevisionInfo]:
    """The first revision of each provider; its offers stand together."""
    for provider, rows in groupby(offers, key=lambda offer: offer.provider):
        yield replace(RevisionInfo.summarize(provider, rows), origin=files.ORIGIN)


def _last_day(revisions: Iterable[RevisionInfo]) -> dt.date:
    """The last day on which a provider was read."""
    return max((info.as_of for info in revisions if info.as_of), default=dt.date.max)
