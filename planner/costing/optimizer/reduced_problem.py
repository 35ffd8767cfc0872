"""A plan problem in columns: kinds of rental, kinds of unit, the units that may be started. PURE.

C kinds of rental, K kinds of unit, Q quotas that some source counts towards, T months, n
starts. Capacity is in reference accelerators, figures per hour in reference accelerator-hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.problem import CapitalBudget, Floats, PlanProblem, Quota

NO_SOURCE = -1
NO_GROUP = -1
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def needed_quotas(problem: PlanProblem, quotas: Sequence[Quota]) -> Bools:
    """[Q] quotas whose groups may have to be in use."""
    least = problem.least_groups
    names = () if least is None else least.groups
    return np.array([quota.group in names for quota in quotas], bool)


@dataclass(frozen=True)
class Rentals:
    """Kinds of rental and the cheapest offer of each in each month."""

    is_spot: Bools
    quota_size: Floats
    """[C, Q] what one reference accelerator counts for in each quota, 0 outside its group."""
    node: Floats
    """[C] reference accelerators of one node where nodes rent whole, else 0."""
    source: Ints
    """[C, T] index of the offer in `problem.rental_options`."""
    cost: Floats
    """[C, T] net present cost of one reference accelerator-hour."""
    cash: Floats
    """[C, T] its undiscounted cash."""
    offered: Bools
    """[C, T] months in which the kind is worth renting."""


@dataclass(frozen=True)
class UnitTypes:
    """Kinds of unit: the same node, lead, duration, running cost and quotas."""

    capacity: Floats
    quota_size: Floats
    """[K, Q] what one unit counts for in each quota, 0 outside its group."""
    lead: Ints
    end: Ints
    """[K] months after its start from which a unit is no longer usable."""
    hours_per_month: Floats
    hour_cost: Floats
    """[K, T] of one reference accelerator-hour."""
    hour_cash: Floats
    """[K, T]"""
    existing: Floats
    """[K, T] units already there."""
    stands_alone: Bools
    """[K] kinds of one source that has a limit or units of its own: never replace another."""
    is_rented_node: Bools
    """[K] whole nodes of one size that are rented by the hour, for one month at a time. Their
    hours and their cost are those of the rental columns that they are linked to."""
    group: Ints
    """[K] place in `least_groups` of the group whose use a kind stands for, NO_GROUP of sources."""

    def select(self, mask: Bools) -> UnitTypes:
        """The kinds where `mask` is true."""
        return UnitTypes(**{field.name: getattr(self, field.name)[mask] for field in fields(self)})


@dataclass(frozen=True)
class StartCandidates:
    """Units that may be started: one column per kind, month and offer worth beginning."""

    unit_type: Ints
    month: Ints
    first: Ints
    last: Ints
    """Usable in months first … last-1."""
    source: Ints
    """Index in `problem.units`, NO_SOURCE for whole nodes rented by the hour and for groups."""
    cost: Floats
    capex: Floats
    upper_bound: Floats
    """Units beyond which the demand they serve is covered."""
    cash: Floats | None
    """[n, T], or None without a monthly budget."""
    payments: Floats | None = None
    """[n], or None without a total budget."""

    def capex_of(self, budget: CapitalBudget) -> Floats:
        """[n] capital that counts towards a budget."""
        within = (self.month >= budget.first) & (self.month < budget.last)
        return np.where(within, self.capex, 0.0)


@dataclass(frozen=True)
class ReducedProblem:
    """A problem reduced to what may be part of a cheapest plan."""

    problem: PlanProblem
    quotas: tuple[Quota, ...]
    rentals: Rentals
    unit_types: UnitTypes
    start_candidates: StartCandidates
