"""Which offers are asked for, in which order: one filter set for page, API and library. PURE."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows
from pricing.market import accelerators, machine_types
from pricing.market.machine_types import instance_family
from pricing.market.offer_table import OfferTable, Rows
from pricing.market.snapshot import Catalog

MOST = 1_000_000
"""Accelerators, or GiB of memory: beyond any machine."""
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
    """Filters of a search; an empty or absent one limits nothing. Accelerators are slugs."""

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

    def rows(self, table: OfferTable) -> Rows:
        """Rows that meet every filter, in row order."""
        return table.select(
            self.provider,
            self.region,
            self.geography,
            self.accelerator,
            self.purchase_option,
            instance_types=self.instance_type,
            min_accelerator_memory_gib=self.min_accelerator_memory_gib,
            min_accelerators_per_node=self.min_accelerators,
            accelerator_count=self.accelerator_count,
            sold_now=self.sold_now,
        )

    def page(self, table: OfferTable, start: int, size: int) -> tuple[Rows, int]:
        """(rows `start` to `start + size` in order, number of rows in all)."""
        rows = self.rows(table)
        by_hour = self.ordering == "usd_per_hour"
        prices = table.effective_usd_per_hour if by_hour else None
        return table.cheapest(rows, start + size, prices)[start:], len(rows)

    def check_known_names(self, known: Catalog, adapters: Collection[str] = ()) -> None:
        """Raise `InvalidInput` for a name that the catalog does not have.

        `adapters` are providers of which prices can be read, though none may have been yet.
        """
        for name, kind in _NAMES.items():
            values = [value for value in getattr(self, name) if value not in adapters]
            known.check_names(kind, values, name)

    @property
    def key(self) -> str:
        """Short name of the search, the same for equal filters."""
        text = repr([(f.name, getattr(self, f.name)) for f in fields(self)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def resolve_slugs(names: tuple[str, ...], field: str = "accelerator") -> tuple[str, ...]:
    """Slugs of what names mean, a family's all; `InvalidInput` names what is not one and what is
    close."""
    return tuple(one.slug for name in names for one in accelerators.resolve_all(name, field))


def search_offers(
    catalog: Catalog,
    names: Mapping[str, str | Sequence[str]],
    *,
    limit: int | None = None,
    **limits: Any,
) -> tuple[tuple[int, ...], int]:
    """(rows of the offers that meet every filter, the cheapest first; how many meet them).

    `names` and `limits` are the fields of `OfferSearch`; accelerators go by slug or usual name.
    At most `limit` rows. Raises `InvalidInput` for a name, ordering or limit that is not known.
    """
    ordering = limits.get("ordering", ORDERINGS[0])
    if ordering not in ORDERINGS:
        allowed = ", ".join(ORDERINGS)
        raise InvalidInput("ordering", f"{ordering!r} is unknown; allowed are {allowed}")
    _check_limits(limit, limits)
    limits |= {name: float(limits[name]) for name in _NUMBERS if limits.get(name) is not None}
    fields_by_name = {name: _as_names(name, values) for name, values in names.items()}
    fields_by_name["accelerator"] = resolve_slugs(fields_by_name.get("accelerator", ()))
    search = OfferSearch(**fields_by_name, **limits)  # type: ignore[arg-type]
    search.check_known_names(catalog)
    rows, count = search.page(catalog.offers, 0, limit or len(catalog.offers))
    return tuple(int(row) for row in rows), count


_NUMBERS = ("min_accelerators", "accelerator_count", "min_accelerator_memory_gib")


def _check_limits(limit: Any, limits: Mapping[str, Any]) -> None:
    if limit is not None:
        if isinstance(limit, bool) or not isinstance(limit, Integral):
            raise InvalidInput("limit", f"{limit!r} is not a whole number; write one such as 3")
        if limit < 1:
            raise InvalidInput("limit", f"{limit} is not allowed; must be at least 1")
    for name in _NUMBERS:
        value: Any = limits.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (Real, Decimal)) or value != value:
            raise InvalidInput(name, f"{value!r} is not a number; write one such as 8")
        if value < 0 or value > MOST:  # type: ignore[operator]
            raise InvalidInput(name, f"must be from 0 to {MOST:,}")
    if (sold_now := limits.get("sold_now")) not in (None, True, False):
        raise InvalidInput("sold_now", f"{sold_now!r} is unknown; allowed are True, False, None")


def _as_names(field: str, values: Any) -> tuple[str, ...]:
    names = (values,) if isinstance(values, str) or not isinstance(values, Iterable) else values
    names = tuple(names)
    for name in names:
        if not isinstance(name, str):
            raise InvalidInput(field, f"{name!r} is not a name; write text, or a list of texts")
    return names


TABLE = Path(__file__).parents[1] / "data" / "sold_options.csv"
COLUMNS = (
    "provider",
    "purchase_option",
    "machines",
    "sold",
    "needs_account",
    "as_of",
    "source",
)
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
    table: dict[tuple[str, str], tuple[SoldOption, ...]] = {}
    for row in read_rows(TABLE):
        key = row["provider"], row["purchase_option"]
        table[key] = (
            *table.get(key, ()),
            SoldOption(
                families=frozenset(row["machines"].split()),
                is_sold={"yes": True, "no": False, "unknown": None}[row["sold"]],
                needs_account=row["needs_account"] == "yes",
                source=row["source"],
            ),
        )
    return table


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
