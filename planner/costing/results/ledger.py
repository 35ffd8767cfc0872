"""From a plan to its cost lines: every cost once, each rounded to the cent once. PURE.

Quantity and unit price are rounded as they are shown (8 decimals each), their product to the
cent; totals are sums of those cents, so that anybody can check them with a pocket calculator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import CAPITAL, Calendar, Category, Stream
from planner.costing.optimizer.problem import Plan
from planner.costing.results.scenario_result import CapacityRow, Line
from pricing.common.invalid_input import InvalidInput

Floats = NDArray[np.float64]
Cents = NDArray[np.int64]

HOUR_NOISE = 1e-6
"""Node-hours below which the optimiser's answer counts as none, h."""
MOST_CENTS = 2.0**53
"""Most cents of one line that a float64 counts exactly."""


@dataclass(frozen=True)
class Posting:
    """A stream of one source rounded to cents."""

    source: CapacitySource
    stream: Stream
    cents: Cents
    """[L]"""


@dataclass(frozen=True)
class Ledger:
    """The lines of a plan, and the same costs as they are written off over time."""

    lines: tuple[Line, ...]
    accrued: tuple[Decimal, ...]
    """[L] sums to the total of the lines."""
    write_off: Mapping[str, tuple[Decimal, ...]]
    """source key → [L] its capital and upfront payments as they are written off, in cents that
    sum to what was paid."""


def build_ledger(
    plan: Plan,
    sources: Mapping[str, CapacitySource],
    used: Mapping[str, Floats],
    calendar: Calendar,
) -> Ledger:
    """Cost lines of `plan` in the order of months, sources and categories."""
    postings = [
        posting
        for source in _in_order(sources, plan, used)
        for posting in _postings(source, plan, used, calendar)
    ]
    postings += _tax_postings(postings, calendar)
    lines = [line for posting in postings for line in _lines(posting)]
    lines.sort(key=lambda line: line.month)
    return Ledger(
        tuple(lines),
        _accrued(postings, calendar.length),
        _write_off_by_source(postings, calendar.length),
    )


def settle_used_hours(
    plan: Plan, sources: Mapping[str, CapacitySource], demand_hours: Floats
) -> dict[str, Floats]:
    """[T] useful node-hours of each source, no more in all than the demand asks for.

    Hours that cost nothing are not fixed by the optimum (a committed node may idle): what
    exceeds the demand is taken from the sources begun in units, in the order of their keys.
    """
    used = {key: _clean(hours) for key, hours in plan.rented_hours.items()}
    used |= {key: _clean(hours) for key, hours in plan.used_hours.items()}
    served = sum((used[key] * sources[key].capacity for key in used), np.zeros(len(demand_hours)))
    excess = np.maximum(served - demand_hours, 0.0)
    for key in sorted(plan.used_hours):
        cut = np.minimum(used[key], excess / sources[key].capacity)
        used[key] = _clean(used[key] - cut)
        excess = excess - cut * sources[key].capacity
    return {key: hours for key, hours in used.items() if hours.any()}


def capacity_rows(
    plan: Plan,
    sources: Mapping[str, CapacitySource],
    used: Mapping[str, Floats],
    peak_hours: Floats,
) -> tuple[CapacityRow, ...]:
    """What each source gives in each month; `peak_hours` [T] are the hours at peak, H / P."""
    rows: list[CapacityRow] = []
    for source in _in_order(sources, plan, used):
        hours = used.get(source.key, np.zeros(len(peak_hours)))
        if source.term is None:
            nodes = np.divide(hours, peak_hours, out=np.zeros_like(hours), where=peak_hours > 0)
            available = hours
        else:
            nodes = source.up(_begun(plan, source))
            available = nodes * source.hours_per_month
        for month in np.flatnonzero(nodes > 0).tolist():
            rows.append(
                CapacityRow(
                    month=month,
                    source=source.key,
                    accelerators=round(float(nodes[month]) * source.accelerators, 6),
                    hours_available=round(float(available[month]) * source.capacity, 6),
                    hours_used=round(float(hours[month]) * source.capacity, 6),
                )
            )
    rows.sort(key=lambda row: row.month)
    return tuple(rows)


def _clean(hours: Floats) -> Floats:
    return np.where(hours > HOUR_NOISE, np.round(hours, 6), 0.0)


def _begun(plan: Plan, source: CapacitySource) -> Floats:
    assert source.term is not None
    units_started = plan.units_started.get(source.key)
    return (
        np.zeros(source.term.months)
        if units_started is None
        else np.asarray(units_started, dtype=np.float64)
    )


def _in_order(
    sources: Mapping[str, CapacitySource], plan: Plan, used: Mapping[str, Floats]
) -> list[CapacitySource]:
    """Sources that the plan uses or that cost something anyway: owned, committed, rented."""

    def matters(source: CapacitySource) -> bool:
        units_started = plan.units_started.get(source.key)
        is_started = units_started is not None and bool(units_started.any())
        return bool(source.fixed) or source.key in used or is_started

    kept = [source for source in sources.values() if matters(source)]
    return sorted(kept, key=lambda s: (not s.is_owned, s.term is None, s.key))


