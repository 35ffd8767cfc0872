"""Which offers are asked for, and in which order: one filter set for the page and the API."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import json
from dataclasses import dataclass, fields
from typing import Any

from pricing import catalog, discovery
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators
from pricing.market.offer_table import OfferTable, Rows
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

    def check_known_names(self, known: Catalog) -> None:
        """Raise `InvalidInput` for a name that neither catalog nor adapters have."""
        adapters = discovery.all_providers() if self.provider else {}
        for name, kind in _NAMES.items():
            values = [value for value in getattr(self, name) if value not in adapters]
            known.check_names(kind, values, name)

    @property
    def key(self) -> str:
        """Short name of the search, the same for equal filters."""
        text = repr([(f.name, getattr(self, f.name)) for f in fields(self)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def resolve_slugs(names: tuple[str, ...], field: str = "accelerator") -> tuple[str, ...]:
    """Slugs or aliases as slugs; `InvalidInput` names what is not one and what is close."""
    return tuple(accelerators.resolve(name, field).slug for name in names)


# Pages ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PagePosition:
    """Where a page begins, and in which revisions: pages fit together while others publish."""

    start: int
    revisions: tuple[tuple[str, int], ...]


def catalog_for(search: OfferSearch, position: PagePosition | None, now: catalog.State) -> Catalog:
    """The catalog that a search looks at: of its day, of its cursor, or the one in force."""
    if search.as_of is not None:
        return catalog.as_of(search.as_of)
    return catalog.at(dict(position.revisions)) if position else catalog.current(now)


def to_cursor(search: OfferSearch, start: int, known: Catalog) -> str:
    """An opaque cursor to the page of `search` that begins at `start`."""
    revisions = [[info.provider, info.revision] for info in known.revisions]
    text = json.dumps([start, search.key, revisions], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def from_cursor(search: OfferSearch, cursor: str) -> PagePosition:
    """The place that `to_cursor` named; `InvalidInput` for one that is not of this search."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        start, key, revisions = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        position = PagePosition(
            _parse_count(start),
            tuple((_parse_name(name), _parse_count(n)) for name, n in revisions),
        )
    except (ValueError, TypeError, binascii.Error):
        raise InvalidInput("cursor", "is not one of ours; follow `next` links") from None
    if key != search.key:
        raise InvalidInput("cursor", "belongs to other filters; follow `next` links")
    return position


def _parse_count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise ValueError(value)
    return value


def _parse_name(value: Any) -> str:
    if not isinstance(value, str) or "\x00" in value:
        raise ValueError(value)
    return value
