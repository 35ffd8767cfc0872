"""What is fixed whatever becomes of a plan, and what it may rent. PURE."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.labels import ON_DEMAND, SPOT, traits
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import scenario_options

Floats = NDArray[np.float64]


def measure_in_place(
    sources: Iterable[CapacitySource], calendar: Calendar
) -> tuple[Floats, list[tuple[str, Floats]]]:
    """[2] operating cost of servers in place, net present and nominal, and what each fetches."""
    fixed, residual = np.zeros(2), []
    for source in sources:
        fetched = np.zeros(2)
        for stream in source.fixed_streams:
            due = fetched if stream.category is Category.RESIDUAL else fixed
            due += source.stream_cash(stream, calendar) @ calendar.worth[stream.payment]
        residual.append((source.key, fetched))
    return fixed, residual


def run_in_place(sources: Iterable[CapacitySource], calendar: Calendar) -> Floats:
    """[T, 2] what running the servers in place costs in each month, net present and nominal: what
    is saved once a project has ended, unlike rents of a lease."""
    months = calendar.months
    running = np.zeros((months, 2))
    for source in (one for one in sources if one.is_owned):
        for stream in source.fixed_streams:
            if stream.category is not Category.LEASE:
                due = source.stream_cash(stream, calendar)[:months, None]
                running += due * calendar.worth[stream.payment][:months]
    return running


def is_by_hour(source: CapacitySource) -> bool:
    """Whether a source is rented by the hour, which nobody has to keep ready."""
    is_rented = source.term is None and bool(source.capacity)
    return is_rented and not traits(source.purchase_option).is_paid_ahead


def list_on_demand(inputs: ModelInputs) -> list[CapacitySource]:
    """Offers on demand; where there is none, all that is rented by the hour."""
    hourly = [s for s in inputs.sources if s.term is None and s.capacity]
    on_demand = [s for s in hourly if s.purchase_option in ON_DEMAND]
    return [s for s in on_demand if s.available is None] or on_demand or hourly


def list_spot(scenario: Scenario, inputs: ModelInputs) -> list[CapacitySource]:
    """Spot offers that a scenario may rent in any month; none where spot is ruled out."""
    options = scenario_options(scenario.key, inputs.interruptible) & SPOT
    if not inputs.max_spot_share:
        return []
    return [
        s
        for s in inputs.sources
        if s.is_spot and s.capacity and s.available is None and s.purchase_option in options
    ]
