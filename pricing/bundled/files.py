"""The shipped files: small tables as CSV, offers and past prices compressed. PURE.

Same bundle, same bytes: nothing in them tells when or where they were written.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import zstandard

from pricing.bundled.build import Bundle, build_report
from pricing.market import interruptions, storage_prices
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.offer_rows import OFFER_COLUMNS, to_row
from pricing.market.offers import Offer
from pricing.market.snapshot import Region

FOLDER = Path(__file__).resolve().parent.parent / "data"
OFFERS = "offers.csv.zst"
PAST_PRICES = "past_prices.csv.zst"
REGIONS = "regions.csv"
EXCHANGE_RATES = "exchange_rates.csv"
REPORT = "build_report.json"

_REGION_FIELDS = tuple(f.name for f in fields(Region))
_REGION_COLUMNS = ("provider", "region", *_REGION_FIELDS)
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


def read_report(folder: Path = FOLDER) -> Mapping[str, Any]:
    """What the bundle was built from; see `pricing.bundled.build.report`."""
    report_document: Mapping[str, Any] = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    return report_document


def read_regions(folder: Path = FOLDER) -> dict[tuple[str, str], Region]:
    """(provider, region) → where it is."""
    return {
        (row["provider"], row["region"]): _parse_region(row) for row in _read_rows(folder / REGIONS)
    }


def read_exchange_rates(folder: Path = FOLDER) -> list[ExchangeRate]:
    """Every dated exchange rate."""
    from datetime import date
    from decimal import Decimal

    return [
        ExchangeRate(
            row["currency"],
            date.fromisoformat(row["date"]),
            Decimal(row["units_per_usd"]),
            row["source"],
        )
        for row in _read_rows(folder / EXCHANGE_RATES)
    ]


def _parse_region(row: Mapping[str, str]) -> Region:
    numbers = ("latitude", "longitude", "g_co2e_per_kwh")
    values: dict[str, Any] = {name: row[name] for name in _REGION_FIELDS}
    values |= {name: float(row[name]) if row[name] else None for name in numbers}
    return Region(**values)


def _read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


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
