"""Writing the shipped files. PURE.

Same bundle, same bytes: nothing in them tells when or where they were written.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from pathlib import Path

import zstandard

from pricing.bundled.build import Bundle, build_report
from pricing.bundled.files import (
    EXCHANGE_RATES,
    FOLDER,
    OFFERS,
    PAST_PRICES,
    REGION_FIELDS,
    REGIONS,
    REPORT,
)
from pricing.market import interruptions, storage_prices
from pricing.market.offer_rows import OFFER_COLUMNS, to_row
from pricing.market.offers import Offer

_REGION_COLUMNS = ("provider", "region", *REGION_FIELDS)
_RATE_COLUMNS = ("currency", "date", "units_per_usd", "source")
_COMPRESSION_LEVEL = 19


def write(bundle: Bundle, folder: Path = FOLDER) -> None:
    """Write every file of the bundle into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_compressed(folder / OFFERS, _format_offers(bundle.offers))
    _write_compressed(folder / PAST_PRICES, _format_offers(bundle.past_prices))
    regions = sorted(bundle.regions.items())
    rows = [(*key, *astuple(region)) for key, region in regions]
    _write_text(folder / REGIONS, _format_csv(_REGION_COLUMNS, rows))
    _write_text(
        folder / EXCHANGE_RATES, _format_csv(_RATE_COLUMNS, map(astuple, bundle.exchange_rates))
    )
    bands = sorted(map(astuple, bundle.interruptions))
    _write_text(folder / interruptions.TABLE.name, _format_csv(interruptions.COLUMNS, bands))
    storage_rows = sorted(map(astuple, bundle.storage_prices))
    _write_text(
        folder / storage_prices.TABLE.name, _format_csv(storage_prices.COLUMNS, storage_rows)
    )
    text = json.dumps(build_report(bundle), indent=1, ensure_ascii=False)
    _write_text(folder / REPORT, text + "\n")


def _format_offers(offers: Iterable[Offer]) -> str:
    return _format_csv(OFFER_COLUMNS, (tuple(to_row(offer).values()) for offer in offers))


def _format_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _write_compressed(path: Path, text: str) -> None:
    path.write_bytes(zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL).compress(text.encode()))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
