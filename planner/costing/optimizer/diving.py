"""From a plan with fractions of units to a whole one. PURE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.costing.optimizer.exact_milp import Incumbent, Proof, solve_milp
from planner.costing.optimizer.master_lp import Master
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.reduced_problem import Ints

WHOLE = 1e-6
"""A number of units nearer than this to a whole one is that one."""
_ROUND_UP_FROM = 0.3
"""Fraction of a unit from which a dive starts the whole unit: a missing one costs more, as
rentals stand in for it, than one too many."""
_TOGETHER, _TOGETHER_FROM = 6, 0.7
"""So many fractions a dive settles at once, if the others are as large as that."""
_BESIDE_THE_RELAXED = 20
"""Starts of least reduced cost that a dive may start besides those of the relaxed plan."""
_SMALL = 25_000
"""So few starts that could improve a plan, times rows, are worth an exact search unasked …"""
_SMALL_NODES = 200
"""… within so many nodes of the search tree."""
_TINY = 2_500
"""So few are searched to the optimum, so that a wider limit never raises their cost."""
_UNLIMITED = 2**31 - 1
_WHOLE_NODE_LIMIT = 300
"""Nodes of the search with whole rented nodes, where the plan without is not close enough."""
_SOME = 300
_NEAREST = 20
"""Starts of least reduced cost among which a plan that is not close yet is polished."""
_CLOSE = 1e-3
"""Share of the cost within which a plan is good enough unless a smaller gap is asked for."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class DiveStyle:
    """How a dive settles fractions."""

    patience: int
    """It settles that many times as many fractions as it began with before it rounds all up."""
    beside_whole_first: bool
    """Fractions beside whole units before those that would start a first unit."""


_STYLES = (DiveStyle(3, True), DiveStyle(2, False))


def dive(master: Master, style: DiveStyle = _STYLES[0], cutoff: float = np.inf) -> Incumbent | None:
    """Whole units started: the largest fractions settled, the rest solved anew, until none is left.

    The master's bounds are put back afterwards. None where it ends in a dead end, or where the
    plan will cost at least `cutoff`.
    """
    steps = _DiveState(master, style)
    incumbent = steps.run(cutoff)
    steps.undo()
    return incumbent


class _DiveState:
    """The bounds of the units started, drawn closer step by step."""

    def __init__(self, master: Master, style: DiveStyle) -> None:
        self.master, self.style = master, style
        self.upper_bound = master.start_columns.candidates.upper_bound[master.start_indices]
        self.lower, self.upper = np.zeros(self.upper_bound.size), self.upper_bound.copy()
        unit_type = master.start_columns.candidates.unit_type[master.start_indices]
        self.is_whole = ~master.rows.reduced.unit_types.is_rented_node[unit_type]
        if master.nodes_are_whole:
            self.is_whole[:] = True

    def run(self, cutoff: float) -> Incumbent | None:
        units = self._units()
        patience = self.style.patience * int((np.abs(units - np.round(units)) > WHOLE).sum())
        for step in range(patience + units.size + 1):
            if step and self.master.program.objective >= cutoff:
                return None
            columns = self._next(units)
            if columns.size == 0:
                return Incumbent(self._units_started(units), self.master.program.objective)
            round_up_from = _ROUND_UP_FROM if step < patience else 0.0
            if not self._settle(columns, units, round_up_from):
                return None
            units = self._units()
        return None

    def undo(self) -> None:
        for column in np.flatnonzero((self.lower > 0) | (self.upper < self.upper_bound)):
            self._bound(int(column), 0.0, float(self.upper_bound[column]))

    def _units(self) -> Floats:
        return self.master.values()[self.master.continuous.count :]

    def _units_started(self, units: Floats) -> Floats:
        units_started = np.zeros(self.master.start_columns.cost.size)
        units_started[self.master.start_indices] = np.round(units)
        return units_started

    def _next(self, units: Floats) -> Ints:
        """The fraction to settle next, the largest, then those to round up along with it."""
        fraction = units - np.floor(units + WHOLE)
        open_ = np.flatnonzero((fraction > WHOLE) & (self.lower < self.upper) & self.is_whole)
        if open_.size == 0:
            return open_
        beside_whole = self.style.beside_whole_first & (units[open_] > 1)
        first = open_[(fraction[open_] + beside_whole).argmax()]
        others = open_[(fraction[open_] > _TOGETHER_FROM) & (open_ != first)]
        nearest = np.argsort(-fraction[others], kind="stable")[: _TOGETHER - 1]
        return np.concatenate([[first], others[nearest]])

    def _settle(self, columns: Ints, units: Floats, round_up_from: float) -> bool:
        """Round the columns and solve; the first alone, either way, where that has no solution."""
        first, others = int(columns[0]), columns[1:]
        round_up = units[first] - np.floor(units[first]) > round_up_from
        if others.size:
            before = self.lower[others]
            for column in others.tolist():
                self._bound(column, float(np.ceil(units[column])), float(self.upper[column]))
            if self._solves(first, float(units[first]), round_up):
                return True
            for column, low in zip(others.tolist(), before.tolist(), strict=True):
                self._bound(column, low, float(self.upper[column]))
        value = float(units[first])
        return self._solves(first, value, round_up) or self._solves(first, value, not round_up)

    def _solves(self, column: int, units: float, round_up: bool | np.bool_) -> bool:
        """Whether there is a solution with a column rounded; its bounds stay only if there is."""
        low, high = float(self.lower[column]), float(self.upper[column])
        new = (float(np.ceil(units)), high) if round_up else (low, float(np.floor(units)))
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


