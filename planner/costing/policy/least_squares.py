"""What to do at each decision date, by least squares over price paths. PURE.

At date k a position p (what is owned or signed) has moves m, each of which costs c_m until the next
date and leads to position q(m). With S_k what is known at date k, the value is

    V_k(p) = min over m of Q_m(S_k),   Q_m(S_k) = E[c_m + V_{k+1}(q(m)) | S_k],   V_K = 0

- `fit_policy` (Longstaff and Schwartz, 2001): backwards over paths, Q_m is the regression of c_m
  and of what the path then costs on polynomials of S_k. The path goes on with the least Q_m at
  what it really costs, so that errors of the fit do not add up.
- `follow` costs a policy on other paths: what any policy costs is at least the optimum.
- `bound` (Haugh and Kogan, 2004; Brown, Smith and Sun, 2010): no policy costs less than

      E[ min over all moves of Σ_k (c_m − z_m) ],   z_m = c_m + V̂(q(m)) − E[c_m + V̂(q(m)) | S_k]

  where the moves of each path are chosen with its whole future in sight. z_m is what that would be
  worth; any V̂ gives a bound, the true value a tight one. The conditional expectations are
  regressions on a richer basis, so the bound holds up to their error; on trees they are exact.
- `best_fixed` is the plan of least mean cost whose moves are all decided today.

Shapes: N paths, K dates, F figures of the state, M moves of a date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_DEGREE = 4
MOST_TERMS, MOST_BOUND_TERMS = 21, 70
"""Terms of the polynomials that a policy and its bound are fitted with, from which the degree
follows: 4 for two figures, 2 for five. More told nothing more on 2,000 paths; 2026."""
RIDGE = 1e-9
"""Share by which the squares of terms are raised, so that terms which say the same share it."""
CONSTANT_SD = 1e-9
"""Standard deviation below which a figure of the state says nothing."""


@dataclass(frozen=True)
class Move:
    """What may be done at a date in a position."""

    name: str
    start: int
    """Position in which it may be done, and `end` that to which it leads."""
    end: int
    cost: Floats
    """[N] net present, until the next date."""


@dataclass(frozen=True)
class Paths:
    """What is known, what may be done and what it costs, at each date of each path. At the first
    date all paths are in position 0 and know the same."""

    state: Sequence[Floats]
    """K times [N, F]."""
    moves: Sequence[Sequence[Move]]
    """K times the moves of all positions."""
    past: Sequence[Floats] = ()
    """K times [N, G] what else is known, which only the bound looks at."""
    is_open: Sequence[NDArray[np.bool_]] = ()
    """K times [N] whether anything is left to decide: elsewhere no move costs anything, and nothing
    is fitted. By default all are."""

    def __len__(self) -> int:
        return len(self.moves)

    @property
    def count(self) -> int:
        """N"""
        return len(self.state[0])

    def open(self, date: int) -> NDArray[np.bool_]:
        """[N] paths on which something is left to decide at a date."""
        return self.is_open[date] if self.is_open else np.full(self.count, True)

    def fit(self, date: int, known: Floats, costs: Floats, most_terms: int) -> DateFit:
        """[N, M] costs as what is known [N, F] tells them, where something is left to decide."""
        rows = self.open(date)
        if not rows.any():
            rows = np.full(self.count, True)
        known = known[rows]
        return DateFit.of(Basis.of(known, min(most_terms, len(known))), known, costs[rows])


@dataclass(frozen=True)
class Basis:
    """Polynomials of the state at one date; figures outside the range fitted count as its ends."""

    columns: NDArray[np.intp]
    """Figures that vary."""
    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    degree: int

    @classmethod
    def of(cls, state: Floats, most_terms: int) -> Basis:
        """The basis of [N, F] figures, of the highest degree with so many terms."""
        columns = np.flatnonzero(state.std(axis=0) > CONSTANT_SD)
        varying = state[:, columns]
        ends = varying.min(axis=0, initial=np.inf), varying.max(axis=0, initial=-np.inf)
        count, degrees = len(columns), range(1, MOST_DEGREE + 1)
        degree = max((d for d in degrees if comb(count + d, d) <= most_terms), default=0)
        return cls(columns, varying.mean(axis=0), varying.std(axis=0), *ends, degree)

    def terms(self, state: Floats) -> Floats:
        """[N, B] the terms of [N, F] figures.

        >>> figures = np.array([[0.0, 5.0], [2.0, 5.0]])
        >>> Basis.of(figures, 3).terms(figures).tolist()
        [[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]]
        """
        varying = np.clip(state[:, self.columns], self.low, self.high)
        varying = (varying - self.mean) / self.sd
        powers = (
            combinations_with_replacement(range(varying.shape[1]), degree)
            for degree in range(1, self.degree + 1)
        )
        products = [varying[:, list(one)].prod(axis=1) for degree in powers for one in degree]
        return np.column_stack([np.ones(len(state)), *products])


@dataclass(frozen=True)
class DateFit:
    """What each move of a date costs with all that follows, as its state tells."""

    basis: Basis
    coefficients: Floats
    """[B, M]"""

    @classmethod
    def of(cls, basis: Basis, state: Floats, costs: Floats) -> DateFit:
        """The least squares of [N, M] costs on the terms of the state."""
        terms = basis.terms(state)
        gram = terms.T @ terms
        gram[np.diag_indices_from(gram)] *= 1.0 + RIDGE  # terms of few prices are not independent
        return cls(basis, np.asarray(np.linalg.solve(gram, terms.T @ costs), np.float64))

    def predict(self, state: Floats) -> Floats:
        """[N, M]"""
        return np.asarray(self.basis.terms(state) @ self.coefficients)


@dataclass(frozen=True)
class Policy:
    """A fit for each date."""

    fits: tuple[DateFit, ...]

    def choose(self, date: int, state: Floats, moves: Sequence[Move], position: int) -> Choices:
        """The moves of least fitted cost in a position."""
        return _choose(self.fits[date].predict(state), moves, position)


@dataclass(frozen=True)
class Choices:
    """The move of least cost on each path."""

    columns: NDArray[np.intp]
    """Moves of the position."""
    pick: NDArray[np.intp]
    """[N] which of them."""
    value: Floats
    """[N] what it costs, with all that follows."""


def _choose(costs: Floats, moves: Sequence[Move], position: int) -> Choices:
    columns = np.array([i for i, move in enumerate(moves) if move.start == position], np.intp)
    own = costs[:, columns]
    pick = own.argmin(axis=1)
    return Choices(columns, pick, own[np.arange(len(own)), pick])


def fit_policy(paths: Paths, most_terms: int = MOST_TERMS) -> Policy:
    """The policy that least squares find on paths."""
    fits: list[DateFit] = []
    after: dict[int, Floats] = {}
    for date in reversed(range(len(paths))):
        moves, state = paths.moves[date], paths.state[date]
        realised = _realised(moves, after)
        fit = paths.fit(date, state, realised, most_terms)
        fits.append(fit)
        after = _go_on(fit.predict(state), realised, moves)
    return Policy(tuple(reversed(fits)))


def follow(policy: Policy, paths: Paths) -> Floats:
    """[N] what a policy costs on paths."""
    after: dict[int, Floats] = {}
    for date in reversed(range(len(paths))):
        moves = paths.moves[date]
        fitted = policy.fits[date].predict(paths.state[date])
        after = _go_on(fitted, _realised(moves, after), moves)
    return after[0]


def moves_made(policy: Policy, paths: Paths) -> list[NDArray[np.intp]]:
    """K times [N] the move made on each path, an index into the moves of the date."""
    position, made = np.zeros(paths.count, np.intp), []
    for date, moves in enumerate(paths.moves):
        fitted = policy.fits[date].predict(paths.state[date])
        move = np.zeros(paths.count, np.intp)
        for start in np.unique(position).tolist():
            choices, rows = _choose(fitted, moves, start), position == start
            move[rows] = choices.columns[choices.pick][rows]
        made.append(move)
        position = np.array([one.end for one in moves], np.intp)[move]
    return made


def bound(
    policy: Policy, fitted_on: Paths, paths: Paths, most_terms: int = MOST_BOUND_TERMS
) -> Floats:
    """[N] costs whose mean no policy goes below; the conditional expectations are those of the
    paths `fitted_on`."""
    after: dict[int, Floats] = {}
    for date in reversed(range(len(paths))):
        moves, is_last = paths.moves[date], date + 1 == len(paths)
        known, own = _all_known(fitted_on, date), _all_known(paths, date)
        values, own_values = (
            {} if is_last else _values(policy, one, date + 1) for one in (fitted_on, paths)
        )
        costs = _realised(fitted_on.moves[date], values)
        expected = fitted_on.fit(date, known, costs, most_terms).predict(own)
        ahead = [
            after[move.end] - own_values[move.end] if not is_last else np.zeros(paths.count)
            for move in moves
        ]
        penalised = (expected + np.column_stack(ahead)) * paths.open(date)[:, None]
        after = _go_on(penalised, penalised, moves)
    return after[0]


def best_fixed(paths: Paths) -> tuple[float, tuple[str, ...]]:
    """Least mean cost of moves that are all decided today, and their names."""
    after: dict[int, tuple[float, tuple[str, ...]]] = {}
    for moves in reversed(paths.moves):
        best: dict[int, tuple[float, tuple[str, ...]]] = {}
        for move in moves:
            cost, names = after.get(move.end, (0.0, ()))
            whole = float(move.cost.mean()) + cost, (move.name, *names)
            best[move.start] = min(best.get(move.start, whole), whole)
        after = best
    return after[0]


def _realised(moves: Sequence[Move], after: dict[int, Floats]) -> Floats:
    return np.column_stack([move.cost + after[move.end] if after else move.cost for move in moves])


def _go_on(costs: Floats, realised: Floats, moves: Sequence[Move]) -> dict[int, Floats]:
    rows = np.arange(len(costs))
    values = {}
    for position in sorted({move.start for move in moves}):
        choices = _choose(costs, moves, position)
        values[position] = realised[rows, choices.columns[choices.pick]]
    return values


def _values(policy: Policy, paths: Paths, date: int) -> dict[int, Floats]:
    moves = paths.moves[date]
    fitted = policy.fits[date].predict(paths.state[date]) * paths.open(date)[:, None]
    return {start: _choose(fitted, moves, start).value for start in {m.start for m in moves}}


def _all_known(paths: Paths, date: int) -> Floats:
    if not paths.past:
        return paths.state[date]
    return np.column_stack([paths.state[date], paths.past[date]])
