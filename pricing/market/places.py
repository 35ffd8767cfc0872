"""Parts of a cloud that are sold apart, and groups of countries that people name. PURE.

A partition has accounts, contracts and rules of its own: a commercial account cannot rent in
AWS China, and the US government's regions are open to its contractors alone.
Sources: AWS "Partitions" (docs.aws.amazon.com, General Reference, 2025); Microsoft "Azure
sovereign clouds" (learn.microsoft.com, 2025); European Union and European Economic Area:
Agreement on the European Economic Area, as of 2020-02-01 (after the United Kingdom left).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

COMMERCIAL = "commercial"
_PREFIXES: Mapping[str, Mapping[str, str]] = {
    "aws": {"cn-": "aws-china", "us-gov-": "aws-us-gov", "us-iso": "aws-us-iso"},
    "azure": {"china": "azure-china", "usgov": "azure-us-gov", "usdod": "azure-us-gov"},
}
CLOUD_PARTITIONS = (
    COMMERCIAL,
    *sorted({name for prefixes in _PREFIXES.values() for name in prefixes.values()}),
)
"""Partitions of AWS, Azure and Google Cloud, and of clouds with an adapter of one's own."""
OTHER_CLOUDS = "other-clouds"
"""Smaller clouds with a price list: another contract, and often no more than machines."""
MARKETPLACES = "marketplaces"
"""Machines of many owners, without a contract for how long and how well they run."""
PARTITIONS = (*CLOUD_PARTITIONS, OTHER_CLOUDS, MARKETPLACES)
"""Every partition by the name that a request uses."""
_OTHER_PROVIDERS: Mapping[str, str] = {
    **dict.fromkeys(
        ("oci", "runpod", "vultr", "ovhcloud", "scaleway", "verda", "voltage-park"), OTHER_CLOUDS
    ),
    **dict.fromkeys(("lambda", "digitalocean", "hyperstack"), OTHER_CLOUDS),
    # Without an adapter: `load_catalog` publishes their dated list prices.
    **dict.fromkeys(
        ("coreweave", "crusoe", "denvr", "hyperbolic", "ibm", "massed-compute", "nebius"),
        OTHER_CLOUDS,
    ),
    "vast": MARKETPLACES,
}
_MARKET_REGIONS = frozenset({("runpod", "community-cloud")})

EU = frozenset(
    {"AT", "BE", "BG", "HR", "CY", "CZ", "DK", "EE", "FI"}
    | {"FR", "DE", "GR", "HU", "IE", "IT", "LV", "LT", "LU"}
    | {"MT", "NL", "PL", "PT", "RO", "SK", "SI", "ES", "SE"}
)
EEA = EU | {"IS", "LI", "NO"}
GEOGRAPHIES = (
    *("africa", "asia", "china", "europe", "middle-east", "north-america", "oceania"),
    *("south-america", "us-government"),
)
"""Parts of the world by which the catalog's regions are grouped."""
COUNTRY_GROUPS: Mapping[str, frozenset[str]] = {
    "eu": EU,
    "eea": EEA,
    "uk": frozenset({"GB"}),
    "switzerland": frozenset({"CH"}),
}
"""Group → ISO 3166-1 alpha-2 codes; wide geographies such as `europe` are the catalog's own."""

_COUNTRY_NAMES: Mapping[str, str] = {
    "AE": "united arab emirates, emirates, uae, dubai",
    "AT": "austria",
    "AU": "australia",
    "BE": "belgium",
    "BH": "bahrain",
    "BR": "brazil",
    "CA": "canada",
    "CH": "switzerland",
    "CL": "chile",
    "CN": "china, mainland china",
    "DE": "germany, deutschland",
    "DK": "denmark",
    "ES": "spain",
    "FI": "finland",
    "FR": "france",
    "GB": "united kingdom, uk, great britain, britain, england",
    "HK": "hong kong",
    "ID": "indonesia",
    "IE": "ireland",
    "IL": "israel",
    "IN": "india",
    "IT": "italy",
    "JP": "japan",
    "KR": "south korea, korea, republic of korea",
    "MA": "morocco",
    "MX": "mexico",
    "MY": "malaysia",
    "NG": "nigeria",
    "NL": "netherlands, the netherlands, holland",
    "NO": "norway",
    "NZ": "new zealand",
    "OM": "oman",
    "PE": "peru",
    "PH": "philippines",
    "PL": "poland",
    "QA": "qatar",
    "SA": "saudi arabia, ksa",
    "SE": "sweden",
    "SG": "singapore",
    "SN": "senegal",
    "TH": "thailand",
    "TW": "taiwan",
    "US": "united states, united states of america, usa, america",
    "ZA": "south africa",
}
COUNTRY_CODES: Mapping[str, str] = {
    name: code for code, names in _COUNTRY_NAMES.items() for name in names.split(", ")
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


def find_partition(provider: str, region: str) -> str:
    """The partition of a provider's region.

    >>> find_partition("aws", "eu-central-1"), find_partition("aws", "cn-north-1-pkx-1")
    ('commercial', 'aws-china')
    >>> find_partition("azure", "usgovvirginia"), find_partition("gcp", "us-central1")
    ('azure-us-gov', 'commercial')
    >>> find_partition("runpod", "secure-cloud"), find_partition("runpod", "community-cloud")
    ('other-clouds', 'marketplaces')
    """
    if (provider, region) in _MARKET_REGIONS:
        return MARKETPLACES
    if provider in _OTHER_PROVIDERS:
        return _OTHER_PROVIDERS[provider]
    for prefix, partition in _PREFIXES.get(provider, {}).items():
        if region.startswith(prefix):
            return partition
    return COMMERCIAL


_LOCAL_ZONE = re.compile(r"[a-z]+(-[a-z]+)+-\d+-.+")


def is_local_zone(region: str) -> bool:
    """Whether it is a Local or Wavelength Zone of AWS, named after the region that it hangs on.

    >>> is_local_zone("us-east-1-atl-1"), is_local_zone("us-west-2-wl1-las1")
    (True, True)
    >>> is_local_zone("us-gov-west-1"), is_local_zone("europe-west4")
    (False, False)
    """
    return _LOCAL_ZONE.fullmatch(region) is not None
