"""From a plan with fractions of units to a whole one. PURE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.costing.optimizer.exact_milp import Found, Proof, best_of
from planner.costing.optimizer.master_lp import Master
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import Ints

WHOLE = 1e-6
"""A number of units nearer than this to a whole one is that one."""
_ROUND_UP_FROM = 0.3
"""Fraction of a unit from which a dive begins the whole unit: a missing one costs more, as
rentals stand in for it, than one too many."""
_TOGETHER, _TOGETHER_FROM = 6, 0.7
"""So many fractions a dive settles at once, if the others are as large as that."""
_BESIDE_THE_RELAXED = 20
"""Starts of least reduced cost that a dive may begin besides those of the relaxed plan."""
_SMALL = 25_000
"""So few starts that could improve a plan, times rows, are worth an exact search unasked …"""
_SMALL_NODES = 200
"""… within so many nodes of the search tree."""
_TINY = 2_500
"""So few are searched to the optimum, so that a wider limit never makes such a plan dearer."""
_UNLIMITED = 2**31 - 1
_SOME = 300
_NEAREST = 20
"""Starts of least reduced cost among which a plan that is not close yet is polished."""
_CLOSE = 1e-3
"""Share of the cost within which a plan is good enough unless a smaller gap is asked for."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Style:
    """How a dive settles fractions."""

    patience: int
    """It settles that many times as many fractions as it began with before it rounds all up."""
    beside_whole_first: bool
    """Fractions beside whole units before those that would begin a first unit."""


_STYLES = (Style(3, True), Style(2, False))


def dive(master: Master, style: Style = _STYLES[0], cutoff: float = np.inf) -> Found | None:
    """Whole units begun: the largest fractions settled, the rest solved anew, until none is left.

    The master's bounds are put back afterwards. None where it ends in a dead end, or where the
    plan will cost at least `cutoff`.
    """
    steps = _Dive(master, style)
    found = steps.run(cutoff)
    steps.undo()
    return found


class _Dive:
    """The bounds of the units begun, drawn closer step by step."""

    def __init__(self, master: Master, style: Style) -> None:
        self.master, self.style = master, style
        self.most = master.starts.starts.most[master.chosen]
        self.lower, self.upper = np.zeros(self.most.size), self.most.copy()

    def run(self, cutoff: float) -> Found | None:
        units = self._units()
        patience = self.style.patience * int((np.abs(units - np.round(units)) > WHOLE).sum())
        for step in range(patience + units.size + 1):
            if step and self.master.program.objective >= cutoff:
                return None
            columns = self._next(units)
            if columns.size == 0:
                return Found(self._begun(units), self.master.program.objective)
            up_from = _ROUND_UP_FROM if step < patience else 0.0
            if not self._settle(columns, units, up_from):
                return None
            units = self._units()
        return None

    def undo(self) -> None:
        for column in np.flatnonzero((self.lower > 0) | (self.upper < self.most)):
            self._bound(int(column), 0.0, float(self.most[column]))

    def _units(self) -> Floats:
        return self.master.values()[self.master.continuous.count :]

    def _begun(self, units: Floats) -> Floats:
        units_started = np.zeros(self.master.starts.cost.size)
        units_started[self.master.chosen] = np.round(units)
        return units_started

    def _next(self, units: Floats) -> Ints:
        """The fraction to settle next, the largest, then those to round up along with it."""
        fraction = units - np.floor(units + WHOLE)
        open_ = np.flatnonzero((fraction > WHOLE) & (self.lower < self.upper))
        if open_.size == 0:
            return open_
        beside_whole = self.style.beside_whole_first & (units[open_] > 1)
        first = open_[(fraction[open_] + beside_whole).argmax()]
        others = open_[(fraction[open_] > _TOGETHER_FROM) & (open_ != first)]
        nearest = np.argsort(-fraction[others], kind="stable")[: _TOGETHER - 1]
        return np.concatenate([[first], others[nearest]])

    def _settle(self, columns: Ints, units: Floats, up_from: float) -> bool:
        """Round the columns and solve; the first alone, either way, where that has no solution."""
        first, others = int(columns[0]), columns[1:]
        up = units[first] - np.floor(units[first]) > up_from
        if others.size:
            before = self.lower[others]
            for column in others.tolist():
                self._bound(column, float(np.ceil(units[column])), float(self.upper[column]))
            if self._solves(first, float(units[first]), up):
                return True
            for column, low in zip(others.tolist(), before.tolist(), strict=True):
                self._bound(column, low, float(self.upper[column]))
        value = float(units[first])
        return self._solves(first, value, up) or self._solves(first, value, not up)

    def _solves(self, column: int, units: float, up: bool | np.bool_) -> bool:
        """Whether there is a solution with a column rounded; its bounds stay only if there is."""
        low, high = float(self.lower[column]), float(self.upper[column])
        new = (float(np.ceil(units)), high) if up else (low, float(np.floor(units)))
        if new[0] > new[1]:
            return False
        self._bound(column, *new)
        if self.master.program.run():
            return True
        self._bound(column, low, high)
        return False

    def _bound(self, column: int, low: float, high: float) -> None:
        self.lower[column], self.upper[column] = low, high
        self.master.program.set_bounds(self.master.continuous.count + column, low, high)


