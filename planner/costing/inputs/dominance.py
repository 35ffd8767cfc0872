"""Which offers can matter: what the limits admit, less what another offer dominates. PURE.

Of offers that differ in nothing but price (same purchase option, term, size, quotas) only the
cheapest can be in a best plan, so a catalog of any size shrinks to a few dozen sources.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.contract.copies import cached_property
from planner.costing.inputs.job_nodes import usable_accelerators
from planner.costing.inputs.offer_rules import Adjustment, QuotaRule, multipliers, quota_bits
from pricing.market.clouds import is_local_zone
from pricing.market.offer_table import OfferTable
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

OPTION_CODE = {option: code for code, option in enumerate(PurchaseOption)}
TIE = 1e-9
"""Relative difference under which two prices count as equal."""


@dataclass(frozen=True)
class EligibleOffers:
    """Columns of eligible offers; money in US dollars, adjustments applied."""

    table: OfferTable
    rows: Rows
    multiplier: Floats
    usd_per_hour: Floats
    upfront_usd: Floats
    term_months: NDArray[np.int64]
    option: NDArray[np.int64]
    capacity: Floats
    """Reference accelerators of one node."""
    accelerator: NDArray[np.int64]
    accelerator_count: Floats
    quotas: NDArray[np.int64]
    """Bit i is set where quota i counts the offer."""
    grids: Collection[tuple[str, str]] = ()
    """(provider, region) of the places whose grid's carbon is known."""
    tells_providers_apart: bool = False
    """Whether an offer of one provider stands for none of another."""
    counts_bills: bool = False
    """Whether credits or minimum spends count bills, so that no other cost makes up for them."""
    parts_nodes: bool = False
    """Whether a limit may part a machine among offers of its size."""

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _region_sizes(self) -> NDArray[np.intp]:
        return np.bincount(self.table.region.codes, minlength=len(self.table.region.names))

    def prices_in(self, row: int) -> int:
        """Prices of the region of an offer: large and old regions sell the most."""
        return int(self._region_sizes[self.table.region.codes[row]])

    def offer(self, i: int) -> Offer:
        """The offer behind entry `i`."""
        return self.table.offer(int(self.rows[i]))


def build_eligible_offers(
    table: OfferTable,
    rows: Rows,
    throughput: Mapping[str, float],
    quotas: Sequence[QuotaRule] = (),
    adjustments: Sequence[Adjustment] = (),
    grids: Collection[tuple[str, str]] = (),
    job_sizes: Mapping[str, int] | None = None,
) -> EligibleOffers:
    """Columns of `rows`; `throughput` is r of each accelerator slug, `job_sizes` the accelerators
    of each that one job takes."""
    sizes = job_sizes or {}
    job = np.array([sizes.get(name, 1) for name in table.accelerator.names], dtype=np.float64)
    r = np.array([throughput.get(name, 0.0) for name in table.accelerator.names])
    codes = np.array(
        [OPTION_CODE[PurchaseOption(name)] for name in table.purchase_option.names], dtype=np.int64
    )
    accelerator = table.accelerator.codes[rows].astype(np.int64)
    count = table.accelerator_count[rows]
    multiplier = multipliers(table, rows, adjustments)
    return EligibleOffers(
        table=table,
        rows=rows,
        multiplier=multiplier,
        usd_per_hour=table.usd_per_hour[rows] * multiplier,
        upfront_usd=table.upfront_usd[rows] * multiplier,
        term_months=table.term_months[rows].astype(np.int64),
        option=codes[table.purchase_option.codes[rows]] if len(rows) else rows.astype(np.int64),
        capacity=usable_accelerators(count, job[accelerator]) * r[accelerator]
        if len(rows)
        else count,
        accelerator=accelerator,
        accelerator_count=count,
        quotas=quota_bits(table, rows, quotas),
        grids=grids,
    )


