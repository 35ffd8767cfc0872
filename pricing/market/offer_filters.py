"""Which offers are asked for, in which order: one filter set for page, API and library. PURE."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Collection
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from pricing.common.tables import group, read_rows
from pricing.market import accelerators, machine_types
from pricing.market.machine_types import instance_family
from pricing.market.offer_table import Rows
from pricing.market.place_names import COUNTRY_GROUPS
from pricing.market.snapshot import Catalog

ORDERINGS = ("usd_per_accelerator_hour", "usd_per_hour")
_NAMES = {
    "provider": "providers",
    "region": "regions",
    "geography": "geographies",
    "purchase_option": "purchase_options",
    "instance_type": "instance_types",
}
"""Filter → what the catalog calls names of its kind."""


@dataclass(frozen=True)
class OfferSearch:
    """Filters of a search; an empty or absent one limits nothing. Accelerators are slugs; a
    geography is one of the catalog's or a group of countries (`eu`, `eea`, `uk`, `switzerland`)."""

    provider: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    geography: tuple[str, ...] = ()
    accelerator: tuple[str, ...] = ()
    purchase_option: tuple[str, ...] = ()
    instance_type: tuple[str, ...] = ()
    min_accelerators: float | None = None
    accelerator_count: float | None = None
    min_accelerator_memory_gib: float | None = None
    sold_now: bool | None = None
    as_of: dt.date | None = None
    ordering: str = ORDERINGS[0]

    def rows(self, known: Catalog) -> Rows:
        table = known.offers
        rows = table.select(
            self.provider,
            self.region,
            (),
            self.accelerator,
            self.purchase_option,
            instance_types=self.instance_type,
            min_accelerator_memory_gib=self.min_accelerator_memory_gib,
            min_accelerators_per_node=self.min_accelerators,
            accelerator_count=self.accelerator_count,
            sold_now=self.sold_now,
        )
        if not self.geography:
            return rows
        covers = [
            place is not None
            and any(
                place.country in COUNTRY_GROUPS[name]
                if name in COUNTRY_GROUPS
                else place.geography == name
                for name in self.geography
            )
            for place in map(known.regions.get, table.places)
        ]
        inside: Rows = rows[np.array(covers, bool)[table.place_codes[rows]]]
        return inside

    def page(self, known: Catalog, start: int, size: int) -> tuple[Rows, int]:
        """(rows `start` to `start + size` in order, number of rows in all)."""
        table, rows = known.offers, self.rows(known)
        by_hour = self.ordering == "usd_per_hour"
        prices = table.effective_usd_per_hour if by_hour else None
        return table.cheapest(rows, start + size, prices)[start:], len(rows)

    def check_known_names(self, known: Catalog, adapters: Collection[str] = ()) -> None:
        """Raise `InvalidInput` for a name that the catalog does not have.

        `adapters` are providers of which prices can be read, though none may have been yet.
        """
        for name, kind in _NAMES.items():
            also = COUNTRY_GROUPS if name == "geography" else adapters
            known.check_names(kind, [one for one in getattr(self, name) if one not in also], name)

    @property
    def key(self) -> str:
        """Short name of the search, the same for equal filters."""
        text = repr([(f.name, getattr(self, f.name)) for f in fields(self)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def resolve_slugs(names: tuple[str, ...]) -> tuple[str, ...]:
    """Slugs of what names mean, a family's all; `InvalidInput` names what is not one and what is
    close."""
    return tuple(one.slug for name in names for one in accelerators.resolve_all(name))


TABLE = Path(__file__).parents[1] / "data" / "sold_options.csv"
EVERY_MACHINE = "*"


@dataclass(frozen=True)
class SoldOption:
    """Whether a provider sells machines of some families under a purchase option."""

    families: frozenset[str]
    """Families of machines; `*` is every one."""
    is_sold: bool | None
    """None where that depends on the machine and no source says it of each."""
    needs_account: bool
    """Whether its prices are read with an account alone."""
    source: str


@cache
def sold_options() -> dict[tuple[str, str], tuple[SoldOption, ...]]:
    """(provider, purchase option) → what is known, the first match first."""
    known = group(
        (
            (row["provider"], row["purchase_option"]),
            SoldOption(
                families=frozenset(row["machines"].split()),
                is_sold={"yes": True, "no": False, "unknown": None}[row["sold"]],
                needs_account=row["needs_account"] == "yes",
                source=row["source"],
            ),
        )
        for row in read_rows(TABLE)
    )
    return {key: tuple(rows) for key, rows in known.items()}


def find_sold_option(provider: str, purchase_option: str, instance_type: str) -> SoldOption | None:
    """What is known of one machine, None where nothing is.

    >>> find_sold_option("aws", "savings_plan", "p5.48xlarge").is_sold
    True
    >>> find_sold_option("gcp", "dws_calendar_mode", "a2-highgpu-8g").is_sold
    False
    >>> find_sold_option("aws", "reserved", "p5.48xlarge").is_sold is None
    True
    """
    machine_type = machine_types.find(provider, instance_type)
    if machine_type is not None and purchase_option in machine_type.not_sold_as:
        return SoldOption(frozenset({instance_type}), False, False, machine_type.source)
    family = machine_family(instance_type)
    for known in sold_options().get((provider, purchase_option), ()):
        if known.families & {EVERY_MACHINE, family}:
            return known
    return None


def machine_family(instance_type: str) -> str:
    """The family of a machine; of a host with attached accelerators, that of the host.

    >>> machine_family("p6-b200.48xlarge"), machine_family("n1-standard-8+1xnvidia-tesla-t4")
    ('p6-b200', 'n1-standard')
    """
    return instance_family(instance_type.split("+", 1)[0])
