"""From a plan to its cost lines: every cost once, each rounded to the cent once. PURE.

Quantity and unit price are rounded as they are shown (8 decimals each), their product to the
cent; totals are sums of those cents, so that anybody can check them with a pocket calculator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.answer.scenario import CapacityRow, CostLine
from planner.contract.copies import replace
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import CAPITAL, Stream
from planner.costing.cost_model.spend_pools import SpendPool
from planner.costing.cost_model.terms import Calendar
from planner.costing.optimizer.problem import Plan
from planner.costing.results.entries import (
    Entry,
    Posting,
    allocate_write_off,
    build_entries,
    build_pool_postings,
    build_tax_postings,
    present_cost,
    round_to_cents,
)
from planner.costing.run_peaks import nodes_at_once

Floats = NDArray[np.float64]

HOUR_NOISE = 1e-6
"""Node-hours below which the optimiser's answer counts as none, h."""


@dataclass(frozen=True)
class Ledger:
    """The lines of a plan, and the same costs as they are written off over time."""

    lines: tuple[CostLine, ...]
    accrued: tuple[Decimal, ...]
    """[L] sums to the total of the lines."""
    entries: tuple[Entry, ...]
    """The same costs by what they are and when they are paid."""
    present: float | None
    """Net present cost where anything is paid later than at the start of its month."""
    write_off: Mapping[str, tuple[Decimal, ...]]
    """source key → [L] its capital and upfront payments as they are written off, in cents that
    sum to what was paid."""


def build_ledger(
    plan: Plan,
    sources: Mapping[str, CapacitySource],
    used_hours: Mapping[str, Floats],
    calendar: Calendar,
    pools: Sequence[SpendPool] = (),
) -> Ledger:
    """Cost lines of `plan` in the order of months, sources and categories."""
    postings = [
        posting
        for source in _sort_sources(sources, plan, used_hours)
        for posting in _postings(source, plan, used_hours, calendar)
    ]
    postings += list(build_pool_postings(postings, pools, calendar))
    postings += build_tax_postings(postings, calendar)
    entries = tuple(entry for posting in postings for entry in build_entries(posting, calendar))
    lines = [line for posting in postings for line in _lines(posting)]
    lines.sort(key=lambda line: line.month)
    return Ledger(
        tuple(lines),
        _accrue(postings, calendar.length),
        entries,
        present_cost(entries, calendar),
        _write_off_by_source(postings, calendar.length),
    )


def settle_used_hours(
    plan: Plan, sources: Mapping[str, CapacitySource], demand_hours: Floats
) -> dict[str, Floats]:
    """[T] useful node-hours of each source, no more in all than the demand asks for.

    Hours that cost nothing are not fixed by the optimum (a committed node may idle): what
    exceeds the demand is taken from the sources started in units, in the order of their keys.
    """
    used_hours = {key: _drop_noise(hours) for key, hours in plan.rented_hours.items()}
    used_hours |= {key: _drop_noise(hours) for key, hours in plan.used_hours.items()}
    served = sum(
        (used_hours[key] * sources[key].capacity for key in used_hours), np.zeros(len(demand_hours))
    )
    excess = np.maximum(served - demand_hours, 0.0)
    for key in sorted(plan.used_hours):
        reduction = np.minimum(used_hours[key], excess / sources[key].capacity)
        used_hours[key] = _drop_noise(used_hours[key] - reduction)
        excess = excess - reduction * sources[key].capacity
    return {key: hours for key, hours in used_hours.items() if hours.any()}


def capacity_rows(
    plan: Plan,
    sources: Mapping[str, CapacitySource],
    used_hours: Mapping[str, Floats],
    peak_hours_on: Callable[[str], Floats],
) -> tuple[CapacityRow, ...]:
    """What each source gives in each month; `peak_hours_on` tells the [T] hours at peak, H / P, on
    a kind of accelerator."""
    rows: list[CapacityRow] = []
    for source in _sort_sources(sources, plan, used_hours):
        peak_hours = peak_hours_on(source.accelerator)
        hours = used_hours.get(source.key, np.zeros(len(peak_hours)))
        if source.term is None:
            nodes = nodes_at_once(hours, peak_hours)
            nodes = np.ceil(nodes - HOUR_NOISE) if plan.is_level else nodes
            available = hours
        else:
            nodes = source.units_in_service(_units_started(plan, source))
            available = nodes * source.hours_per_month
        for month in np.flatnonzero(nodes > 0).tolist():
            rows.append(
                CapacityRow.of_values(
                    month=month,
                    source=source.key,
                    accelerators=round(float(nodes[month]) * source.accelerators, 6),
                    hours_available=round(float(available[month]) * source.capacity, 6),
                    hours_used=round(float(hours[month]) * source.capacity, 6),
                )
            )
    rows.sort(key=lambda row: row.month)
    return tuple(rows)


def _drop_noise(hours: Floats) -> Floats:
    return np.where(hours > HOUR_NOISE, np.round(hours, 6), 0.0)


