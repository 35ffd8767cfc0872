"""Searches of the market by page and API: the catalog that one looks at, and its pages."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any, cast

from pricing import catalog, discovery
from pricing.common import strict_json
from pricing.common.invalid_input import InvalidInput
from pricing.market.coverage import CoverageRow, compute_coverage
from pricing.market.offer_filters import OfferSearch
from pricing.market.offer_table import OfferTable
from pricing.market.snapshot import Catalog


def check_known_names(search: OfferSearch, known: Catalog) -> None:
    """Raise `InvalidInput` for a name that neither catalog nor adapters have."""
    search.check_known_names(known, discovery.all_providers() if search.provider else ())


def search_coverage(search: OfferSearch, table: OfferTable) -> tuple[CoverageRow, ...]:
    """What is known of the prices that a search asks for, in its places."""
    places = OfferSearch(
        provider=search.provider,
        region=search.region,
        geography=search.geography,
        accelerator=search.accelerator,
        sold_now=True,
    )
    return compute_coverage(
        table,
        places.rows(table),
        accelerators=search.accelerator,
        providers=search.provider,
        purchase_options=search.purchase_option,
    )


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
        text = base64.urlsafe_b64decode(padded.encode("ascii")).decode()
        start, key, revisions = cast(list[Any], strict_json.loads(text))
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
