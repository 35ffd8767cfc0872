"""Clouds by the facts that each declares of itself: titles, parts, terms.

An adapter's class in `pricing.providers` is the declaration of its cloud. A cloud that has prices
in the bundle and no adapter is a row of `data/clouds.csv`. PURE: adapters import no SDK.

A partition is a part of a cloud that is sold apart, with accounts, contracts and rules of its own:
a commercial account cannot rent in AWS China, and the US government's regions are open to its
contractors alone. Sources: AWS "Partitions" (docs.aws.amazon.com, General Reference, 2025);
Microsoft "Azure sovereign clouds" (learn.microsoft.com, 2025).
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pricing.common.tables import read_rows

TABLE = Path(__file__).parents[1] / "data" / "clouds.csv"
ADAPTERS = "pricing.providers"
COMMERCIAL = "commercial"
OTHER_CLOUDS = "other-clouds"
"""Smaller clouds with a price list: another contract, and often no more than machines."""
MARKETPLACES = "marketplaces"
"""Machines of many owners, without a contract for how long and how well they run."""
CLOUD_PARTITIONS = (
    *(COMMERCIAL, "aws-china", "aws-us-gov", "aws-us-iso", "azure-china", "azure-us-gov"),
)
"""Partitions of AWS, Azure and Google Cloud."""
PARTITIONS = (*CLOUD_PARTITIONS, OTHER_CLOUDS, MARKETPLACES)
"""Every partition by the name that a request uses."""
log = logging.getLogger(__name__)


class Cloud:
    """One provider. Subclasses set what differs."""

    name: str
    """Its key everywhere."""
    title: str
    """What people call it."""
    short_title: str = ""
    """What sentences call it, where that is shorter."""
    issuer: str = ""
    """Who issues its invoice; its name where that is not stated."""
    service: str = ""
    """Its service that rents machines."""
    by_default: bool = True
    """Whether a refresh reads it without being told to."""
    partitions: Mapping[str, str] = MappingProxyType({"": OTHER_CLOUDS})
    """How regions begin → the partition that they are in, the first match first."""
    fault: str = ""
    """Why its adapter cannot be loaded."""
    machine_names: str = ""
    """How names of its machines with accelerators begin, whatever their case: a pattern."""
    commitment_terms: tuple[int, ...] = ()
    """Terms under which it sells every commitment, months."""

    def partition(self, region: str) -> str:
        matches = (part for begin, part in self.partitions.items() if region.startswith(begin))
        return next(matches, OTHER_CLOUDS)


def all_clouds() -> Mapping[str, Cloud]:
    return _read_clouds(tuple(importlib.import_module(ADAPTERS).__path__))


def find_cloud(name: str) -> Cloud:
    """The cloud of this name; one that nobody declares is one of the other clouds.

    >>> find_cloud("vast").title, find_cloud("nimbus").title
    ('Vast.ai', 'nimbus')
    """
    return all_clouds().get(name) or _declare(name, name)


def _declare(name: str, title: str, **facts: Any) -> Cloud:
    cloud = Cloud()
    vars(cloud).update(name=name, title=title, **facts)
    return cloud


@lru_cache(maxsize=8)
def _read_clouds(path: tuple[str, ...]) -> Mapping[str, Cloud]:
    clouds: dict[str, Cloud] = {}
    for row in read_rows(TABLE):
        partition = {"partitions": {"": row["partition"]}} if row["partition"] else {}
        clouds[row["name"]] = _declare(row["name"], row["title"], **partition)
    for module in pkgutil.iter_modules(path):
        try:
            adapter = getattr(
                importlib.import_module(f"{ADAPTERS}.{module.name}"), "provider", None
            )
        except Exception as error:
            log.exception("pricing/providers/%s cannot be loaded", module.name)
            fault = f"{type(error).__name__}: {error}"
            adapter = _declare(module.name, module.name, fault=fault)
        if isinstance(adapter, Cloud):
            clouds[adapter.name] = adapter
    return MappingProxyType(clouds)


def find_partition(provider: str, region: str) -> str:
    """The partition of a provider's region.

    >>> find_partition("aws", "eu-central-1"), find_partition("aws", "cn-north-1-pkx-1")
    ('commercial', 'aws-china')
    >>> find_partition("azure", "usgovvirginia"), find_partition("gcp", "us-central1")
    ('azure-us-gov', 'commercial')
    >>> find_partition("runpod", "secure-cloud"), find_partition("runpod", "community-cloud")
    ('other-clouds', 'marketplaces')
    """
    # A price that a request brings along may name no provider.
    return find_cloud(provider).partition(region) if provider else COMMERCIAL


_LOCAL_ZONE = re.compile(r"[a-z]+(-[a-z]+)+-\d+-.+")


def is_local_zone(region: str) -> bool:
    """Whether it is a Local or Wavelength Zone of AWS, named after the region that it hangs on.

    >>> is_local_zone("us-east-1-atl-1"), is_local_zone("us-west-2-wl1-las1")
    (True, True)
    >>> is_local_zone("us-gov-west-1"), is_local_zone("europe-west4")
    (False, False)
    """
    return _LOCAL_ZONE.fullmatch(region) is not None


_ZONE_OF_CITY = re.compile(r"[a-z]+\d+-([a-z]+)(\d+)-az\d+")
"""Id of a zone in a Local Zone: `use1-atl2-az1` is the id of `us-east-1-atl-2a` (AWS Local Zones
user guide, Available Local Zones, 2026)."""


def place_of_zone(region: str, zone: str) -> str:
    """The region code that AWS prices a zone by: a Local Zone's own, else that of its region.

    >>> place_of_zone("us-east-1", "use1-atl2-az1"), place_of_zone("us-east-1", "use1-az6")
    ('us-east-1-atl-2', 'us-east-1')
    """
    match = _ZONE_OF_CITY.fullmatch(zone)
    return f"{region}-{match[1]}-{match[2]}" if match else region
