"""Machines rented by the hour as whole nodes. PURE.

Of one node size with capacity c, the rental of month t over all offers together is a whole
number n of nodes for as long as the peak lasts:

    Σ z = c · n,   z in reference accelerators (see `constraints`)

Where a quota counts machines, that holds of the offers that the same such quotas count by
themselves, and the quota counts c · n in the place of z: half a machine all month is a whole
machine half the time.

The nodes of one size and month are a unit that starts and ends in that month and costs nothing
itself: its cost and hours are those of the rental columns it is linked to. The search for whole
units then finds them as it finds commitments and servers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from planner.costing.optimizer.problem import Floats, Quota
from planner.costing.optimizer.reduced_problem import (
    NO_GROUP,
    NO_SOURCE,
    Ints,
    ReducedProblem,
    Rentals,
    StartCandidates,
    UnitTypes,
)

_ROUNDING = 1e-9
_Columns = TypeVar("_Columns", UnitTypes, StartCandidates)


def add_whole_nodes(reduced: ReducedProblem) -> ReducedProblem:
    """The problem with a type of unit for each node size that is rented whole."""
    nodes = NodeTypes.read(reduced.rentals, reduced.quotas)
    if nodes.capacity.size == 0:
        return reduced
    first = reduced.unit_types.capacity.size
    return replace(
        reduced,
        unit_types=join_columns(reduced.unit_types, _node_types(reduced, nodes)),
        start_candidates=join_columns(
            reduced.start_candidates, _node_candidates(reduced, nodes, first)
        ),
    )


@dataclass(frozen=True)
class NodeTypes:
    """The N types of node that are rented whole, smallest first."""

    capacity: Floats
    """[N]"""
    quota_size: Floats
    """[N, Q] what a node counts for in the quotas that count machines, 0 in others."""
    of_rental: Ints
    """[C] type of the node of each rental, -1 where parts of nodes may be rented."""

    @classmethod
    def read(cls, rentals: Rentals, quotas: Sequence[Quota]) -> NodeTypes:
        """Those of some rentals: one for each size and what quotas of machines count it for."""
        counted = machine_sizes(rentals.quota_size, quotas) * rentals.node[:, None]
        is_whole = rentals.node > 0
        whole = np.column_stack([rentals.node, np.round(counted, 9)])[is_whole]
        types, place = np.unique(whole, axis=0, return_inverse=True)
        of_rental = np.full(rentals.node.size, -1)
        of_rental[is_whole] = place.reshape(-1)
        return cls(types[:, 0], types[:, 1:], of_rental)


def machine_sizes(quota_size: Floats, quotas: Sequence[Quota]) -> Floats:
    """[., Q] the sizes in quotas that count machines, 0 in the others."""
    in_machines = np.array([quota.in_machines for quota in quotas], bool)
    return np.where(in_machines, quota_size, 0.0)


def linked_unit_types(reduced: ReducedProblem) -> Ints:
    """[C] type of unit that a rental is linked to, -1 where parts of nodes may be rented."""
    nodes = NodeTypes.read(reduced.rentals, reduced.quotas)
    first = reduced.unit_types.capacity.size - nodes.capacity.size
    return np.where(nodes.of_rental >= 0, first + nodes.of_rental, -1)


def _node_types(reduced: ReducedProblem, nodes: NodeTypes) -> UnitTypes:
    count, months = nodes.capacity.size, reduced.problem.hours.size
    zeros = np.zeros((count, months))
    return UnitTypes(
        capacity=nodes.capacity,
        quota_size=nodes.quota_size,
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


def _node_candidates(reduced: ReducedProblem, nodes: NodeTypes, first: int) -> StartCandidates:
    """One column for each type and month with a peak in which an offer of that type is rented."""
    problem, rentals, sizes = reduced.problem, reduced.rentals, nodes.capacity
    of_type = nodes.of_rental == np.arange(sizes.size)[:, None]
    rentable = np.array([rentals.offered[of_it].any(axis=0) for of_it in of_type])
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
