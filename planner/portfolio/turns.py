"""Projects that take turns on accelerators within a month, and how many they need together. PURE.

A project of given hours lets its jobs wait, unless it says that they must run at once. A project
whose work is known by the hour waits for nobody, and jobs have what it leaves. Of projects that may
use the same machines, a month then needs the smallest pool whose jobs start in time
(`planner.portfolio.waiting`) in the place of the sum of their peaks; never less than the highest
peak among them, which a project may still have while the others are idle. Each project needs as
much of the pool as it has of the hours, so that the plan is made by the same model as without.

Who may use more machines than others joins them on theirs, where that is asked for: jobs of one
accelerator on the machines that jobs of eight need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.request.portfolio import PortfolioProject
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.portfolio.waiting import (
    HOURS_PER_WEEK,
    Jobs,
    Month,
    Pool,
    refine_waits,
    smallest_pools,
)
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]
_NOISE = 1e-9


@dataclass(frozen=True)
class InTurn:
    """A project that takes turns with others."""

    project: PortfolioProject
    by_hour: tuple[float, ...] = ()
    """Accelerators at work in each hour of a day or a week, over those that its hours keep at work
    in the mean, of work that waits for nobody; none for jobs that wait."""

    @property
    def job(self) -> tuple[float, float, float]:
        """Accelerators of a job, its mean length and the longest wait, h."""
        size = getattr(self.project.workload, "accelerators_per_job", None) or 1
        return float(size), self.project.job_hours, self.project.max_wait_hours


@dataclass(frozen=True)
class TurnPool:
    """Projects that take turns, with what they need together in each month."""

    places: tuple[int, ...]
    """Where they stand among the projects."""
    hours: Floats
    """[p, T] accelerator-hours of each."""
    peaks: Floats
    """[p, T] most accelerators of each at once."""
    work: tuple[Month | None, ...]
    """[T] what they ask of it."""
    months: tuple[Pool | None, ...]
    """[T] the smallest pool that keeps what each allows; None where fewer than all take at once
    do not."""

    @property
    def in_turn(self) -> NDArray[np.bool_]:
        """[T] whether they need less than all at once."""
        return np.array([pool is not None for pool in self.months])

    @property
    def shares(self) -> Floats:
        """[p, T] the part of the work that each has in these months."""
        total: Floats = np.maximum(self.hours.sum(axis=0), _NOISE)
        return np.where(self.in_turn, self.hours / total, 0.0)

    @property
    def accelerators(self) -> Floats:
        """[T] that they need together."""
        at_once = zip(self.months, self.peaks.sum(axis=0).tolist(), strict=True)
        return np.array([pool.accelerators if pool else most for pool, most in at_once])

    @property
    def busiest(self) -> Pool | None:
        """The pool of the month with the longest wait; None where nobody waits."""
        pools = ((pool, one) for pool, one in zip(self.months, self.work, strict=True) if pool)
        pool, month = max(pools, key=lambda row: row[0].waits.p90, default=(None, None))
        if pool is None or month is None:
            return None
        return pool._replace(waits=refine_waits(month, int(pool.accelerators)))

    @property
    def simulated_jobs(self) -> int:
        """Jobs that were simulated to find them."""
        return sum(pool.simulated_jobs for pool in {*self.months} - {None} if pool)

    def peak_of(self, row: int) -> Floats:
        """[T] accelerators that one of them needs: its part of the pool."""
        part = self.accelerators * self.shares[row]
        return np.asarray(np.where(self.in_turn, part, self.peaks[row]), np.float64)


def find_pools(
    projects: Sequence[InTurn | None], inputs: Sequence[ModelInputs], joins: bool
) -> tuple[TurnPool, ...]:
    """Those of the projects that take turns, by the machines that they may use. None stands for a
    project that keeps its peak. `joins`: whether who may use all machines of others and more joins
    them on those."""
    alike: dict[_Machines, list[int]] = {}
    for place, (project, one) in enumerate(zip(projects, inputs, strict=True)):
        if project is not None:
            machines = frozenset(one.units), frozenset(one.throughput.items())
            alike.setdefault(machines, []).append(place)
    groups: dict[_Machines, list[int]] = {}
    for own in sorted(alike, key=lambda one: len(one[0]) + len(one[1])):
        fewer = (known for known in groups if known[0] <= own[0] and known[1] <= own[1])
        groups.setdefault(next(fewer, own) if joins else own, []).extend(alike[own])
    pools = [_pool(places, projects, inputs) for places in groups.values() if len(places) > 1]
    return tuple(pool for pool in pools if any(pool.months))


_Machines = tuple[frozenset[str], frozenset[tuple[str, float]]]


def _pool(
    places: Sequence[int], projects: Sequence[InTurn | None], inputs: Sequence[ModelInputs]
) -> TurnPool:
    hours = np.array([inputs[place].hours for place in places])
    peaks = np.array([inputs[place].peak for place in places])
    chosen = [project for place in places if (project := projects[place])]
    months = [_month(chosen, hours[:, t], peaks[:, t]) for t in range(hours.shape[1])]
    sharing = [one for one in months if one is not None]
    pools = dict(zip(sharing, smallest_pools(sharing), strict=True))
    fewer = [
        None if one is None or pools[one].accelerators >= one.most else pools[one] for one in months
    ]
    by_hour = np.array([bool(one.by_hour) for one in chosen])
    left = np.array([HOURS_PER_MONTH * pool.accelerators if pool else np.inf for pool in fewer])
    left = left - hours[~by_hour].sum(axis=0)
    hours[by_hour] *= np.minimum(left / np.maximum(hours[by_hour].sum(axis=0), _NOISE), 1.0)
    return TurnPool(tuple(places), hours, peaks, tuple(months), tuple(fewer))


def _month(projects: Sequence[InTurn], hours: Floats, peaks: Floats) -> Month | None:
    jobs, at_once = [], np.zeros(HOURS_PER_WEEK)
    for one, own in zip(projects, hours.tolist(), strict=True):
        if one.by_hour:
            at_once += own / HOURS_PER_MONTH * np.resize(one.by_hour, HOURS_PER_WEEK)
        elif own > 0:
            jobs.append(Jobs(own, *one.job))
    least, most = float(peaks.max()), float(peaks.sum())
    if (hours > 0).sum() < 2 or least >= most:
        return None
    other = tuple(np.ceil(at_once - _NOISE).astype(int).tolist()) if at_once.any() else ()
    return Month(tuple(jobs), least, most, other)


def take_turns(
    pools: Sequence[TurnPool],
    inputs: Sequence[ModelInputs],
    admitted: Callable[[int, frozenset[str]], Mapping[str, CapacitySource]],
) -> tuple[ModelInputs, ...]:
    """What each project is planned from if those of each pool share its accelerators in turn, on
    the machines that all of them may use. Hours for which machines are reserved by date follow how
    many are at work. `admitted`: which of some offers, by id, the project in a place may rent, by
    key."""
    changed = list(inputs)
    for pool in pools:
        members = [inputs[place] for place in pool.places]
        fewest = min(members, key=lambda one: len(one.units))
        named = frozenset(r.offer_id for one in members for r in one.rentals if not r.stands_for)
        offers = [admitted(place, named) for place in pool.places]
        rented = [key for key in offers[0] if all(key in own for own in offers)]
        for row, place in enumerate(pool.places):
            changed[place] = replace(
                inputs[place],
                rentals=tuple(offers[row][key] for key in rented),
                servers=fewest.servers,
                throughput=fewest.throughput,
                hours=pool.hours[row],
                peak=pool.peak_of(row),
                whole_nodes=False,
                job_sizes={},
            )
    return tuple(changed)
