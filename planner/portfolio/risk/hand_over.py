"""Who works on the machines that projects share, in simulated outcomes. PURE.

In each month a project first works on the nodes that are its own by plan. What it then lacks more
than planned it does on nodes that idle; and what it rents by plan, on nodes that idle beyond the
plan because others need less. Hours that may move do so within their window. Projects come in the
order of their priority, then of their names. In an outcome as planned nothing changes hands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.plan_costs import PlanCosts
from planner.costing.optimizer.problem import Floats
from planner.portfolio.optimizer.problem import MovableWork
from planner.portfolio.risk.views import ProjectView
from pricing.market.offers import HOURS_PER_MONTH

NOISE = 1e-9
"""Nodes below which none idle."""


@dataclass
class Work:
    """The work of one project in the outcomes; [N, T] hours of its reference accelerator."""

    project: ProjectView
    costs: PlanCosts
    demand: Floats
    reserved: Floats
    """Done on what is reserved by date."""
    at_peak: Floats
    """Hours that the peak lasts."""
    slip: Floats
    """[N] months of delay."""
    served: Floats
    """Hours that units may serve."""
    lacking: Floats

    @property
    def rank(self) -> tuple[int, str]:
        """By which projects come first."""
        member = self.project.member
        return member.project.priority, member.name

    @property
    def beyond_plan(self) -> Floats:
        """[N, T] hours that it lacks beyond what its plan rents."""
        return np.clip(self.lacking - self.costs.lacking * self.at_peak, 0.0, self.lacking)

    def hours_of(self, key: str) -> Floats:
        """[N, T] that a node of a unit serves in a month."""
        source = self.project.source(key)
        return np.asarray(source.capacity * np.minimum(self.at_peak, source.hours_per_month))

    def serve(self, hours: Floats) -> None:
        self.served = self.served + hours
        self.lacking = np.maximum(self.lacking - hours, 0.0)


Nodes = Mapping[str, Floats]


def start_work(works: Sequence[Work], nodes: Nodes, planned: Nodes) -> dict[str, Floats]:
    """[N, T] nodes of each unit that idle once every project works on its own."""
    idle = {key: row.copy() for key, row in nodes.items()}
    for work in works:
        width, hours, own = np.zeros_like(work.demand), np.zeros_like(work.demand), {}
        for key, allotted in work.project.allotment.nodes.items():
            source, there = work.project.source(key), np.maximum(planned[key], NOISE)
            own[key] = allotted * np.minimum(nodes[key] / there, 1.0)
            width += own[key] * source.capacity
            hours += own[key] * source.capacity * source.hours_per_month
        most = np.minimum(hours, width * work.at_peak)
        work.served = most * work.costs.usable
        needed = np.maximum(work.demand - work.reserved, 0.0)
        work.lacking = np.maximum(needed - work.served, 0.0)
        used = np.minimum(work.served, needed)
        busy = np.divide(used, most, out=np.zeros_like(most), where=most > 0)
        for key, row in own.items():
            idle[key] = np.maximum(idle[key] - row * busy, 0.0)
    return idle


def hand_over(works: Sequence[Work], idle: dict[str, Floats], planned_idle: Nodes) -> None:
    """Lets projects work on nodes that idle; `idle` is what is left."""
    ordered = sorted(works, key=lambda work: work.rank)
    for work in ordered:
        _take(work, work.beyond_plan, idle)
    freed = {
        key: np.where((more := row - planned_idle[key]) > NOISE, more, 0.0)
        for key, row in idle.items()
    }
    for work in ordered:
        _take(work, work.lacking, freed, idle)
    for work in ordered:
        if work.project.member.movable is not None:
            _move(work, idle, freed)


def _take(work: Work, wanted: Floats, *free: dict[str, Floats]) -> None:
    """Serves what it can of the hours `wanted` on nodes that are `free`."""
    for key in (k for k in work.project.keys if k in free[0]):
        per_node = work.hours_of(key)
        nodes = np.divide(wanted, per_node, out=np.zeros_like(wanted), where=per_node > 0)
        nodes = np.minimum(nodes, free[0][key])
        for one in free:
            one[key] = np.maximum(one[key] - nodes, 0.0)
        work.serve(nodes * per_node)
        wanted = np.maximum(wanted - nodes * per_node, 0.0)


def find_window(movable: MovableWork, slip: Floats, months: int) -> NDArray[np.bool_]:
    """[N, T] months within which hours may move, as late as the work."""
    month, late = np.arange(months), np.asarray(slip)[:, None]
    is_open = month >= np.minimum(movable.first + late, months - 1)
    return np.asarray(is_open & (month < movable.last + late))


def _move(work: Work, idle: dict[str, Floats], freed: dict[str, Floats]) -> None:
    """Does hours that a month of the window lacks in other months of it."""
    movable = work.project.member.movable
    assert movable is not None
    inside = find_window(movable, work.slip, work.demand.shape[1])
    lacking = np.where(inside, work.lacking, 0.0)
    beyond = np.where(inside, work.beyond_plan, 0.0).sum(axis=1)
    in_all, moved = lacking.sum(axis=1), np.zeros_like(lacking)
    left = in_all.copy()
    room = np.maximum(movable.at_once * HOURS_PER_MONTH - work.demand, 0.0)
    for month in np.flatnonzero(inside.any(axis=0)).tolist():
        for key in (k for k in work.project.keys if k in idle):
            per_node = np.where(inside[:, month], work.hours_of(key)[:, month], 1.0)
            open_now = np.where(inside[:, month], room[:, month], 0.0)
            most = np.minimum(np.maximum(beyond, 0.0), left)
            nodes = np.minimum(idle[key][:, month], np.minimum(most, open_now) / per_node)
            more = np.minimum(left, open_now) / per_node - nodes
            more = np.clip(more, 0.0, np.maximum(freed[key][:, month] - nodes, 0.0))
            hours = (nodes + more) * per_node
            idle[key][:, month] = np.maximum(idle[key][:, month] - nodes - more, 0.0)
            freed[key][:, month] = np.maximum(freed[key][:, month] - nodes - more, 0.0)
            moved[:, month] += hours
            room[:, month] -= hours
            beyond, left = beyond - hours, left - hours
    share = np.divide(in_all - left, in_all, out=np.zeros_like(left), where=in_all > 0)
    work.demand = work.demand + moved - lacking * share[:, None]
    work.lacking = work.lacking - lacking * share[:, None]
    work.served = work.served + moved
