"""One more server that is already owned: how long it serves and what it costs to operate. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from planner.contract.answer.common import Category
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import (
    CAPITAL,
    FINANCING,
    Stream,
    build_unit_streams,
)
from planner.costing.cost_model.terms import Calendar
from planner.costing.optimizer.marginal_values import AdditionalUnit


def additional_units(
    sources: Sequence[CapacitySource], calendar: Calendar, *, counts_resale: bool
) -> dict[str, AdditionalUnit]:
    """One more unit of each server by key: new at the start, or another of the youngest batch of
    those already owned; its operating cost is due whatever the plan, and so is its residual value
    where that of servers in place is counted."""
    return {
        s.key: _add_unit(s, calendar, counts_resale=counts_resale)
        for s in sources
        if s.is_owned and s.term is not None
    }


def _add_unit(source: CapacitySource, calendar: Calendar, *, counts_resale: bool) -> AdditionalUnit:
    months = np.arange(calendar.months)
    if source.existing is None:
        assert source.term is not None
        in_service = months < source.term.duration_months
        streams = tuple(_streams_of_new_unit(source))
    else:
        in_service = source.existing > 0
        streams = tuple(_streams_of_youngest(source))
    if not counts_resale:
        streams = tuple(stream for stream in streams if stream.category is not Category.RESIDUAL)
    one = replace(source, fixed_streams=streams)
    cash = one.fixed_cash(calendar)
    cost = float(cash @ calendar.discount) + one.fixed_shift(calendar)
    return AdditionalUnit(in_service.astype(np.int64), cost, cash[: calendar.months])


def _streams_of_new_unit(source: CapacitySource) -> Iterator[Stream]:
    """What a unit in service from month 0 costs but its purchase."""
    assert source.term is not None
    units_started = np.eye(1, source.term.months)[0]
    bought = CAPITAL | FINANCING
    charges = tuple(c for c in source.unit_charges if c.category not in bought)
    return build_unit_streams(charges, replace(source.term, lead_months=0), units_started)


def _streams_of_youngest(source: CapacitySource) -> Iterator[Stream]:
    """Operating cost of one unit as long as any is in service, and the highest resale value."""
    assert source.existing is not None
    units = np.maximum(source.existing, 1)
    for stream in source.fixed_streams:
        if stream.category is not Category.RESIDUAL:
            quantity = stream.quantity.copy()
            quantity[: units.size] /= units
            yield replace(stream, quantity=quantity)
    residuals = [stream for stream in source.fixed_streams if stream.category is Category.RESIDUAL]
    if residuals:
        highest = min(residuals, key=lambda stream: float(stream.unit_price.min()))
        yield replace(highest, quantity=np.sign(highest.quantity))
