"""Places as people name them: countries, groups of them and parts of the world. PURE.

European Union and European Economic Area: Agreement on the European Economic Area, as of
2020-02-01 (after the United Kingdom left).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pricing.common.tables import read_rows

PARTITIONS_OF: Mapping[str, tuple[str, ...]] = {
    "china": ("aws-china", "azure-china"),
    "CN": ("aws-china", "azure-china"),
    "us-government": ("aws-us-gov", "azure-us-gov"),
}
"""Geography or country → partitions that its regions are in; commercial of any other."""

GEOGRAPHIES = (
    *("africa", "asia", "china", "europe", "middle-east", "north-america", "oceania"),
    *("south-america", "us-government"),
)
"""Parts of the world by which the catalog's regions are grouped."""
_COUNTRIES = tuple(read_rows(Path(__file__).with_name("countries.csv")))
COUNTRY_GROUPS: Mapping[str, frozenset[str]] = {
    group: frozenset(row["code"] for row in _COUNTRIES if group in row["groups"].split())
    for group in ("eu", "eea", "uk", "switzerland")
}
"""Group → ISO 3166-1 alpha-2 codes; wide geographies such as `europe` are the catalog's own."""
COUNTRY_CODES: Mapping[str, str] = {
    name: row["code"] for row in _COUNTRIES for name in filter(None, row["names"].split(";"))
}
"""English name in lower case → ISO 3166-1 alpha-2 code, of the countries with a cloud's regions."""
AREAS: Mapping[str, tuple[str, ...]] = {
    "apac": ("asia", "oceania"),
    "asia pacific": ("asia", "oceania"),
    "emea": ("europe", "middle-east", "africa"),
    "latam": ("south-america",),
    "latin america": ("south-america",),
    "na": ("north-america",),
    "amer": ("north-america", "south-america"),
    "americas": ("north-america", "south-america"),
}
"""Part of the world as sales regions are called → geographies."""


@cache
def regions_by_city() -> Mapping[str, tuple[str, ...]]:
    """City in lower case → the regions of all providers in it, but those for a government."""
    cities: dict[str, tuple[str, ...]] = {}
    for row in read_rows(Path(__file__).parents[1] / "data/regions.csv"):
        city = row["city"].lower()
        if city and row["geography"] not in PARTITIONS_OF:
            cities[city] = (*cities.get(city, ()), row["region"])
    return cities