def _units_started(plan: Plan, source: CapacitySource) -> Floats:
    assert source.term is not None
    units_started = plan.units_started.get(source.key)
    return (
        np.zeros(source.term.months)
        if units_started is None
        else np.asarray(units_started, dtype=np.float64)
    )


def _sort_sources(
    sources: Mapping[str, CapacitySource], plan: Plan, used_hours: Mapping[str, Floats]
) -> list[CapacitySource]:
    def matters(source: CapacitySource) -> bool:
        units_started = plan.units_started.get(source.key)
        is_started = units_started is not None and bool(units_started.any())
        return bool(source.fixed_streams) or source.key in used_hours or is_started

    relevant = [source for source in sources.values() if matters(source)]
    return sorted(relevant, key=lambda s: (not s.is_owned, s.term is None, s.key))


def _postings(
    source: CapacitySource, plan: Plan, used_hours: Mapping[str, Floats], calendar: Calendar
) -> Iterator[Posting]:
    hours = used_hours.get(source.key, np.zeros(calendar.months))
    units_started = (
        np.zeros(calendar.months) if source.term is None else _units_started(plan, source)
    )
    for stream in _merge_streams(source.build_streams(units_started, hours, calendar)):
        quantity, price = np.round(stream.quantity, 8), round_significant(stream.unit_price)
        amount_cents = round_to_cents(quantity * price, calendar.smallest_cents)
        if amount_cents.any():
            rounded = replace(stream, quantity=quantity, unit_price=price)
            yield Posting(source, rounded, amount_cents, step=calendar.smallest_cents)


_OF_A_CHARGE = ("category", "label", "unit")


def _merge_streams(streams: Iterable[Stream]) -> Iterator[Stream]:
    merged: list[Stream] = []
    for stream in streams:
        for i, other in enumerate(merged):
            is_same = [getattr(stream, name) == getattr(other, name) for name in _OF_A_CHARGE]
            both = (stream.quantity != 0) & (other.quantity != 0)
            if all(is_same) and np.array_equal(stream.unit_price[both], other.unit_price[both]):
                write_off = None
                if other.write_off is not None or stream.write_off is not None:
                    write_off = _written_off(other) + _written_off(stream)
                merged[i] = replace(
                    other,
                    quantity=other.quantity + stream.quantity,
                    unit_price=np.where(other.quantity != 0, other.unit_price, stream.unit_price),
                    write_off=write_off,
                )
                break
        else:
            merged.append(stream)
    yield from merged


def _written_off(stream: Stream) -> Floats:
    if stream.write_off is not None:
        return stream.write_off
    return np.asarray(stream.quantity * stream.unit_price)


def _accrue(postings: Sequence[Posting], length: int) -> tuple[Decimal, ...]:
    accrued = np.zeros(length, dtype=np.int64)
    for posting in postings:
        if posting.stream.category is Category.LOAN:
            continue
        accrued += allocate_write_off(posting)
    return tuple(_decimal(c) for c in accrued.tolist())


def _write_off_by_source(
    postings: Sequence[Posting], length: int
) -> dict[str, tuple[Decimal, ...]]:
    capital_postings = [p for p in postings if p.stream.category in (*CAPITAL, Category.UPFRONT)]
    keys = dict.fromkeys(posting.source.key for posting in capital_postings)
    return {
        key: _accrue([p for p in capital_postings if p.source.key == key], length) for key in keys
    }


def round_significant(values: Floats) -> Floats:
    """`values` to twelve significant digits.

    >>> round_significant(np.array([0.0, 1 / 3, 2e6 / 3])).tolist()
    [0.0, 0.333333333333, 666666.666667]
    """
    magnitude = np.floor(np.log10(np.abs(values), out=np.zeros(len(values)), where=values != 0))
    scale = 10.0 ** (11 - magnitude)
    return np.asarray(np.round(values * scale) / scale)


def _lines(posting: Posting) -> Iterator[CostLine]:
    source, stream = posting.source, posting.stream
    prices: dict[float, Decimal] = {}
    for month in np.flatnonzero(posting.cents).tolist():
        price = float(stream.unit_price[month])
        if price not in prices:
            prices[price] = Decimal(str(price))
        yield CostLine.of_values(
            month=month,
            category=stream.category,
            label=stream.label,
            provider=source.provider,
            region=source.region,
            instance_type=source.instance_type,
            purchase_option=source.purchase_option,
            quantity=float(stream.quantity[month]),
            unit=stream.unit,
            unit_price=prices[price],
            amount=_amount(int(posting.cents[month]), posting.step),
            offer_id=source.offer_id,
            source=source.key,
        )


def _amount(cents: int, step: int) -> Decimal:
    """Money without decimals in a currency that has none.

    >>> _amount(123_456, 1), _amount(123_400, 100)
    (Decimal('1234.56'), Decimal('1234'))
    """
    return Decimal(cents // step) if step == 100 else _decimal(cents)


def _decimal(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)