def cheapest_first(reduced: Floats, most: int) -> Ints:
    """The starts of least reduced cost, at most so many, in the order of their columns."""
    return np.sort(np.argsort(reduced, kind="stable")[:most])


class Search:
    """The whole plan of a master, and a bound that no whole plan beats."""

    def __init__(self, master: Master, *, gap: float, node_limit: int | None) -> None:
        self.master, self.gap, self.node_limit = master, gap, node_limit
        self.bound = -np.inf
        """In scaled money."""

    def run(self) -> Floats | None:
        """[n] units to begin; None where no plan meets every limit."""
        master = self.master
        if not master.solve():
            return None
        self.bound, reduced = master.bound()
        self._widen(reduced, _BESIDE_THE_RELAXED)
        found = self._dives(reduced)
        if found is None:
            return self._everything()
        if self._open(found) <= ROUNDING:
            return found.units_started
        needed = self._needed(found, reduced)
        if not self._is_settled(found, needed):
            nearest = cheapest_first(reduced, _NEAREST)
            found = self._among(nearest, found, _CLOSE, _SMALL_NODES, is_exact=False)
            needed = self._needed(found, reduced)
        is_wide = self._open(found) > self.gap
        if self._is_small(needed):
            is_bounded = not is_wide and self._size(needed) > _TINY
            limit = _SMALL_NODES if is_bounded else self.node_limit
            return self._among(needed, found, self._aim(needed), limit).units_started
        if is_wide:
            return self._among(needed, found, self.gap, self.node_limit).units_started
        return found.units_started

    def _open(self, found: Found) -> float:
        """Share of the cost between the bound and the plan."""
        open_ = found.cost - self.bound
        return open_ / abs(found.cost) if found.cost else float(open_ > 0)

    def _is_small(self, needed: Ints) -> bool:
        return self._size(needed) <= _SMALL

    def _size(self, needed: Ints) -> int:
        return needed.size * self.master.rows.count

    def _aim(self, starts: Ints) -> float:
        """The gap that an exact search over so many starts goes on to."""
        if self._size(starts) <= _TINY:
            return 0.0
        return min(self.gap, _CLOSE) if self._is_small(starts) else self.gap

    def _dives(self, reduced: Floats) -> Found | None:
        best: Found | None = None
        for style in _STYLES:
            found = dive(self.master, style, np.inf if best is None else best.cost)
            best = best if found is None else found
            if best is not None and self._is_settled(best, self._needed(best, reduced)):
                break
            self.master.program.run()
        return best

    def _needed(self, found: Found, reduced: Floats) -> Ints:
        """Starts that a plan better than `found` may begin; no other one pays."""
        return np.flatnonzero(reduced <= (found.cost - self.bound) * (1 + ROUNDING) + ROUNDING)

    def _is_settled(self, found: Found, needed: Ints) -> bool:
        """Whether the next step is the exact search, or none."""
        return self._is_small(needed) or self._is_close(found, needed)

    def _is_close(self, found: Found, needed: Ints) -> bool:
        return self._open(found) <= (_CLOSE if needed.size <= _SOME else 2 * _CLOSE)

    def _widen(self, reduced: Floats, most: int) -> None:
        self.master.add_starts(cheapest_first(reduced, most))
        self.master.program.run()

    def _everything(self) -> Floats | None:
        """The best plan among all starts, where a dive found none."""
        starts = np.arange(self.master.starts.cost.size)
        proof = self._best_of(starts, None, self._aim(starts), self.node_limit)
        if proof.found is None and np.isfinite(proof.bound):  # neither found nor ruled out
            proof = self._best_of(starts, None, 1.0, _UNLIMITED)
        if proof.found is None:
            return None
        self.bound = max(self.bound, min(proof.bound, proof.found.cost))
        return proof.found.units_started

    def _among(
        self,
        starts: Ints,
        found: Found,
        gap: float,
        node_limit: int | None,
        *,
        is_exact: bool = True,
    ) -> Found:
        """The best plan that begins nothing but `starts`, or `found` if that is as good.

        Exact where every start left out has a reduced cost above what is open: then no better
        plan begins it, and the bound of this smaller model holds for all.
        """
        wanted = np.union1d(starts, np.flatnonzero(found.units_started))
        proof = self._best_of(wanted, found, gap, node_limit)
        best = found
        if proof.found is not None and proof.found.cost < found.cost:
            best = proof.found
        if is_exact:
            self.bound = max(self.bound, min(proof.bound, best.cost))
        return best

    def _best_of(
        self, starts: Ints, known: Found | None, gap: float, node_limit: int | None
    ) -> Proof:
        master = self.master
        to_the_end = gap == 0 or master.elastic
        return best_of(
            master.rows,
            master.continuous,
            master.starts,
            starts,
            gap=gap,
            node_limit=node_limit,
            known=known,
            cuts=master.cuts if to_the_end else None,
        )
