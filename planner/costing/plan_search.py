"""From a plan with fractions of units to a whole one. PURE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.costing.plan_market import Ints
from planner.costing.plan_master import Master
from planner.costing.plan_problem import Floats

WHOLE = 1e-6
"""A number of units nearer than this to a whole one is that one."""
_ROUND_UP_FROM = 0.3
"""Fraction of a unit from which a dive begins the whole unit: a missing one costs more, as
rentals stand in for it, than one too many."""
_BESIDE_THE_RELAXED = 20
"""Starts of least reduced cost that a dive may begin besides those of the relaxed plan."""
_SMALL = 25_000
"""So few starts that could improve a plan, times rows, are worth an exact search unasked …"""
_SMALL_NODES = 200
"""… within so many nodes of the search tree."""
_UNLIMITED = 2**31 - 1
_SOME = 300
_NEAREST = 20
"""Starts of least reduced cost among which a plan that is not close yet is polished."""
_CLOSE = 1e-3
"""Share of the cost within which a plan is good enough unless a smaller gap is asked for."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Found:
    """Whole units begun [n] and what they cost, in scaled money."""

    begun: Floats
    cost: float


@dataclass(frozen=True)
class Style:
    """How a dive settles fractions."""

    patience: int
    """It settles that many times as many fractions as it began with before it rounds all up."""
    beside_whole_first: bool
    """Fractions beside whole units before those that would begin a first unit."""


_STYLES = (Style(3, True), Style(2, False))


def dive(master: Master, style: Style = _STYLES[0], cutoff: float = np.inf) -> Found | None:
    """Whole units begun: one fraction after another settled, the rest solved anew each time.

    The master's bounds are put back afterwards. None where it ends in a dead end, or where the
    plan will cost at least `cutoff`.
    """
    first, count = master.continuous.count, master.chosen.size
    lower, upper = np.zeros(count), master.starts.starts.most[master.chosen].copy()
    touched: set[int] = set()
    found, cost = None, np.inf
    patience = style.patience * _fractions(master.values()[first:])
    for step in range(patience + count + 1):
        units = master.values()[first:]
        column = _next(units, lower, upper, style)
        if column is None:
            found, cost = np.round(units), master.program.objective
            break
        touched.add(column)
        up_from = _ROUND_UP_FROM if step < patience else 0.0
        if not _settle(master, column, float(units[column]), up_from, lower, upper):
            break
        if master.program.objective >= cutoff:
            break
    for column in sorted(touched):
        master.program.set_bounds(
            first + column, 0.0, float(master.starts.starts.most[master.chosen[column]])
        )
    if found is None:
        return None
    return Found(_begun(master, np.concatenate([np.zeros(first), found])), cost)


def _fractions(units: Floats) -> int:
    return int((np.abs(units - np.round(units)) > WHOLE).sum())


def _next(units: Floats, lower: Floats, upper: Floats, style: Style) -> int | None:
    """The fraction to settle next: the largest."""
    fraction = units - np.floor(units + WHOLE)
    open_ = np.flatnonzero((fraction > WHOLE) & (lower < upper))
    if open_.size == 0:
        return None
    beside_whole = style.beside_whole_first & (units[open_] > 1)
    return int(open_[(fraction[open_] + beside_whole).argmax()])


def _settle(
    master: Master, column: int, units: float, up_from: float, lower: Floats, upper: Floats
) -> bool:
    """Round one column and solve; the other way where the first has no solution."""
    low, high = lower[column], upper[column]
    up = units - np.floor(units) > up_from
    for rounded_up in (up, not up):
        lower[column], upper[column] = low, high
        if rounded_up:
            lower[column] = np.ceil(units)
        else:
            upper[column] = np.floor(units)
        if lower[column] > upper[column]:
            continue
        master.program.set_bounds(
            master.continuous.count + column, float(lower[column]), float(upper[column])
        )
        if master.program.run():
            return True
    return False


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
            return found.begun
        needed = self._needed(found, reduced)
        if not self._is_small(needed) and not self._is_close(found, needed):
            nearest = cheapest_first(reduced, _NEAREST)
            found = self._among(nearest, found, _CLOSE, _SMALL_NODES, is_exact=False)
            needed = self._needed(found, reduced)
        is_wide = self._open(found) > self.gap
        if self._is_small(needed):
            limit = self.node_limit if is_wide else _SMALL_NODES
            return self._among(needed, found, min(self.gap, _CLOSE), limit).begun
        if is_wide:
            return self._among(needed, found, self.gap, self.node_limit).begun
        return found.begun

    def _open(self, found: Found) -> float:
        """Share of the cost between the bound and the plan."""
        open_ = found.cost - self.bound
        return open_ / abs(found.cost) if found.cost else float(open_ > 0)

    def _is_small(self, needed: Ints) -> bool:
        return needed.size * self.master.rows.count <= _SMALL

    def _dives(self, reduced: Floats) -> Found | None:
        best: Found | None = None
        for style in _STYLES:
            found = dive(self.master, style, np.inf if best is None else best.cost)
            best = best if found is None else found
            if best is not None and self._is_close(best, self._needed(best, reduced)):
                break
            self.master.program.run()
        return best

    def _needed(self, found: Found, reduced: Floats) -> Ints:
        """Starts that a plan better than `found` may begin; no other one pays."""
        return np.flatnonzero(reduced <= (found.cost - self.bound) * (1 + ROUNDING) + ROUNDING)

    def _is_close(self, found: Found, needed: Ints) -> bool:
        return self._open(found) <= (_CLOSE if needed.size <= _SOME else 2 * _CLOSE)

    def _widen(self, reduced: Floats, most: int) -> None:
        self.master.add_starts(cheapest_first(reduced, most))
        self.master.program.run()

    def _everything(self) -> Floats | None:
        """The best plan among all starts, where a dive found none."""
        master = self.master
        master.add_starts(np.arange(master.starts.cost.size))
        columns = master.continuous.count + np.arange(master.chosen.size)
        outcome = master.program.whole(columns, gap=self.gap, node_limit=self.node_limit)
        if outcome.values is None and np.isfinite(outcome.bound):  # neither found nor ruled out
            outcome = master.program.whole(columns, gap=1.0, node_limit=_UNLIMITED)
        if outcome.values is None:
            return None
        self.bound = max(self.bound, min(outcome.bound, outcome.objective))
        return _begun(master, outcome.values)

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
        own = self.master.over(np.union1d(starts, np.flatnonzero(found.begun)))
        columns = own.continuous.count + np.arange(own.chosen.size)
        outcome = own.program.whole(columns, gap=gap, node_limit=node_limit)
        if is_exact:
            self.bound = max(self.bound, min(outcome.bound, found.cost, outcome.objective))
        if outcome.values is None or outcome.objective >= found.cost:
            return found
        return Found(_begun(own, outcome.values), outcome.objective)


def _begun(master: Master, values: Floats) -> Floats:
    begun = np.zeros(master.starts.cost.size)
    begun[master.chosen] = np.round(values[master.continuous.count :])
    return begun