def _postings(
    source: CapacitySource, plan: Plan, used: Mapping[str, Floats], calendar: Calendar
) -> Iterator[Posting]:
    hours = used.get(source.key, np.zeros(calendar.months))
    units_started = np.zeros(calendar.months) if source.term is None else _begun(plan, source)
    for stream in _merged(source.streams(units_started, hours, calendar)):
        quantity, price = np.round(stream.quantity, 8), significant(stream.unit_price)
        due = _cents(quantity * price)
        if due.any():
            yield Posting(source, replace(stream, quantity=quantity, unit_price=price), due)


def _merged(streams: Iterable[Stream]) -> Iterator[Stream]:
    """Streams for the same thing at the same price as one: electricity idle and at load."""
    kept: list[Stream] = []
    for stream in streams:
        for i, other in enumerate(kept):
            if _same(stream, other):
                kept[i] = _sum(other, stream)
                break
        else:
            kept.append(stream)
    yield from kept


def _same(one: Stream, other: Stream) -> bool:
    if (one.category, one.label, one.unit) != (other.category, other.label, other.unit):
        return False
    both = (one.quantity != 0) & (other.quantity != 0)
    return bool(np.array_equal(one.unit_price[both], other.unit_price[both]))


def _sum(one: Stream, other: Stream) -> Stream:
    write_off = one.write_off
    if other.write_off is not None:
        write_off = other.write_off if write_off is None else write_off + other.write_off
    return replace(
        one,
        quantity=one.quantity + other.quantity,
        unit_price=np.where(one.quantity != 0, one.unit_price, other.unit_price),
        write_off=write_off,
    )


def _tax_postings(postings: Sequence[Posting], calendar: Calendar) -> list[Posting]:
    """Tax saved in each month on expenses and on capital written off, and due on a resale."""
    if not calendar.tax_rate:
        return []
    expenses, capital, resale = (np.zeros(calendar.length) for _ in range(3))
    for posting in postings:
        if posting.stream.category in CAPITAL:
            if posting.source.taxes_capital:
                capital += _written_off(posting)
        elif posting.stream.category is not Category.RESIDUAL:
            expenses += posting.cents / 100.0
        elif posting.source.taxes_capital:
            resale -= posting.cents / 100.0
    rate = np.full(calendar.length, calendar.tax_rate)
    kinds = (
        ("Tax relief on expenses", "deductible", expenses, -rate),
        ("Tax relief on capital written off", "deductible", capital, -rate),
        ("Tax on the residual value", "taxable", resale, rate),
    )
    team = CapacitySource("tax", "Tax", "", "", 0.0, 0.0)
    return [
        Posting(team, stream, _cents(stream.quantity * stream.unit_price))
        for label, unit, basis, price in kinds
        for stream in [Stream(Category.TAX, label, unit, np.round(basis, 2), price)]
        if basis.any()
    ]


def _written_off(posting: Posting) -> Floats:
    """[L] money of a posting by the month in which it is written off."""
    return np.asarray(_spread(posting) / 100.0)


def _spread(posting: Posting) -> Cents:
    """[L] cents of a posting by the month of the write-off; they sum to what was paid."""
    planned = posting.stream.write_off
    if planned is None or not planned.any():
        return posting.cents
    share = np.cumsum(planned)
    so_far = np.rint(share / share[-1] * int(posting.cents.sum()))
    return np.asarray(np.diff(so_far.astype(np.int64), prepend=0))


def _accrued(postings: Sequence[Posting], length: int) -> tuple[Decimal, ...]:
    """Costs as written off, in cents that sum to the same total as the lines."""
    accrued = np.zeros(length, dtype=np.int64)
    for posting in postings:
        accrued += _spread(posting)
    return tuple(_decimal(c) for c in accrued.tolist())


def _write_off_by_source(
    postings: Sequence[Posting], length: int
) -> dict[str, tuple[Decimal, ...]]:
    spread = [p for p in postings if p.stream.category in (*CAPITAL, Category.UPFRONT)]
    keys = dict.fromkeys(posting.source.key for posting in spread)
    return {key: _accrued([p for p in spread if p.source.key == key], length) for key in keys}


def significant(values: Floats) -> Floats:
    """`values` to twelve significant digits.

    >>> significant(np.array([0.0, 1 / 3, 2e6 / 3])).tolist()
    [0.0, 0.333333333333, 666666.666667]
    """
    size = np.floor(np.log10(np.abs(values), out=np.zeros(len(values)), where=values != 0))
    scale = 10.0 ** (11 - size)
    return np.asarray(np.round(values * scale) / scale)


def _cents(amounts: Floats) -> Cents:
    """Amounts in whole cents; `InvalidInput` beyond what a float counts to the cent."""
    cents = np.rint(amounts * 100.0)
    largest = float(np.abs(cents).max(initial=0.0))
    if largest > MOST_CENTS:
        raise InvalidInput(
            "", f"a cost of {largest / 100:.3g} in one month cannot be counted to the cent; "
            f"allowed are amounts up to {MOST_CENTS / 100:.3g}"
        )  # fmt: skip
    return np.asarray(cents.astype(np.int64))


def _lines(posting: Posting) -> Iterator[Line]:
    source, stream = posting.source, posting.stream
    prices: dict[float, Decimal] = {}
    for month in np.flatnonzero(posting.cents).tolist():
        price = float(stream.unit_price[month])
        if price not in prices:
            prices[price] = Decimal(str(price))
        yield Line(
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
            amount=_decimal(int(posting.cents[month])),
            offer_id=source.offer_id,
            source=source.key,
        )


def _decimal(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)