def undominated_rentals(
    offers: EligibleOffers,
    goodput: Floats,
    data_cost: Floats,
    peak: float,
    dated: Collection[int] = (),
    *,
    whole_nodes: bool = False,
    staff: Sequence[Floats] = (),
) -> list[int]:
    """Entries rented by the hour that no other dominates: the cheapest per useful reference
    accelerator-hour of each purchase option and set of quotas, and those that cost
    more by the hour in places where the data costs less; those in `dated` all stay. With
    `whole_nodes` those of each node size stay that smaller nodes do not replace; all sizes where
    bills are counted, as a node may be partly paid for. `staff` is for an hour of a reference
    accelerator, at the start and the end of the plan."""
    is_hourly = ~np.isin(offers.option, _COMMITMENT_CODES)
    rent = offers.usd_per_hour / (offers.capacity * goodput)
    people = staff or (np.zeros(len(offers)),)
    costs = (*(rent + one for one in people), data_cost)
    if offers.counts_bills:
        costs = (rent, people[0], data_cost)
    selected = [i for i in dated if is_hourly[i]]
    is_hourly[list(dated)] = False
    entries = np.flatnonzero(is_hourly)
    keys = (offers.option, *_quota_key(offers))
    if not whole_nodes:
        for group in _groups(entries, keys):
            selected += _pareto_frontier(offers, group, peak, *costs)
        return selected
    by_size = []
    for group in _groups(entries, (*keys, _size_code(offers))):
        by_size += _pareto_frontier(offers, group, peak, *costs)
    if offers.counts_bills:
        return selected + by_size
    groups = list(_groups(np.array(by_size, dtype=np.intp), keys))
    if offers.parts_nodes:
        return selected + _remove_sizes(offers, groups, costs)
    for group in groups:
        selected += _remove_replaceable(offers, group, costs)
    return selected


def undominated_commitments(
    offers: EligibleOffers,
    average_discount: float,
    data_cost: Floats,
    peak: float,
    keep_payments: bool = False,
    dated: Collection[int] = (),
    later_relief: float = 0.0,
    staff: Floats | float = 0.0,
) -> list[int]:
    """Commitments that no other one of the same term and quotas dominates, whole or in equal parts.

    What a commitment costs is u · k + 730 p · k · ρ for k months, u its upfront payment by month
    and ρ the average discount factor of its months, from `average_discount` (a whole term) to
    1; one that costs more at both ends costs more throughout. With a tax rate τ
    and a share s of upfront payments that is deducted over the term, one costs 1 + λ · (1 − ρ) of
    itself, λ = τ · s / (1 − τ) being `later_relief`. With `keep_payments` (a monthly
    budget) the cheapest of each payment pattern stays as well; where bills are counted, all
    that none is as cheap as in u, p and each other cost. Those in `dated` all stay, and
    dominate none.
    """
    is_commitment = np.isin(offers.option, _COMMITMENT_CODES)
    kept_entries = [i for i in dated if is_commitment[i]]
    is_commitment[kept_entries] = False
    entries = np.flatnonzero(is_commitment)
    upfront = offers.upfront_usd / np.maximum(offers.term_months, 1)
    monthly = HOURS_PER_MONTH * offers.usd_per_hour
    cost_upfront = (upfront + monthly) / offers.capacity
    waited = 1 + later_relief * (1 - average_discount)
    cost_discounted = (upfront * waited + monthly * average_discount) / offers.capacity
    people = np.zeros(len(offers)) + staff
    costs: tuple[Floats, ...] = (cost_upfront, cost_discounted, data_cost + people)
    if offers.counts_bills:
        paid = (upfront / offers.capacity, monthly / offers.capacity)
        costs = (cost_upfront, *paid, data_cost, people)
    keys = [offers.term_months, _size_code(offers), *_quota_key(offers)]
    if keep_payments and not offers.counts_bills:
        share = np.divide(upfront, upfront + monthly)
        keys.append(np.round(share * 10).astype(np.int64))
    selected = []
    for group in _groups(entries, keys):
        selected += _pareto_frontier(offers, group, peak, *costs)
    keys_without_size = [offers.term_months, *keys[2:]]
    return kept_entries + [
        entry
        for group in _groups(np.array(selected, dtype=np.intp), keys_without_size)
        for entry in _remove_replaceable(offers, group, costs)
    ]


def _remove_sizes(
    offers: EligibleOffers, groups: Sequence[Rows], costs: Sequence[Floats]
) -> list[int]:
    entries = np.concatenate(groups) if groups else np.array([], dtype=np.intp)
    sizes = _size_code(offers)
    for large in np.unique(sizes[entries])[::-1]:
        for small in np.unique(sizes[entries]):
            one_size = [group[np.isin(sizes[group], (large, small))] for group in groups]
            left = [i for group in one_size for i in _remove_replaceable(offers, group, costs)]
            if small < large and not (sizes[left] == large).any():
                entries = entries[sizes[entries] != large]
                break
    return [int(i) for i in entries]


def _size_code(offers: EligibleOffers) -> NDArray[np.int64]:
    return np.round(offers.capacity * 1e6).astype(np.int64)


