"""What is known of the prices of each accelerator, provider and purchase option. PURE.

A price that is not in the catalog is not a thing that is not sold: each combination is `priced`,
`sold_price_unknown`, `not_sold` or `unknown`, by the prices of the catalog and by what
`sold_options` knows of the providers.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from pricing.common.tables import group
from pricing.market import machine_types
from pricing.market.clouds import find_cloud
from pricing.market.offer_filters import find_sold_option, machine_family, sold_options
from pricing.market.offer_table import OfferTable, Rows
from pricing.market.offers import Offer, PurchaseOption


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
    unknown_terms: tuple[int, ...] = ()
    """Terms that the provider sells under the option and of which no price is known, months."""
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
    wanted = frozenset(accelerators)
    sold = map(table.offers.__getitem__, rows.tolist())
    priced = group([(_key(offer), offer) for offer in sold])
    anywhere = {_key(table.offers[row]) for row in table.select(accelerators=wanted).tolist()}
    machines = _find_machines(table, wanted)
    terms = _list_sold_terms(table)
    return tuple(
        replace(
            row,
            unknown_terms=()
            if row.state is PriceState.NOT_SOLD
            else tuple(
                sorted(
                    terms[provider, key[2]]
                    - {offer.term_months for offer in priced.get(key, ()) if offer.term_months}
                )
            ),
        )
        for accelerator, provider in sorted(machines)
        if not providers or provider in providers
        for key in _keys(accelerator, provider, purchase_options, priced)
        for row in [
            _count_prices(key, priced[key])
            if key in priced
            else _cover(key, machines[key[:2]], key in anywhere)
        ]
    )


def _key(offer: Offer) -> Key:
    return offer.accelerator, offer.provider, offer.purchase_option.value


def _list_sold_terms(table: OfferTable) -> Mapping[tuple[str, str], set[int]]:
    terms: dict[tuple[str, str], set[int]] = defaultdict(set)
    for (provider, option), months in table.sold_terms.items():
        terms[provider, option] |= {*find_cloud(provider).commitment_terms} or months
    for provider, option in sold_options():
        if PurchaseOption(option).is_commitment:
            terms[provider, option] |= {*find_cloud(provider).commitment_terms}
    return terms


def _keys(
    accelerator: str, provider: str, wanted_options: Collection[str], priced: Collection[Key]
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


def _cover(key: Key, machines: Iterable[str], is_elsewhere: bool) -> CoverageRow:
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
            is_sold_elsewhere=is_elsewhere,
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


def _count_prices(key: Key, offers: Collection[Offer]) -> CoverageRow:
    days = [offer.as_of for offer in offers if offer.as_of]
    return CoverageRow(
        *key,
        PriceState.PRICED,
        count=len(offers),
        oldest=min(days, default=None),
        newest=max(days, default=None),
        undated=len(offers) - len(days),
    )


def _find_machines(table: OfferTable, wanted: frozenset[str]) -> dict[tuple[str, str], set[str]]:
    """(accelerator, provider) → machines that are sold with it, by its prices and by the tables of
    machines of the providers that the catalog has."""
    machines: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in table.select(accelerators=wanted).tolist():
        offer = table.offers[row]
        machines[offer.accelerator, offer.provider].add(offer.instance_type)
    for provider in table.provider.names:
        for slug, known in _known_machines(provider).items():
            if not wanted or slug in wanted:
                machines[slug, provider] |= known
    return dict(machines)


@cache
def _known_machines(provider: str) -> Mapping[str, frozenset[str]]:
    if provider not in machine_types.PROVIDERS:
        return {}
    machines = defaultdict(set)
    for machine in machine_types.all_machine_types(provider).values():
        if machine.accelerator and machine.retired_on is None:
            machines[machine.accelerator].add(machine.instance_type)
    return {slug: frozenset(names) for slug, names in machines.items()}
