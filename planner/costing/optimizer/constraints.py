"""The limits of every month as rows, and what is rented and run as columns. PURE.

A month's rental is measured in *width*: the reference accelerators it provides at peak,
z = capacity · node-hours / d. With `in_service` units, run hours `v` in the same measure and φ the
width a unit can keep busy, capacity · hours_per_month / d, the rows of month t are

- width: Σ capacity·in_service + Σ z ≥ P
- nodes: Σ z over rentals of one node size − capacity·n = 0, where nodes rent whole; width then
  counts capacity·n, a unit of that month, in the place of z
- hours: Σ φ·in_service over units that run for nothing + Σ v + Σ z ≥ P
- run: v − Σ φ·in_service over the units of one running cost ≤ 0
- spot: Σ z over spot ≤ share · P
- quota: Σ size·in_service + Σ size·z ≤ most, of a share most · P; of a quota of machines
  size·n stands for those of size·z that are linked to nodes
- least groups: Σ capacity·in_service + Σ z − share·P·chosen ≥ 0 of each group, Σ chosen ≥ count
- budget: Σ cash ≤ monthly_budget; over all months Σ payments ≤ total_budget

with P = hours / d, the peak. A month that asks for hours at no peak has d = 730 and no width.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.costing.optimizer.problem import Floats, PlanProblem
from planner.costing.optimizer.reduced_problem import (
    NO_GROUP,
    NO_SOURCE,
    Bools,
    Ints,
    ReducedProblem,
)
from planner.costing.optimizer.work import WorkMeter

HOURS_PER_MONTH = 730.0
ABSENT = -1
"""Where a month has no such row."""


@dataclass(frozen=True)
class Family:
    """A row per month of one kind of limit, and what one unit in service adds to it."""

    row: Ints
    """[T], ABSENT where a month has none."""
    value_per_unit: Floats
    """[K, T]"""


@dataclass(frozen=True)
class Rows:
    """Every row of a market; scaled so that money is about as large as capacity."""

    reduced: ReducedProblem
    required_width: Floats
    """[T] P, in reference accelerators."""
    hours_at_peak: Floats
    """[T] d, hours at peak."""
    busy_width: Floats
    """[K, T] φ"""
    run_of_type: Ints
    """[K] which running cost a kind has, ABSENT for those that run for nothing."""
    lower: Floats
    upper: Floats
    width: Family
    hours: Family
    runs: tuple[Family, ...]
    quotas: tuple[Family, ...]
    nodes: tuple[Family, ...]
    """One for each type of rented node, in the order of the types."""
    groups: tuple[Family, ...]
    """One for each group of which some must be in use, then one that counts those chosen."""
    spot_row: Ints
    budget_row: Ints
    capex_rows: Ints
    """[B] one for each budget of capital, in their order."""
    total_row: int
    limited_row: Ints
    """[K] row of the most units of a kind, ABSENT where it has no such limit."""
    cost_scale: float
    cash_scale: float
    capex_scale: float
    total_scale: float

    @property
    def families(self) -> tuple[Family, ...]:
        """The families whose rows hold the units in service."""
        return (self.width, self.hours, *self.runs, *self.quotas, *self.nodes, *self.groups)

    @property
    def count(self) -> int:
        return self.lower.size


def hours_at_peak(problem: PlanProblem) -> Floats:
    """[T] hours at peak of a month, 730 in a month without a peak.

    >>> hours_at_peak(PlanProblem(np.array([800.0, 0.0]), np.array([16.0, 0.0]), (), ())).tolist()
    [50.0, 730.0]
    """
    has_both = (problem.hours > 0) & (problem.peak > 0)
    return np.where(has_both, problem.hours / np.where(has_both, problem.peak, 1), HOURS_PER_MONTH)


def build_rows(reduced: ReducedProblem, work: WorkMeter | None = None) -> Rows:
    """The rows of a market. Raises `WorkSpentError` where they take too much memory or work."""
    builder = _RowBuilder(reduced)
    if work is not None:
        work.charge_model(builder.count_families() * builder.busy_width.size)
    return builder.rows()


class _RowBuilder:
    """Gathers rows family by family."""

    def __init__(self, reduced: ReducedProblem) -> None:
        self.reduced, self.problem, self.unit_types = reduced, reduced.problem, reduced.unit_types
        self.months = self.problem.hours.size
        self.busy = self.problem.hours > 0
        self.hours_at_peak = hours_at_peak(self.problem)
        self.required_width = self.problem.hours / self.hours_at_peak
        self.busy_width = (self.unit_types.capacity * self.unit_types.hours_per_month)[:, None]
        self.busy_width = self.busy_width / self.hours_at_peak
        self.run_of_type = self._running_costs()
        self.lower: list[Floats] = []
        self.upper: list[Floats] = []
        self.count = 0

    def rows(self) -> Rows:
        run_count = int(self.run_of_type.max(initial=ABSENT)) + 1
        return Rows(
            reduced=self.reduced,
            required_width=self.required_width,
            hours_at_peak=self.hours_at_peak,
            busy_width=self.busy_width,
            run_of_type=self.run_of_type,
            width=self._width(),
            hours=self._hours(),
            runs=tuple(self._run(r) for r in range(run_count)),
            quotas=tuple(self._quota(q) for q in range(len(self.reduced.quotas))),
            nodes=tuple(
                self._nodes(int(k)) for k in np.flatnonzero(self.unit_types.is_rented_node)
            ),
            groups=tuple(self._groups()),
            spot_row=self._spot(),
            budget_row=self._budget(),
            capex_rows=self._capex(),
            total_row=self._total(),
            limited_row=self._limited(),
            cost_scale=self._cost_scale(),
            cash_scale=self._cash_scale(),
            capex_scale=self._capex_scale(),
            total_scale=self._total_scale(),
            lower=np.concatenate(self.lower),
            upper=np.concatenate(self.upper),
        )

    def count_families(self) -> int:
        """Families that hold the units in service."""
        runs = int(self.run_of_type.max(initial=ABSENT)) + 1
        nodes = int(self.unit_types.is_rented_node.sum())
        least = self.problem.least_groups
        groups = 0 if least is None else len(least.groups) + 1
        return 2 + runs + len(self.reduced.quotas) + nodes + groups

    def _running_costs(self) -> Ints:
        figures = self.unit_types.hour_cost
        if self.problem.limits_cash:
            figures = np.concatenate([figures, self.unit_types.hour_cash], axis=1)
        seen: dict[bytes, int] = {}
        return np.array(
            [seen.setdefault(r.tobytes(), len(seen)) if r.any() else ABSENT for r in figures],
            np.int64,
        )

    def _add(self, mask: Bools, lower: Floats | float, upper: Floats | float) -> Ints:
        index = np.full(mask.size, ABSENT)
        size = int(mask.sum())
        index[mask] = self.count + np.arange(size)
        self.count += size
        self.lower.append(np.broadcast_to(lower, mask.shape)[mask])
        self.upper.append(np.broadcast_to(upper, mask.shape)[mask])
        return index

    def _at_least(self, mask: Bools, value_per_unit: Floats, required_width: Floats) -> Family:
        from_existing = (value_per_unit * self.unit_types.existing).sum(axis=0)
        return Family(self._add(mask, required_width - from_existing, np.inf), value_per_unit)

    def _at_most(self, mask: Bools, value_per_unit: Floats, remaining: Floats | float) -> Family:
        from_existing = (value_per_unit * self.unit_types.existing).sum(axis=0)
        return Family(self._add(mask, -np.inf, remaining - from_existing), value_per_unit)

    def _width(self) -> Family:
        capacity = np.broadcast_to(self.unit_types.capacity[:, None], self.busy_width.shape)
        return self._at_least(self._has_peak, capacity, self.required_width)

    def _hours(self) -> Family:
        """Hours follow from the width where every unit is busy for as long as the peak lasts."""
        is_free = (self.run_of_type == ABSENT)[:, None]
        short = self.busy_width < self.unit_types.capacity[:, None]
        short &= ~self.unit_types.is_rented_node[:, None]
        is_needed = (short | ~is_free).any(axis=0) | (self.problem.peak <= 0)
        return self._at_least(
            self.busy & is_needed, np.where(is_free, self.busy_width, 0), self.required_width
        )

    def _run(self, running_cost: int) -> Family:
        of_it = (self.run_of_type == running_cost)[:, None]
        return self._at_most(self.busy, np.where(of_it, -self.busy_width, 0.0), 0.0)

    def _quota(self, q: int) -> Family:
        size = np.broadcast_to(self.unit_types.quota_size[:, q, None], self.busy_width.shape)
        quota = self.reduced.quotas[q]
        if not quota.is_share:
            return self._at_most(np.ones(self.months, bool), size, quota.most)
        is_limited = self._has_peak & np.isfinite(quota.most)
        share = quota.most if np.isfinite(quota.most) else 1.0
        return self._at_most(is_limited, size, share * self.required_width)

    @property
    def _has_peak(self) -> Bools:
        return self.busy & (self.problem.peak > 0)

    def _groups(self) -> Iterator[Family]:
        least, group = self.problem.least_groups, self.unit_types.group
        if least is None:
            return
        places = {quota.group: q for q, quota in enumerate(self.reduced.quotas)}
        for number, name in enumerate(least.groups):
            sizes = self.unit_types.quota_size[:, places[name]] if name in places else 0.0
            value = np.zeros(self.busy_width.shape) + np.asarray(sizes)[..., None]
            value[group == number] = -least.share * self.required_width
            yield self._at_least(self._has_peak, value, np.zeros(self.months))
        first = np.arange(self.months) == 0
        chosen = np.where((group != NO_GROUP)[:, None] & first, 1.0, 0.0)
        yield self._at_least(first, chosen, np.full(self.months, float(least.count)))

    def _nodes(self, node_type: int) -> Family:
        candidates = self.reduced.start_candidates
        is_rentable = np.zeros(self.months, bool)
        is_rentable[candidates.month[candidates.unit_type == node_type]] = True
        value = np.zeros(self.busy_width.shape)
        value[node_type] = -self.unit_types.capacity[node_type]
        return Family(self._add(is_rentable, 0.0, 0.0), value)

    def _spot(self) -> Ints:
        rentals = self.reduced.rentals
        rentable = np.asarray((rentals.offered & rentals.is_spot[:, None]).any(axis=0), bool)
        return self._add(rentable, -np.inf, self.problem.max_spot_share * self.required_width)

    def _budget(self) -> Ints:
        budget, base = self.problem.monthly_budget, self.problem.base_cash
        mask = np.full(self.months, budget is not None)
        remaining = (budget or 0.0) - (np.zeros(self.months) if base is None else base)
        return self._add(mask, -np.inf, remaining / self._cash_scale())

    def _cash_scale(self) -> float:
        return self.problem.monthly_budget or 1.0

    def _capex(self) -> Ints:
        amounts = np.array([b.amount for b in self.problem.capital_budgets], np.float64)
        mask = np.full(amounts.size, self.reduced.start_candidates.unit_type.size > 0)
        return self._add(mask, -np.inf, amounts / self._capex_scale())

    def _total(self) -> int:
        budget = self.problem.total_budget
        remaining = (budget or 0.0) - self.problem.base_payments
        mask = np.array([budget is not None])
        return int(self._add(mask, -np.inf, remaining / self._total_scale())[0])

    def _total_scale(self) -> float:
        return self.problem.total_budget or 1.0

    def _capex_scale(self) -> float:
        return float(self.reduced.start_candidates.capex.max(initial=0.0)) or 1.0

    def _limited(self) -> Ints:
        upper_bound = np.full(self.unit_types.capacity.size, np.inf)
        candidates = self.reduced.start_candidates
        for unit_type, source in set(
            zip(candidates.unit_type.tolist(), candidates.source.tolist(), strict=True)
        ):
            if source == NO_SOURCE:
                continue
            limit = self.problem.units[source].max_units
            upper_bound[unit_type] = np.inf if limit is None else limit
        return self._add(np.isfinite(upper_bound), -np.inf, upper_bound)

    def _cost_scale(self) -> float:
        rentals, candidates = self.reduced.rentals, self.reduced.start_candidates
        rented = np.where(rentals.offered, rentals.cost * self.hours_at_peak, 0.0)
        largest = max(rented.max(initial=0.0), np.abs(candidates.cost).max(initial=0.0))
        return (
            max(
                float(largest),
                float((self.unit_types.hour_cost * self.hours_at_peak).max(initial=0.0)),
            )
            / 1e4
            or 1.0
        )