def cheapest_first(reduced: Floats, count: int) -> Ints:
    """The starts of least reduced cost, at most so many, in the order of their columns."""
    return np.sort(np.argsort(reduced, kind="stable")[:count])


class Search:
    """The whole plan of a master, and a bound that no whole plan beats."""

    def __init__(
        self, master: Master, *, gap: float, node_limit: int | None, ceiling: float = np.inf
    ) -> None:
        self.master, self.gap, self.node_limit = master, gap, node_limit
        self.ceiling = ceiling
        """Cost in scaled money from which a plan is of no use."""
        self.bound = -np.inf
        """In scaled money."""
        self.is_infeasible = False
        """Whether it is proven that no plan meets every limit."""

    @property
    def is_of_no_use(self) -> bool:
        """Whether it is proven that every plan costs at least the ceiling."""
        return self.bound > self.ceiling + ROUNDING * abs(self.ceiling)

    def run(self) -> Floats | None:
        """[n] units to start; None where no plan meets every limit, none costs less than the
        ceiling, or none was found with the work that there is.

        Parts of rented nodes are allowed at first: cuts round most of them, and the hours of a
        plan are settled in whole nodes anyway.
        """
        master = self.master
        if not master.solve():
            self.is_infeasible = True
            return None
        self.bound, reduced = master.bound()
        if self.is_of_no_use:
            return None
        self._add_cheapest(reduced, _BESIDE_THE_RELAXED)
        incumbent = self._dive(reduced)
        if incumbent is None:
            return self._search_all()
        if self._relative_gap(incumbent) <= ROUNDING:
            return incumbent.units_started
        useful = self._useful_starts(incumbent, reduced)
        if not self._needs_no_polish(incumbent, useful):
            nearest = cheapest_first(reduced, _NEAREST)
            incumbent = self._search_among(nearest, incumbent, _CLOSE, _SMALL_NODES, is_exact=False)
            useful = self._useful_starts(incumbent, reduced)
        is_wide = self._relative_gap(incumbent) > self.gap
        if self._is_small(useful):
            is_bounded = not is_wide and self._size(useful) > _TINY
            limit = _SMALL_NODES if is_bounded else self.node_limit
            return self._search_among(
                useful, incumbent, self._target_gap(useful), limit
            ).units_started
        if is_wide:
            return self._search_among(useful, incumbent, self.gap, self.node_limit).units_started
        return incumbent.units_started

    def run_with_whole_nodes(self) -> Floats | None:
        """The same with whole rented nodes throughout, where that was left open."""
        self.master.nodes_are_whole = True
        start_indices = np.arange(self.master.start_columns.cost.size)
        proof = self._solve_milp(start_indices, None, self.gap, _WHOLE_NODE_LIMIT)
        if np.isfinite(proof.bound):
            self.bound = max(self.bound, proof.bound)
        self.is_infeasible = bool(np.isposinf(proof.bound))
        return None if proof.incumbent is None else proof.incumbent.units_started

    def _relative_gap(self, incumbent: Incumbent) -> float:
        """Share of the cost between the bound and the plan."""
        open_ = incumbent.cost - self.bound
        return open_ / abs(incumbent.cost) if incumbent.cost else float(open_ > 0)

    def _is_small(self, useful: Ints) -> bool:
        return self._size(useful) <= _SMALL

    def _size(self, useful: Ints) -> int:
        return useful.size * self.master.rows.count

    def _target_gap(self, start_indices: Ints) -> float:
        """The gap that an exact search over so many starts goes on to."""
        if self._size(start_indices) <= _TINY:
            return 0.0
        return min(self.gap, _CLOSE) if self._is_small(start_indices) else self.gap

    def _dive(self, reduced: Floats) -> Incumbent | None:
        best: Incumbent | None = None
        for style in _STYLES:
            incumbent = dive(self.master, style, np.inf if best is None else best.cost)
            best = best if incumbent is None else incumbent
            if best is not None and (
                self.master.work.is_spent
                or self._needs_no_polish(best, self._useful_starts(best, reduced))
            ):
                break
            self.master.program.run()
        return best

    def _useful_starts(self, incumbent: Incumbent, reduced: Floats) -> Ints:
        """Starts that a plan better than `incumbent` may start; no other one pays."""
        return np.flatnonzero(reduced <= (incumbent.cost - self.bound) * (1 + ROUNDING) + ROUNDING)

    def _needs_no_polish(self, incumbent: Incumbent, useful: Ints) -> bool:
        """Whether the next step is the exact search, or none."""
        return self._is_small(useful) or self._is_close(incumbent, useful)

    def _is_close(self, incumbent: Incumbent, useful: Ints) -> bool:
        return self._relative_gap(incumbent) <= (_CLOSE if useful.size <= _SOME else 2 * _CLOSE)

    def _add_cheapest(self, reduced: Floats, count: int) -> None:
        self.master.add_starts(cheapest_first(reduced, count))
        self.master.program.run()

    def _search_all(self) -> Floats | None:
        """The best plan among all starts, where a dive found none."""
        start_indices = np.arange(self.master.start_columns.cost.size)
        proof = self._solve_milp(
            start_indices, None, self._target_gap(start_indices), self.node_limit
        )
        if proof.incumbent is None and np.isfinite(proof.bound):  # neither found nor ruled out
            proof = self._solve_milp(start_indices, None, 1.0, _UNLIMITED)
        if proof.incumbent is None:
            self.is_infeasible = bool(np.isposinf(proof.bound))
            return None
        self.bound = max(self.bound, min(proof.bound, proof.incumbent.cost))
        return proof.incumbent.units_started

    def _search_among(
        self,
        start_indices: Ints,
        incumbent: Incumbent,
        gap: float,
        node_limit: int | None,
        *,
        is_exact: bool = True,
    ) -> Incumbent:
        """The best plan that starts nothing but `start_indices`, or `incumbent` if that is as good.

        Exact where every start left out has a reduced cost above what is open: then no better
        plan starts it, and the bound of this smaller model holds for all.
        """
        candidates = np.union1d(start_indices, np.flatnonzero(incumbent.units_started))
        candidates = np.union1d(candidates, self.master.node_starts)
        proof = self._solve_milp(candidates, incumbent, gap, node_limit)
        best = incumbent
        if proof.incumbent is not None and proof.incumbent.cost < incumbent.cost:
            best = proof.incumbent
        if is_exact:
            self.bound = max(self.bound, min(proof.bound, best.cost))
        return best

    def _solve_milp(
        self, start_indices: Ints, warm_start: Incumbent | None, gap: float, node_limit: int | None
    ) -> Proof:
        master = self.master
        to_the_end = gap == 0 or master.elastic
        return solve_milp(
            master.rows,
            master.continuous,
            master.start_columns,
            start_indices,
            gap=gap,
            node_limit=node_limit,
            work=master.work,
            warm_start=warm_start,
            cuts=master.cuts if to_the_end else None,
            nodes_are_whole=master.nodes_are_whole,
        )
