"""Servers that can be bought: price, power and size of each, with source and year. PURE.

One row of `reference_servers.csv` is one configuration. Prices are list or shop prices in USD of
`price_year`, without network, storage or installation; `server_quotes.csv` has every price seen of
each, with its date and who asked it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from planner.contract.amounts import number_month
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group, read_row, read_rows, read_table

_TABLE = Path(__file__).with_name("reference_servers.csv")
_QUOTES = Path(__file__).with_name("server_quotes.csv")


@dataclass(frozen=True)
class Quote:
    """A price that was asked for a server on a day."""

    unit_price_usd: float
    quoted: str
    """Month, YYYY-MM, or the year alone where the source says no more."""
    seller: str
    """vendor, reseller, analyst or press."""
    source: str

    @property
    def months(self) -> int:
        """Months from year 0; of a year alone its first.

        >>> Quote(1.0, "2026-05", "press", "").months - Quote(1.0, "2026", "press", "").months
        4
        """
        year, _, month = self.quoted.partition("-")
        return number_month(int(year), int(month or 1))


@dataclass(frozen=True)
class Server:
    """A machine that is bought whole.

    >>> server = get("dgx-h100")
    >>> server.accelerator, server.accelerator_count, server.power_kw
    ('nvidia-h100-80gb-sxm', 8, 10.2)
    """

    slug: str
    name: str
    server_class: str
    """dgx, server, rack or workstation."""
    accelerator: str
    """Canonical slug, see `pricing.market.accelerators`."""
    accelerator_count: int
    unit_price_usd: float
    price_year: int
    power_kw: float
    """Nameplate (maximum) draw at the wall."""
    idle_power_kw: float
    typical_power_kw: float | None
    """Average draw at work as measured; None where nobody measured it."""
    measured_idle_power_kw: float | None
    rack_units: int
    """0 for a machine that stands on the floor."""
    on_sale: bool
    """False where only its historic price is known."""
    unverified: tuple[str, ...]
    """Fields estimated rather than seen in a source; `notes` and `source` say how."""
    source: str
    notes: str

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """Every dated price seen."""
        return _quotes().get(self.slug, ())

    @property
    def unit_prices_usd(self) -> list[float]:
        """All prices seen, the lowest first."""
        return sorted((self.unit_price_usd, *(quote.unit_price_usd for quote in self.quotes)))


def all_servers() -> tuple[Server, ...]:
    """Every known server, in the table's order."""
    return tuple(_table().values())


def get(slug: str, field: str = "server") -> Server:
    """The server with this slug; raises `InvalidInput` on `field` with the closest ones.

    >>> get("dgx-9")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: server: 'dgx-9' is not a known server; closest
        are ...
    """
    known = _table()
    wanted = slug.strip().casefold()
    if wanted not in known:
        near = ", ".join(difflib.get_close_matches(wanted, known, n=3, cutoff=0.3)) or "dgx-h100"
        advice = 'describe your own with "custom"'
        raise InvalidInput(
            field, f"{slug!r} is not a known server; closest are {near}; or {advice}"
        )
    return known[wanted]


@cache
def _table() -> MappingProxyType[str, Server]:
    return MappingProxyType({one.slug: one for one in read_table(_TABLE, Server)})


@cache
def _quotes() -> Mapping[str, tuple[Quote, ...]]:
    rows = group([(row["server"], row) for row in read_rows(_QUOTES)])
    return {slug: tuple(read_row(Quote, row) for row in rows[slug]) for slug in rows}