def _remove_replaceable(offers: EligibleOffers, group: Rows, costs: Sequence[Floats]) -> list[int]:
    capacity = offers.capacity[group]
    parts = capacity[:, None] / capacity[None, :]
    is_replaced = (parts > 1.5) & (np.abs(parts - np.round(parts)) < 1e-9)
    for cost in costs:
        group_cost = cost[group]
        is_replaced &= group_cost[None, :] <= group_cost[:, None] * (1 + TIE)
    return [int(i) for i in group[~is_replaced.any(axis=1)]]


_COMMITMENT_CODES = [code for option, code in OPTION_CODE.items() if option.is_commitment]


def _quota_key(offers: EligibleOffers) -> tuple[NDArray[np.int64], ...]:
    keys: tuple[NDArray[np.int64], ...] = ()
    if offers.tells_providers_apart:
        keys += (offers.table.provider.codes[offers.rows].astype(np.int64),)
    if offers.quotas.any():
        keys += (offers.quotas, np.where(offers.quotas > 0, offers.accelerator, -1))
    return keys


def _groups(entries: Rows, keys: Sequence[NDArray[np.int64]]) -> Iterator[Rows]:
    yield from split_by_equal_values(entries, [key[entries] for key in keys])


def split_by_equal_values(
    entries: Rows, columns: Sequence[NDArray[np.integer[Any]]]
) -> Iterator[Rows]:
    """`entries` split into groups that agree in every column; a column has one value an entry.

    >>> groups = split_by_equal_values(np.array([5, 6, 7]), [np.array([1, 2, 1])])
    >>> [group.tolist() for group in groups]
    [[5, 7], [6]]
    """
    if not len(entries):
        return
    order = np.lexsort(columns)
    changed = np.zeros(len(entries), dtype=bool)
    for column in columns:
        changed[1:] |= np.diff(column[order]) != 0
    yield from np.split(entries[order], np.flatnonzero(changed))


def _preference(
    offers: EligibleOffers, i: int, peak: float
) -> tuple[bool, float, bool, bool, int, str]:
    capacity, offer = float(offers.capacity[i]), offers.offer(i)
    is_larger = capacity > peak
    return (
        is_larger,
        capacity if is_larger else -capacity,
        (offer.provider, offer.region) not in offers.grids,
        is_local_zone(offer.region),
        -offers.prices_in(int(offers.rows[i])),
        offer.id,
    )


def _pareto_frontier(
    offers: EligibleOffers, group: Rows, peak: float, *criteria: Floats
) -> list[int]:
    selected: list[int] = []
    rest = group
    while len(rest):
        price = criteria[0]
        lowest = price[rest].min()
        equal = rest[price[rest] <= lowest * (1 + TIE)]
        best = min((int(i) for i in equal), key=lambda i: _preference(offers, i, peak))
        selected.append(best)
        is_better = np.zeros(len(rest), dtype=bool)
        for cost in criteria[1:]:
            is_better |= cost[rest] < cost[best] * (1 - TIE)
        rest = rest[is_better]
    return selected


def find_larger_nodes(
    offers: EligibleOffers, entries: Collection[int], data_cost: Floats, peak: float
) -> dict[int, int]:
    """Hourly entries → the largest machine of the same place, option and accelerator whose price
    is a whole multiple of theirs, up to the peak; those without one are left out."""
    place = offers.table.place_codes[offers.rows]
    alike: dict[tuple[int, int], Rows] = {}
    larger: dict[int, int] = {}
    for small in entries:
        kind = int(offers.option[small]), int(offers.accelerator[small])
        if kind not in alike:
            is_alike = (offers.option == kind[0]) & (offers.accelerator == kind[1])
            alike[kind] = np.flatnonzero(is_alike & (offers.capacity <= peak * (1 + TIE)))
        same = alike[kind]
        same = same[(place[same] == place[small]) & (offers.quotas[same] == offers.quotas[small])]
        parts = offers.capacity[same] / offers.capacity[small]
        is_equal = (parts > 1.5) & (np.abs(parts - np.round(parts)) < TIE)
        pairs = (
            (offers.usd_per_hour[same] / parts, offers.usd_per_hour[small]),
            (data_cost[same], data_cost[small]),
        )
        for cost, small_cost in pairs:
            is_equal &= np.abs(cost - small_cost) <= TIE * np.abs(small_cost)
        same = same[is_equal]
        if same.size:
            larger[small] = int(same[offers.capacity[same].argmax()])
    return larger
