"""Cuts that round: rows every whole plan keeps and a plan of fractions of units breaks. PURE.

From Σ a·U + z ≥ b with whole U ≥ 0 and z ≥ 0, division by δ and mixed-integer rounding give
Σ G(a/δ)·U + z / (δ·f) ≥ ⌈b/δ⌉, with f the fraction of b/δ and
G(r) = ⌊r⌋ + min(1, fraction of r / f); from Σ a·U ≤ b they give Σ H(a/δ)·U ≤ ⌊b/δ⌋ with
H(r) = ⌊r⌋ + max(0, fraction of r − f) / (1 − f). With one node size these rows make the model's
corners whole, because what a month costs bends only where a number of units is whole.
(Nemhauser and Wolsey, A recursive procedure to generate all cuts for 0-1 mixed integer
programs, 1990.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.costing.optimizer.constraints import ABSENT, Rows
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import Bools, Ints
from planner.costing.optimizer.variables import Continuous, StartColumns

_LEAST_FRACTION = 1e-4
"""A fraction nearer than this to a whole number makes a cut too steep to be of use."""
_LEAST_VIOLATION = 1e-4
_LARGE = 20
"""A start whose cash goes more often than that into the month's budget is not worth a cut."""
_WHOLE = 1e-9


@dataclass(frozen=True)
class Cut:
    """lower ≤ Σ unit·U + Σ rented·z ≤ upper, in one month or (capital) over the horizon."""

    month: int
    """ABSENT for a cut over the horizon."""
    unit: Floats
    """[K] per unit in service in that month, or [n] per start for a cut over the horizon."""
    columns: Ints
    """Continuous columns in it."""
    rented: float
    """What each of them adds."""
    lower: float
    upper: float


@dataclass(frozen=True)
class _Base:
    """Σ value·U + Σ z over `columns` ≥ asked, in every month where it is present."""

    value: Floats
    """[K, T]"""
    required_width: Floats
    columns: Bools
    present: Bools


