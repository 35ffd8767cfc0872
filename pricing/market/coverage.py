"""What is known of the prices of each accelerator, provider and purchase option. PURE.

A price that is not in the catalog is not a thing that is not sold: each combination is `priced`,
`sold_price_unknown`, `not_sold` or `unknown`, by the prices of the catalog and by what
`sold_options` knows of the providers.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pricing.market import machine_types
from pricing.market.offer_filters import find_sold_option, machine_family, sold_options
from pricing.market.offer_table import UNDATED, CodedColumn, OfferTable
from pricing.market.offers import PurchaseOption

Rows = NDArray[np.intp]
_PROVIDERS_WITH_TABLES = ("aws", "azure", "gcp")


class PriceState(StrEnum):
    """What is known of a purchase option of an accelerator at a provider."""

    PRICED = "priced"
    SOLD_PRICE_UNKNOWN = "sold_price_unknown"
    NOT_SOLD = "not_sold"
    UNKNOWN = "unknown"

    @property
    def is_settled(self) -> bool:
        """Whether the catalog leaves nothing open."""
        return self in (PriceState.PRICED, PriceState.NOT_SOLD)


@dataclass(frozen=True)
class CoverageRow:
    """One accelerator at one provider under one purchase option."""

    accelerator: str
    provider: str
    purchase_option: str
    state: PriceState
    count: int = 0
    """Prices on sale."""
    oldest: dt.date | None = None
    newest: dt.date | None = None
    """Days of the oldest and newest dated price."""
    undated: int = 0
    """Prices without a date among them."""
    machines: tuple[str, ...] = ()
    """Families of machines that are sold under it with no price known."""
    needs_account: bool = False
    """Whether the missing prices are read with an account alone."""
    source: str = ""
    """Who says that it is sold, or not."""
    is_sold_elsewhere: bool = False
    """Whether the catalog has it on sale in places that do not count, and in none that do."""


Key = tuple[str, str, str]


def compute_coverage(
    table: OfferTable,
    rows: Rows,
    *,
    accelerators: Collection[str] = (),
    providers: Collection[str] = (),
    purchase_options: Collection[str] = (),
) -> tuple[CoverageRow, ...]:
    """One row for each accelerator, provider that has a machine with it, and purchase option.

    `rows` are the prices on sale in the places that count. An empty collection limits nothing;
    then purchase options are those that the provider has at all.
    """
    wanted = frozenset(accelerators) or None
    priced = _count_prices(table, rows)
    machines = _find_machines(table, wanted)
    everywhere = table.select(accelerators=wanted or ())
    columns = (table.accelerator, table.provider, table.purchase_option)
    anywhere = frozenset(_distinct(columns, everywhere)[0])
    return tuple(
        _cover(key, priced, machines[key[:2]], key in anywhere)
        for accelerator, provider in sorted(machines)
        if not providers or provider in providers
        for key in _keys(accelerator, provider, purchase_options, priced)
    )


def _keys(
    accelerator: str,
    provider: str,
    wanted_options: Collection[str],
    priced: Mapping[Key, CoverageRow],
) -> Iterator[Key]:
    for option in PurchaseOption:
        key = accelerator, provider, option.value
        is_wanted = key in priced or has_option(provider, option)
        if option.value in wanted_options or (not wanted_options and is_wanted):
            yield key


def has_option(provider: str, option: str) -> bool:
    """Whether a provider sells anything under a purchase option, as far as is known.

    >>> has_option("azure", "low_priority"), has_option("aws", "low_priority")
    (True, False)
    """
    return any(known.is_sold is not False for known in sold_options().get((provider, option), ()))


def _cover(
    key: Key, priced: Mapping[Key, CoverageRow], machines: Iterable[str], is_elsewhere: bool
) -> CoverageRow:
    if key in priced:
        return priced[key]
    _, provider, option = key
    known = {name: find_sold_option(provider, option, name) for name in sorted(machines)}
    sold = {name: one for name, one in known.items() if one is not None and one.is_sold}
    if sold:
        return CoverageRow(
            *key,
            PriceState.SOLD_PRICE_UNKNOWN,
            machines=tuple(sorted({machine_family(name) for name in sold})),
            needs_account=all(one.needs_account for one in sold.values()),
            source=next(iter(sold.values())).source,
        )
    facts = [one for one in known.values() if one is not None]
    if len(facts) == len(known) and all(one.is_sold is False for one in facts):
        return CoverageRow(*key, PriceState.NOT_SOLD, source=facts[0].source)
    return CoverageRow(
        *key,
        PriceState.UNKNOWN,
        machines=tuple(sorted({machine_family(name) for name in known})),
        needs_account=bool(facts) and all(one.needs_account for one in facts),
        is_sold_elsewhere=is_elsewhere,
    )


def _count_prices(table: OfferTable, rows: Rows) -> dict[Key, CoverageRow]:
    columns = (table.accelerator, table.provider, table.purchase_option)
    keys, place = _distinct(columns, rows)
    day = table.as_of_day[rows]
    counts = np.bincount(place, minlength=len(keys))
    undated = np.bincount(place[day == UNDATED], minlength=len(keys))
    oldest = np.full(len(keys), np.iinfo(np.int64).max)
    np.minimum.at(oldest, place[day != UNDATED], day[day != UNDATED])
    newest = np.zeros(len(keys), dtype=np.int64)
    np.maximum.at(newest, place, day)
    return {
        key: CoverageRow(
            *key,
            PriceState.PRICED,
            count=int(counts[i]),
            oldest=_read_day(oldest[i] if counts[i] > undated[i] else UNDATED),
            newest=_read_day(newest[i]),
            undated=int(undated[i]),
        )
        for i, key in enumerate(keys)
    }


def _read_day(ordinal: int) -> dt.date | None:
    return None if ordinal == UNDATED else dt.date.fromordinal(int(ordinal))


def _distinct(
    columns: tuple[CodedColumn, CodedColumn, CodedColumn], rows: Rows
) -> tuple[list[Key], Rows]:
    code = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        code = code * max(len(column.names), 1) + column.codes[rows]
    distinct, place = np.unique(code, return_inverse=True)
    one, two, three = columns
    seconds, thirds = len(two.names) or 1, len(three.names) or 1
    keys = [
        (
            one.names[value // thirds // seconds],
            two.names[value // thirds % seconds],
            three.names[value % thirds],
        )
        for value in distinct.tolist()
    ]
    return keys, place


def _find_machines(
    table: OfferTable, accelerators: frozenset[str] | None
) -> dict[tuple[str, str], set[str]]:
    """(accelerator, provider) → machines that are sold with it, by its prices and by the tables of
    machines of the providers that the catalog has."""
    machines: dict[tuple[str, str], set[str]] = defaultdict(set)
    rows = table.select(accelerators=accelerators or ())
    columns = (table.accelerator, table.provider, table.instance_type)
    for slug, provider, name in _distinct(columns, rows)[0]:
        machines[slug, provider].add(name)
    for provider_name in table.provider.names:
        for slug, known in _known_machines(provider_name).items():
            if accelerators is None or slug in accelerators:
                machines[slug, provider_name] |= known
    return dict(machines)


@cache
def _known_machines(provider: str) -> Mapping[str, frozenset[str]]:
    if provider not in _PROVIDERS_WITH_TABLES:
        return {}
    machines = defaultdict(set)
    for machine in machine_types.all_machine_types(provider).values():
        if machine.accelerator and machine.retired_on is None:
            machines[machine.accelerator].add(machine.instance_type)
    return {slug: frozenset(names) for slug, names in machines.items()}
