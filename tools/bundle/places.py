"""Regions, their geography and their grid carbon; exchange rates by month. PURE."""

from __future__ import annotations

import calendar
import csv
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.interruptions import InterruptionBand
from pricing.market.snapshot import Region
from pricing.market.storage_prices import StoragePrice
from tools.bundle.rows import Row, RowAudit, RowOutcome, read_rows

REGIONS = "data/specs/regions.csv"
CARBON = "data/specs/grid_carbon.csv"
RATES = "data/exchange_rates_monthly.csv"

CORRECTED_COUNTRIES = {("azure", "brazilsoutheast"): "BR", ("azure", "mexicocentral"): "MX"}
"""Regions whose listed country (US, ZA) belies their city: Rio de Janeiro, Querétaro."""

_ZONE = re.compile(r"^(?P<parent>[a-z]+-[a-z]+-\d)-(?:wl\d)?-?(?:(?P<city>[a-z]{3})-?\d)?$")
"""us-east-1-atl-1 is the Local Zone in Atlanta, eu-west-2-wl2-man1 a Wavelength Zone."""

MANY_GRIDS = frozenset({"US", "CA", "CN"})
"""Countries whose grids differ too much for a figure to be carried from region to region."""

INTERRUPTIONS = "data/prices/aws_spot_advisor.csv"
STORAGE = "data/prices/gcp_storage_egress.csv"

_INTERRUPTION_SHARES = {
    "<5%": (0.0, 0.05),
    "5-10%": (0.05, 0.10),
    "10-15%": (0.10, 0.15),
    "15-20%": (0.15, 0.20),
    ">20%": (0.20, 1.0),
}
"""Share of instances interrupted within a month, from and up to."""
_ADVISOR = "AWS Spot Instance Advisor"
_KINDS = {
    ("bucket", "standard"): "object",
    ("storage", "balanced"): "block",
    ("storage", "ssd"): "block_ssd",
}
_EGRESS = "egress/internet/"
_TIERS = {"0-1": 0.0, "1-10": 1024.0, "10n": 10240.0}
"""GiB a month from which a rate of egress to the internet holds."""

RegionKey = tuple[str, str]


def regions(folder: Path, priced: Iterable[RegionKey], audit: RowAudit) -> dict[RegionKey, Region]:
    """Every region listed, and every region priced, with what is known of it."""
    carbon = _read_carbon(folder, audit)
    located: dict[RegionKey, Region] = {}
    for row in map(audit.count_read, read_rows(folder, REGIONS)):
        audit.record(row, RowOutcome.REGION)
        key = (row["provider"], row["region"])
        located[key] = _parse_region(row, carbon.get(key))
    for key in sorted(set(priced) - located.keys()):
        located[key] = _locate_unlisted(key, located, carbon)
    return _fill_national_carbon(located)


def exchange_rates(folder: Path, audit: RowAudit) -> list[ExchangeRate]:
    """Monthly averages, dated by the last day of their month, when they were known."""
    rates = []
    for row in map(audit.count_read, read_rows(folder, RATES)):
        area = _read_table("currencies.csv").get(row["country_or_area"])
        if area is None:
            raise InvalidInput(row.location, f"currency of {row['country_or_area']!r} is not known")
        audit.record(row, RowOutcome.EXCHANGE_RATE)
        units = row.price("units_per_usd")
        year, month = map(int, row["month"].split("-"))
        last_day = dt.date(year, month, calendar.monthrange(year, month)[1])
        rates.append(ExchangeRate(area["currency"], last_day, units, row["source"]))
    return rates


def _parse_region(row: Row, carbon: tuple[float, str] | None) -> Region:
    country = CORRECTED_COUNTRIES.get((row["provider"], row["region"]), row["country"])
    # Coordinates of 0, 0 stand for a place that the list does not know.
    known = row["latitude"] != "0.0" or row["longitude"] != "0.0"
    return Region(
        geography=_lookup_geography(country),
        country=country,
        city=row["city"],
        latitude=_parse_float(row["latitude"]) if known else None,
        longitude=_parse_float(row["longitude"]) if known else None,
        g_co2e_per_kwh=carbon[0] if carbon else None,
        carbon_source=carbon[1] if carbon else "",
        name=row["name"],
    )


def _locate_unlisted(
    key: RegionKey,
    listed: Mapping[RegionKey, Region],
    carbon: Mapping[RegionKey, tuple[float, str]],
) -> Region:
    provider, name = key
    value, source = carbon.get(key, (None, ""))
    places = _read_table("places.csv")
    if name in places:
        known = places[name]
        known_place = Region(
            _find_geography(known), known["country"], known["city"], name=known["name"]
        )
        return replace(known_place, g_co2e_per_kwh=value, carbon_source=source)
    match = _ZONE.match(name)
    parent = listed.get((provider, match["parent"])) if match else None
    if match is None or parent is None:
        raise InvalidInput("region", f"{provider} {name} is priced but its place is not known")
    kind = "Wavelength Zone" if "-wl" in name else "Local Zone"
    if not match["city"]:
        return Region(parent.geography, parent.country, name=f"{kind} of {parent.name}")
    city = places.get(match["city"])
    if city is None:
        raise InvalidInput("region", f"{name}: the city of {match['city']!r} is not known")
    title = f"{kind} {city['city']} ({match['parent']})"
    return Region(_find_geography(city), city["country"], city["city"], name=title)


