"""Regions, their geography and their grid carbon; exchange rates by month. PURE."""

from __future__ import annotations

import calendar
import csv
import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.bundled.source import Row, read_rows
from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.snapshot import Region

REGIONS = "data/specs/regions.csv"
CARBON = "data/specs/grid_carbon.csv"
RATES = "data/exchange_rates_monthly.csv"

CORRECTED_COUNTRIES = {("azure", "brazilsoutheast"): "BR", ("azure", "mexicocentral"): "MX"}
"""Regions whose listed country (US, ZA) belies their city: Rio de Janeiro, Querétaro."""

_TABLES = Path(__file__).parent
_ZONE = re.compile(r"^(?P<parent>[a-z]+-[a-z]+-\d)-(?:wl\d)?-?(?:(?P<city>[a-z]{3})-?\d)?$")
"""us-east-1-atl-1 is the Local Zone in Atlanta, eu-west-2-wl2-man1 a Wavelength Zone."""

MANY_GRIDS = frozenset({"US", "CA", "CN"})
"""Countries whose grids differ too much for a figure to be carried from region to region."""

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
        currency = _currency_by_area().get(row["country_or_area"])
        if currency is None:
            raise InvalidInput(row.location, f"currency of {row['country_or_area']!r} is not known")
        audit.record(row, RowOutcome.EXCHANGE_RATE)
        units = row.price("units_per_usd")
        rates.append(ExchangeRate(currency, _last_day_of_month(row["month"]), units, row["source"]))
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
    """A region that the list leaves out by its name, a zone of its own by its city's code."""
    provider, name = key
    value, source = carbon.get(key, (None, ""))
    if name in _places_by_code():
        known = _places_by_code()[name]
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
    city = _places_by_code().get(match["city"])
    if city is None:
        raise InvalidInput("region", f"{name}: the city of {match['city']!r} is not known")
    title = f"{kind} {city['city']} ({match['parent']})"
    return Region(_find_geography(city), city["country"], city["city"], name=title)


def _read_carbon(folder: Path, audit: RowAudit) -> dict[RegionKey, tuple[float, str]]:
    """(provider, region) → g CO2e/kWh and its source; Azure's names become region names."""
    carbon_by_region = {}
    for row in map(audit.count_read, read_rows(folder, CARBON)):
        audit.record(row, RowOutcome.REGION)
        name = row["region"].replace(" ", "").lower()
        source = f"{row['source']}, {row['year']}"
        carbon_by_region[row["provider"], name] = (float(row.price("g_co2e_per_kwh")), source)
    return carbon_by_region


def _fill_national_carbon(regions: dict[RegionKey, Region]) -> dict[RegionKey, Region]:
    """Regions without a figure of their own take that of another region of their country."""
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
    geography = _geography_by_country().get(country)
    if geography is None:
        raise InvalidInput("country", f"the geography of {country!r} is not known")
    return geography


def _last_day_of_month(month: str) -> dt.date:
    year, number = map(int, month.split("-"))
    return dt.date(year, number, calendar.monthrange(year, number)[1])


def _parse_float(text: str) -> float | None:
    return float(Decimal(text)) if text else None


@cache
def _geography_by_country() -> Mapping[str, str]:
    return {row["country"]: row["geography"] for row in _read_table("geographies.csv")}


@cache
def _currency_by_area() -> Mapping[str, str]:
    return {row["area"]: row["currency"] for row in _read_table("currencies.csv")}


@cache
def _places_by_code() -> Mapping[str, Mapping[str, str]]:
    """Code of a city, or name of a region that the list leaves out → where it is."""
    return {row["code"]: row for row in _read_table("places.csv")}


def _read_table(name: str) -> list[dict[str, str]]:
    with (_TABLES / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
