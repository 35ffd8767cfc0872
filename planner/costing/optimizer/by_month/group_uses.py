"""Groups of sources of which some must be in use, as kinds of unit that serve nothing. PURE.

For each group of `least_groups` a unit that may be started once, at the start and for the whole
plan, says that the group is chosen. It delivers nothing and costs nothing; in service it asks for
the group's share of each month's peak (`constraints`), and so many of them must be started. The
search for whole units then chooses the groups as it chooses commitments and servers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.costing.optimizer.by_month.whole_nodes import join_columns
from planner.costing.optimizer.reduced_problem import (
    NO_SOURCE,
    ReducedProblem,
    StartCandidates,
    UnitTypes,
)


def add_group_uses(reduced: ReducedProblem) -> ReducedProblem:
    """The problem with a kind of unit for each group; as it is where no group must be in use."""
    least = reduced.problem.least_groups
    if least is None:
        return reduced
    first = reduced.unit_types.capacity.size
    return replace(
        reduced,
        unit_types=join_columns(reduced.unit_types, _group_types(reduced, len(least.groups))),
        start_candidates=join_columns(
            reduced.start_candidates, _group_candidates(reduced, len(least.groups), first)
        ),
    )


def _group_types(reduced: ReducedProblem, count: int) -> UnitTypes:
    months = reduced.unit_types.existing.shape[1]
    zeros = np.zeros((count, months))
    return UnitTypes(
        capacity=np.zeros(count),
        quota_size=np.zeros((count, len(reduced.quotas))),
        lead=np.zeros(count, np.int64),
        end=np.full(count, months),
        hours_per_month=np.zeros(count),
        hour_cost=zeros,
        hour_cash=zeros,
        existing=zeros,
        stands_alone=np.ones(count, bool),
        is_rented_node=np.zeros(count, bool),
        group=np.arange(count),
    )


def _group_candidates(reduced: ReducedProblem, count: int, first: int) -> StartCandidates:
    months, candidates = reduced.unit_types.existing.shape[1], reduced.start_candidates
    zeros, start = np.zeros(count), np.zeros(count, np.int64)
    return StartCandidates(
        unit_type=first + np.arange(count),
        month=start,
        first=start,
        last=np.full(count, months),
        source=np.full(count, NO_SOURCE),
        cost=zeros,
        capex=zeros,
        upper_bound=np.ones(count),
        cash=None if candidates.cash is None else np.zeros((count, months)),
        payments=None if candidates.payments is None else zeros,
    )
