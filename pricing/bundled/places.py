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

from pricing.bundled.row_audit import Account, Outcome
from pricing.bundled.source import Row, read
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

Key = tuple[str, str]


def regions(folder: Path, priced: Iterable[Key], account: Account) -> dict[Key, Region]:
    """Every region listed, and every region priced, with what is known of it."""
    carbon = _carbon(folder, account)
    found: dict[Key, Region] = {}
    for row in map(account.enter, read(folder, REGIONS)):
        account.tell(row, Outcome.REGION)
        key = (row["provider"], row["region"])
        found[key] = _region(row, carbon.get(key))
    for key in sorted(set(priced) - found.keys()):
        found[key] = _unlisted(key, found, carbon)
    return _with_national_carbon(found)


def exchange_rates(folder: Path, account: Account) -> list[ExchangeRate]:
    """Monthly averages, dated by the last day of their month, when they were known."""
    rates = []
    for row in map(account.enter, read(folder, RATES)):
        currency = _currencies().get(row["country_or_area"])
        if currency is None:
            raise InvalidInput(row.place, f"currency of {row['country_or_area']!r} is not known")
        account.tell(row, Outcome.EXCHANGE_RATE)
        units = row.price("units_per_usd")
        rates.append(ExchangeRate(currency, _month_end(row["month"]), units, row["source"]))
    return rates


def _region(row: Row, carbon: tuple[float, str] | None) -> Region:
    country = CORRECTED_COUNTRIES.get((row["provider"], row["region"]), row["country"])
    # Coordinates of 0, 0 stand for a place that the list does not know.
    known = row["latitude"] != "0.0" or row["longitude"] != "0.0"
    return Region(
        geography=_geography(country),
        country=country,
        city=row["city"],
        latitude=_number(row["latitude"]) if known else None,
        longitude=_number(row["longitude"]) if known else None,
        g_co2e_per_kwh=carbon[0] if carbon else None,
        carbon_source=carbon[1] if carbon else "",
        name=row["name"],
    )


def _unlisted(
    key: Key, listed: Mapping[Key, Region], carbon: Mapping[Key, tuple[float, str]]
) -> Region:
    """A region that the list leaves out by its name, a zone of its own by its city's code."""
    provider, name = key
    value, source = carbon.get(key, (None, ""))
    if name in _places():
        known = _places()[name]
        place = Region(_geography_of(known), known["country"], known["city"], name=known["name"])
        return replace(place, g_co2e_per_kwh=value, carbon_source=source)
    match = _ZONE.match(name)
    parent = listed.get((provider, match["parent"])) if match else None
    if match is None or parent is None:
        raise InvalidInput("region", f"{provider} {name} is priced but its place is not known")
    kind = "Wavelength Zone" if "-wl" in name else "Local Zone"
    if not match["city"]:
        return Region(parent.geography, parent.country, name=f"{kind} of {parent.name}")
    city = _places().get(match["city"])
    if city is None:
        raise InvalidInput("region", f"{name}: the city of {match['city']!r} is not known")
    title = f"{kind} {city['city']} ({match['parent']})"
    return Region(_geography_of(city), city["country"], city["city"], name=title)


def _carbon(folder: Path, account: Account) -> dict[Key, tuple[float, str]]:
    """(provider, region) → g CO2e/kWh and its source; Azure's names become region names."""
    found = {}
    for row in map(account.enter, read(folder, CARBON)):
        account.tell(row, Outcome.REGION)
        name = row["region"].replace(" ", "").lower()
        source = f"{row['source']}, {row['year']}"
        found[row["provider"], name] = (float(row.price("g_co2e_per_kwh")), source)
    return found


def _with_national_carbon(found: dict[Key, Region]) -> dict[Key, Region]:
    """Regions without a figure of their own take that of another region of their country."""
    national: dict[str, tuple[Key, Region]] = {}
    for key, region in sorted(found.items()):
        if region.g_co2e_per_kwh is not None and region.country not in MANY_GRIDS:
            national.setdefault(region.country, (key, region))
    return {key: _nationally(region, national) for key, region in found.items()}


def _nationally(region: Region, national: Mapping[str, tuple[Key, Region]]) -> Region:
    if region.g_co2e_per_kwh is not None or region.country not in national:
        return region
    (provider, name), other = national[region.country]
    source = f"{other.carbon_source} (as for {provider} {name}, same country)"
    return replace(region, g_co2e_per_kwh=other.g_co2e_per_kwh, carbon_source=source)


def _geography_of(place: Mapping[str, str]) -> str:
    return place["geography"] or _geography(place["country"])


def _geography(country: str) -> str:
    geography = _geographies().get(country)
    if geography is None:
        raise InvalidInput("country", f"the geography of {country!r} is not known")
    return geography


def _month_end(month: str) -> dt.date:
    year, number = map(int, month.split("-"))
    return dt.date(year, number, calendar.monthrange(year, number)[1])


def _number(text: str) -> float | None:
    return float(Decimal(text)) if text else None


@cache
def _geographies() -> Mapping[str, str]:
    return {row["country"]: row["geography"] for row in _table("geographies.csv")}


@cache
def _currencies() -> Mapping[str, str]:
    return {row["area"]: row["currency"] for row in _table("currencies.csv")}


@cache
def _places() -> Mapping[str, Mapping[str, str]]:
    """Code of a city, or name of a region that the list leaves out → where it is."""
    return {row["code"]: row for row in _table("places.csv")}


def _table(name: str) -> list[dict[str, str]]:
    with (_TABLES / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