class Separator:
    """Finds the cuts that a plan of fractions breaks.

    Where the limits are `elastic`, cuts come from the demand alone: one that comes from a limit
    would forbid what slack allows.
    """

    def __init__(
        self,
        rows: Rows,
        continuous: Continuous,
        start_columns: StartColumns,
        *,
        elastic: bool = False,
    ) -> None:
        self.rows, self.continuous, self.start_columns = rows, continuous, start_columns
        self.elastic = elastic
        self.months = rows.required_width.size
        self._at_least = list(self._bases())

    def _bases(self) -> Iterator[_Base]:
        rows, rentals = self.rows, self.continuous.rentals
        is_rental = np.arange(self.continuous.count) < rentals
        is_spot = np.zeros(self.continuous.count, bool)
        is_spot[:rentals] = rows.reduced.rentals.is_spot[self.continuous.rental_type]
        everything = self.continuous.month != ABSENT
        spot = np.where(rows.spot_row == ABSENT, 0.0, rows.reduced.problem.max_spot_share)
        busy = rows.required_width > 0
        if rows.nodes:
            yield self._whole_node_base()
        units_alone = np.where(
            rows.reduced.unit_types.is_rented_node[:, None], 0.0, rows.width.value_per_unit
        )
        bases = [
            (units_alone, is_rental, rows.width.row != ABSENT),
            (rows.busy_width, is_rental, busy & (rows.hours.row != ABSENT)),
            (rows.hours.value_per_unit, everything, rows.hours.row != ABSENT),
        ]
        for value, columns, present in bases:
            required_width = rows.required_width - (value * rows.reduced.unit_types.existing).sum(
                axis=0
            )
            yield _Base(value, required_width, columns, present & (required_width > 0))
            without = required_width - spot * rows.required_width
            limited = present & (rows.spot_row != ABSENT) & (without > 0)
            if limited.any() and not self.elastic:
                yield _Base(value, without, columns & ~is_spot, limited)

    def _whole_node_base(self) -> _Base:
        """Σ capacity·(units in service + nodes rented) + Σ z in parts ≥ P: every term but those in
        parts a whole number of nodes."""
        rows, value = self.rows, self.rows.width.value_per_unit
        width = rows.required_width - (value * rows.reduced.unit_types.existing).sum(axis=0)
        in_parts = np.zeros(self.continuous.count, bool)
        nodes = rows.reduced.rentals.node[self.continuous.rental_type]
        in_parts[: self.continuous.rentals] = nodes <= 0
        return _Base(value, width, in_parts, (rows.width.row != ABSENT) & (width > 0))

    def cuts(self, units_started: Floats, continuous: Floats, max_cuts: int = 200) -> list[Cut]:
        """The cuts that `units_started` [n] and the continuous columns break most."""
        in_service = (
            self.start_columns.units_in_service(units_started)
            - self.rows.reduced.unit_types.existing
        )
        partial = np.abs(in_service - np.round(in_service)) > 1e-6
        violated: list[tuple[float, Cut]] = []
        if partial.any():
            unit_types = self._sizes(np.flatnonzero(partial.any(axis=1)))
            for base in self._at_least:
                violated += self._round_up(base, unit_types, in_service, continuous)
            violated += [] if self.elastic else self._quota_cuts(unit_types, in_service)
        if not self.elastic:
            violated += self._capital_cuts(units_started) + self._budget_cuts(units_started)
        order = sorted(range(len(violated)), key=lambda i: (-violated[i][0], i))
        return [violated[i][1] for i in order[:max_cuts]]

    def _sizes(self, unit_types: Ints) -> Ints:
        """One kind of each node size."""
        table = self.rows.reduced.unit_types
        size = np.column_stack([table.capacity, table.hours_per_month, table.quota_size])
        return unit_types[np.unique(size[unit_types], axis=0, return_index=True)[1]]

    def _round_up(
        self, base: _Base, unit_types: Ints, in_service: Floats, continuous: Floats
    ) -> list[tuple[float, Cut]]:
        months = self.continuous.month[base.columns]
        rented = np.bincount(months, continuous[base.columns], minlength=self.months)
        best = np.full(self.months, _LEAST_VIOLATION)
        cuts: list[Cut | None] = [None] * self.months
        for unit_type in unit_types:
            step = np.where(base.value[unit_type] > 0, base.value[unit_type], np.inf)
            ratio = base.required_width / step
            fraction = ratio - np.floor(ratio + _WHOLE)
            usable = base.present & (fraction > _LEAST_FRACTION) & np.isfinite(step)
            fraction = np.where(usable, fraction, 1.0)
            unit = _rounded_up(base.value / step, fraction)
            short = np.ceil(ratio) - (unit * in_service).sum(axis=0) - rented / (step * fraction)
            for t in np.flatnonzero(usable & (short > best)):
                best[t] = short[t]
                per_width = float(1.0 / (step[t] * fraction[t]))
                columns = np.flatnonzero(base.columns & (self.continuous.month == t))
                lower = float(np.ceil(ratio[t]))
                cuts[t] = Cut(int(t), unit[:, t], columns, per_width, lower, np.inf)
        return [(float(best[t]), cut) for t, cut in enumerate(cuts) if cut is not None]

    def _quota_cuts(self, unit_types: Ints, in_service: Floats) -> list[tuple[float, Cut]]:
        violated = []
        existing = self.rows.reduced.unit_types.existing
        for family, quota in zip(self.rows.quotas, self.rows.reduced.quotas, strict=True):
            size = family.value_per_unit[:, 0]
            if quota.is_share or not np.isfinite(quota.most):
                continue
            remaining = quota.most - (family.value_per_unit * existing).sum(axis=0)
            for step in np.unique(size[unit_types][size[unit_types] > 0]):
                for t in np.flatnonzero((size @ in_service > remaining - step) & (remaining >= 0)):
                    unit, upper_bound = _rounded_down(size / step, float(remaining[t] / step))
                    over = float(unit @ in_service[:, t]) - upper_bound
                    if over > _LEAST_VIOLATION:
                        none = np.zeros(0, np.int64)
                        violated.append((over, Cut(int(t), unit, none, 0.0, -np.inf, upper_bound)))
        return violated

    def _capital_cuts(self, units_started: Floats) -> list[tuple[float, Cut]]:
        partial = np.abs(units_started - np.round(units_started)) > 1e-6
        violated = []
        for row, budget in zip(
            self.rows.capex_rows, self.rows.reduced.problem.capital_budgets, strict=True
        ):
            capex = self.start_columns.candidates.capex_of(budget)
            for step in np.unique(capex[partial & (capex > 0) & (row != ABSENT)]):
                unit, upper_bound = _rounded_down(capex / step, budget.amount / step)
                over = float(unit @ units_started) - upper_bound
                if over > _LEAST_VIOLATION:
                    none = np.zeros(0, np.int64)
                    violated.append((over, Cut(ABSENT, unit, none, 0.0, -np.inf, upper_bound)))
        return violated

    def _budget_cuts(self, units_started: Floats) -> list[tuple[float, Cut]]:
        """From a month's budget, where what is started in part takes a good share of it."""
        cash, start_columns = self.start_columns.cash, self.start_columns.candidates
        if cash is None:
            return []
        by_copy = self.rows.upper[self.rows.budget_row].reshape(self.start_columns.copies, -1)
        remaining, violated = by_copy.min(axis=0), []
        partial = np.flatnonzero(np.abs(units_started - np.round(units_started)) > 1e-6)
        paid = {
            (int(start_columns.month[j]), float(cash[j, start_columns.month[j]])) for j in partial
        }
        for month, step in sorted(paid):
            if remaining[month] < 0 or step * _LARGE < remaining[month]:
                continue
            unit, upper_bound = _rounded_down(cash[:, month] / step, float(remaining[month] / step))
            over = float(unit @ units_started) - upper_bound
            if over > _LEAST_VIOLATION:
                none = np.zeros(0, np.int64)
                violated.append((over, Cut(ABSENT, unit, none, 0.0, -np.inf, upper_bound)))
        return violated


def _rounded_up(ratio: Floats, fraction: Floats) -> Floats:
    """G(ratio): the entry of a unit in a row rounded up, whose right side has that fraction.

    >>> _rounded_up(np.array([0.25, 1.0, 1.5]), np.array(0.5)).tolist()
    [0.5, 1.0, 2.0]
    """
    whole = np.floor(ratio + _WHOLE)
    return np.asarray(whole + np.minimum(np.maximum(ratio - whole, 0.0) / fraction, 1.0))


def _rounded_down(ratio: Floats, remaining: float) -> tuple[Floats, float]:
    """H(ratio) and ⌊remaining⌋ of a row rounded down; nothing where the fraction is near 1.

    >>> _rounded_down(np.array([0.25, 1.0, 1.75]), 2.5)
    (array([0. , 1. , 1.5]), 2.0)
    """
    whole, upper_bound = np.floor(ratio + _WHOLE), float(np.floor(remaining + _WHOLE))
    fraction = max(remaining - upper_bound, 0.0)
    if fraction > 1 - _LEAST_FRACTION:
        return np.zeros_like(ratio), upper_bound
    return whole + np.maximum(ratio - whole - fraction, 0.0) / (1 - fraction), upper_bound
