"""The catalog that comes with the program, read from its files: no database, no Django. PURE.

Same figures as the database's once `manage.py load_catalog` has published the same files: offers
in order of provider and id, every provider at its first revision, money converted with the rates
known on the last day on which a provider was read.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from pricing.common.tables import read_row, read_rows, read_table
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offer_rows import read_csv
from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog, Region, RevisionInfo

ORIGIN = "bundled"
"""Origin of a revision that came with the program."""
FOLDER = Path(__file__).resolve().parent.parent / "data"
OFFERS = "offers.csv.zst"
OTHER_CLOUDS = "other_clouds.csv"
PAST_PRICES = "past_prices.csv.zst"
REGIONS = "regions.csv"
EXCHANGE_RATES = "exchange_rates.csv"
REPORT = "build_report.json"


@lru_cache(maxsize=2)
def bundled_catalog(folder: Path = FOLDER) -> Catalog:
    """The shipped offers with their regions and exchange rates; read once in a process.

    Raises `InvalidInput` naming file, line and column of a row that cannot be read.
    """
    offers = tuple(read_offers(folder))
    revisions = tuple(
        replace(RevisionInfo.summarize(provider, rows), origin=ORIGIN)
        for provider, rows in groupby(offers, key=lambda offer: offer.provider)
    )
    rates = ExchangeRates.of(read_exchange_rates(folder))
    return Catalog.of(
        offers,
        revisions=revisions,
        regions=read_regions(folder),
        exchange_rates=rates.known_by(
            max((info.as_of for info in revisions if info.as_of), default=dt.date.max)
        ),
    )


def read_report(folder: Path = FOLDER) -> Mapping[str, Any]:
    """What the bundle was built from; see `tools.bundle`."""
    report_document: Mapping[str, Any] = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    return report_document


def read_offers(folder: Path = FOLDER) -> Iterator[Offer]:
    """Every offer, in order of provider and id; `InvalidInput` names a line that cannot be read."""
    return read_csv(folder / OFFERS)


def read_other_clouds(folder: Path = FOLDER) -> Iterator[Offer]:
    """Published list prices of clouds that have no adapter, each with its source and day."""
    return read_csv(folder / OTHER_CLOUDS)


def read_regions(folder: Path = FOLDER) -> dict[tuple[str, str], Region]:
    """(provider, region) → where it is."""
    rows = read_rows(folder / REGIONS)
    return {(row["provider"], row["region"]): read_row(Region, row) for row in rows}


def read_exchange_rates(folder: Path = FOLDER) -> list[ExchangeRate]:
    return list(read_table(folder / EXCHANGE_RATES, ExchangeRate))