def _read_carbon(folder: Path, audit: RowAudit) -> dict[RegionKey, tuple[float, str]]:
    carbon_by_region = {}
    for row in map(audit.count_read, read_rows(folder, CARBON)):
        audit.record(row, RowOutcome.REGION)
        name = row["region"].replace(" ", "").lower()
        source = f"{row['source']}, {row['year']}"
        carbon_by_region[row["provider"], name] = (float(row.price("g_co2e_per_kwh")), source)
    return carbon_by_region


def _fill_national_carbon(regions: dict[RegionKey, Region]) -> dict[RegionKey, Region]:
    national: dict[str, tuple[RegionKey, Region]] = {}
    for key, region in sorted(regions.items()):
        if region.g_co2e_per_kwh is not None and region.country not in MANY_GRIDS:
            national.setdefault(region.country, (key, region))
    return {key: _copy_national_carbon(region, national) for key, region in regions.items()}


def _copy_national_carbon(
    region: Region, national: Mapping[str, tuple[RegionKey, Region]]
) -> Region:
    if region.g_co2e_per_kwh is not None or region.country not in national:
        return region
    (provider, name), other = national[region.country]
    source = f"{other.carbon_source} (as for {provider} {name}, same country)"
    return replace(region, g_co2e_per_kwh=other.g_co2e_per_kwh, carbon_source=source)


def _find_geography(known_place: Mapping[str, str]) -> str:
    return known_place["geography"] or _lookup_geography(known_place["country"])


def _lookup_geography(country: str) -> str:
    known = _read_table("geographies.csv").get(country)
    if known is None:
        raise InvalidInput("country", f"the geography of {country!r} is not known")
    return known["geography"]


def _parse_float(text: str) -> float | None:
    return float(Decimal(text)) if text else None


@cache
def _read_table(name: str) -> Mapping[str, Mapping[str, str]]:
    with (Path(__file__).parent / name).open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {next(iter(row.values())): row for row in rows}


def interruptions(folder: Path, audit: RowAudit) -> list[InterruptionBand]:
    """The band of each AWS machine and region; its estimated spot price is not a price."""
    bands = []
    for row in map(audit.count_read, read_rows(folder, INTERRUPTIONS)):
        low, high = _INTERRUPTION_SHARES[row["interruption_freq"]]
        audit.record(row, RowOutcome.INTERRUPTIONS)
        bands.append(
            InterruptionBand("aws", row["region"], row["instance_type"], low, high, _ADVISOR)
        )
    return bands


def storage_prices(folder: Path, audit: RowAudit) -> list[StoragePrice]:
    """Object and block storage and egress to the internet by GCP region."""
    prices = []
    for row in map(audit.count_read, read_rows(folder, STORAGE)):
        price = _parse_storage_price(row)
        audit.record(row, RowOutcome.STORAGE_PRICE if price else RowOutcome.NOT_NEEDED, row["kind"])
        prices += [price] if price else []
    return prices


def _parse_storage_price(row: Row) -> StoragePrice | None:
    if row["key"] != "month":
        return None
    name, _, region = row["region"].rpartition("/")
    if row["kind"] == "network":
        tier = name.removeprefix(_EGRESS)
        if not name.startswith(_EGRESS) or tier not in _TIERS:
            return None
        kind, above_gib = "egress", _TIERS[tier]
    else:
        source_kind = name if row["kind"] == "bucket" else row["name"]
        kind, above_gib = _KINDS.get((row["kind"], source_kind), ""), 0.0
    price = float(row.price("usd")) if kind else 0.0
    day, source = row["as_of"], row["source"]
    return StoragePrice("gcp", region, kind, above_gib, price, "USD", day, source) if kind else None


def list_documented_prices() -> Iterator[StoragePrice]:
    """Prices of AWS and Azure that are published in documents, not in a list."""
    aws = "AWS price list file"
    yield StoragePrice("aws", "us-east-2", "block", 0, 0.08, "USD", "2023-03-22", aws)
    yield StoragePrice("aws", "us-east-1", "block", 0, 0.08, "USD", "", "public test data")
    yield StoragePrice("aws", "cn-northwest-1", "block", 0, 0.5312, "CNY", "2023-03-14", aws)
    page = "alexjguy/AWS-costs-markdown, us-east-2"
    for above_gib, price in ((0, 0.09), (10_240, 0.085), (51_200, 0.07), (153_600, 0.05)):
        yield StoragePrice("aws", "", "egress", above_gib, price, "USD", "2018-08-01", page)
