"""Machines rented by the hour as whole nodes. PURE.

Of one node size with capacity c, the rental of month t over all offers together is a whole
number n of nodes for as long as the peak lasts:

    Σ z = c · n,   z in reference accelerators (see `constraints`)

The nodes of one size and month are a unit that starts and ends in that month and costs nothing
itself: its cost and hours are those of the rental columns it is linked to. The search for whole
units then finds them as it finds commitments and servers.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import (
    NO_GROUP,
    NO_SOURCE,
    Ints,
    ReducedProblem,
    StartCandidates,
    UnitTypes,
)

_ROUNDING = 1e-9
_Columns = TypeVar("_Columns", UnitTypes, StartCandidates)


def add_whole_nodes(reduced: ReducedProblem) -> ReducedProblem:
    """The problem with a type of unit for each node size that is rented whole."""
    sizes = node_sizes(reduced)
    if sizes.size == 0:
        return reduced
    first = reduced.unit_types.capacity.size
    return replace(
        reduced,
        unit_types=join_columns(reduced.unit_types, _node_types(reduced, sizes)),
        start_candidates=join_columns(
            reduced.start_candidates, _node_candidates(reduced, sizes, first)
        ),
    )


def node_sizes(reduced: ReducedProblem) -> Floats:
    """Capacities of the nodes that are rented whole, smallest first."""
    return np.unique(reduced.rentals.node[reduced.rentals.node > 0])


def linked_unit_types(reduced: ReducedProblem) -> Ints:
    """[C] type of unit that a rental is linked to, -1 where parts of nodes may be rented."""
    sizes = node_sizes(reduced)
    first = reduced.unit_types.capacity.size - sizes.size
    place = first + np.searchsorted(sizes, reduced.rentals.node)
    return np.where(reduced.rentals.node > 0, place, -1)


def _node_types(reduced: ReducedProblem, sizes: Floats) -> UnitTypes:
    count, months = sizes.size, reduced.problem.hours.size
    zeros = np.zeros((count, months))
    return UnitTypes(
        capacity=sizes,
        quota_size=np.zeros((count, len(reduced.quotas))),
        lead=np.zeros(count, np.int64),
        end=np.ones(count, np.int64),
        hours_per_month=np.zeros(count),
        hour_cost=zeros,
        hour_cash=zeros,
        existing=zeros,
        stands_alone=np.ones(count, bool),
        is_rented_node=np.ones(count, bool),
        group=np.full(count, NO_GROUP),
    )


def _node_candidates(reduced: ReducedProblem, sizes: Floats, first: int) -> StartCandidates:
    """One column for each size and month with a peak in which an offer of that size is rented."""
    problem, rentals = reduced.problem, reduced.rentals
    rentable = np.array([rentals.offered[rentals.node == size].any(axis=0) for size in sizes])
    has_peak = (problem.peak > 0) & (problem.hours > 0)
    place, month = np.nonzero(rentable & has_peak)
    zeros = np.zeros(place.size)
    has_cash = reduced.start_candidates.cash is not None
    return StartCandidates(
        unit_type=first + place,
        month=month,
        first=month,
        last=month + 1,
        source=np.full(place.size, NO_SOURCE),
        cost=zeros,
        capex=zeros,
        upper_bound=np.ceil(problem.peak[month] / sizes[place] - _ROUNDING),
        cash=np.zeros((place.size, problem.hours.size)) if has_cash else None,
        payments=None if reduced.start_candidates.payments is None else zeros,
    )


def join_columns(one: _Columns, other: _Columns) -> _Columns:
    """The columns of both, one after the other."""
    columns: dict[str, Any] = {}
    for field in fields(one):
        parts = getattr(one, field.name), getattr(other, field.name)
        columns[field.name] = None if parts[0] is None else np.concatenate(parts)
    return type(one)(**columns)
