"""How well the processes foretell: rolling origin, families and years held out. PURE.

Every move of 6, 12 or 24 months is scored by a fit on the prices seen before the quarter of its
origin. Beside ours stand "no change" and a random walk with the drift and volatility of the
family's earlier steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from planner.costing.price_processes.families import Family, Tier
from planner.costing.price_processes.fitting.fit import Fit, fit
from planner.costing.price_processes.fitting.moves import Moves
from planner.costing.price_processes.fitting.steps import CHANGE
from planner.costing.price_processes.process import Floats, PriceKind

SCORED_LAGS = (6, 12, 24)
LOW, HIGH = 0.1, 0.9
QUARTER = 3
DRAWS = 4096
_GRID = 100
"""Quantiles that stand for a distribution in its CRPS."""
_GROUP = ["kind", "family", "tier", "year", "months", "discount"]
_DISCOUNT_STEP = 0.1
"""Spot prices are scored with their discount to the nearest tenth of its logarithm."""
_FACTS = ["kind", "family", "tier", "provider", "option", "fitted", "series"]
_FACTS += ["lag", "origin", "end", "move"]
Walks = dict[tuple[str, str], tuple[float, float]]
"""Drift and sd per month by kind and family; family "" is the whole kind."""
NO_STEPS = (0.0, 0.05)
"""Of a random walk before any history."""
FitBefore = Callable[[int, str], Fit]
"""Fit for the moves of a family whose origins lie in the quarter that begins with a month."""


def rolling_origin(moves: Moves) -> pd.DataFrame:
    """Every move, by a fit on what was known before the quarter of its origin."""
    return score(moves, fits_on(moves))


def families_held_out(moves: Moves, families: Iterable[str]) -> pd.DataFrame:
    """Moves of some families, by fits that saw nothing of the family at any time."""
    parts = []
    for family in families:
        own = moves.lagged[moves.lagged.family == family]
        parts.append(score(replace(moves, lagged=own), lambda month, name: fit(moves, month, name)))
    return pd.concat(parts, ignore_index=True)


def last_year_held_out(moves: Moves) -> pd.DataFrame:
    """Moves that end within a year of the last price, by one fit on what stood before it."""
    start = int(moves.levels.month.max()) - 11
    late = moves.lagged[moves.lagged.end >= start]
    one = fit(moves, start)
    return score(replace(moves, lagged=late), lambda month, _: one)


def fits_on(moves: Moves) -> FitBefore:
    """Fits on what `moves` knew before a quarter."""
    return lambda month, _: fit(moves, month)


def unseen(known: Moves, new: Moves) -> Moves:
    """Moves of `new` that `known` does not have: later ones, and those of other series.

    The rival walks take their steps from `known`.
    """
    keys = ["kind", "provider", "place", "machine", "option", "lag", "origin"]
    both = new.lagged.merge(
        known.lagged[keys].drop_duplicates(), on=keys, how="left", indicator=True
    )
    return Moves(both[both._merge == "left_only"], known.steps, known.levels)


def score(moves: Moves, fit_before: FitBefore) -> pd.DataFrame:
    """A row for each move: whether p10 to p90 held it, its CRPS, and those of the rivals.

    `held` counts a move inside where p10 ≤ move ≤ p90. `mass` is the share of it that a
    calibrated forecast with a chance of no change has inside, 0.8 on average: where no change is
    itself a forecast of 85 %, it lies partly within the middle 80 % and partly outside.
    """
    rows = moves.lagged[moves.lagged.lag.isin(SCORED_LAGS)].copy()
    rows["move"] = rows.move.where(rows.move.abs() > CHANGE, 0.0)
    rows["quarter"] = rows.origin // QUARTER * QUARTER
    rows["discount"] = (rows.discount / _DISCOUNT_STEP).round() * _DISCOUNT_STEP
    parts = []
    for _, of_quarter in rows.groupby("quarter"):
        month = int(of_quarter.quarter.iloc[0])
        walk = _random_walks(moves.steps[moves.steps.end < month])
        used = fit_before(month, str(of_quarter.family.iloc[0]))
        parts += [
            _scored(group, used, walk) for _, group in of_quarter.groupby(_GROUP, dropna=False)
        ]
    return pd.concat(parts, ignore_index=True) if parts else rows.assign(held=[])


def _scored(group: pd.DataFrame, used: Fit, walks: Walks) -> pd.DataFrame:
    first = group.iloc[0]
    kind, months = PriceKind(first.kind), float(first.months)
    family = Family(first.family, Tier(first.tier), int(first.year))
    process = used.find(kind, family, 1970.0 + first.quarter / 12.0)
    if not math.isnan(first.discount):
        process = replace(process, discount=float(first.discount))
    draws = process.sorted_log_factors(months, DRAWS)
    moves = group.move.to_numpy()
    inside, mass = _inside(draws, moves)
    drift, sd = walks.get((kind, first.family), walks.get((kind, ""), NO_STEPS))
    mean, spread = drift * months, max(sd * math.sqrt(months), 1e-6)
    ours = group[_FACTS]
    return ours.assign(
        held=inside,
        mass=mass,
        crps=_crps(draws, moves),
        width=draws[int(HIGH * len(draws))] - draws[int(LOW * len(draws))],
        no_change=group.move.abs(),
        walk_crps=_normal_crps((group.move.to_numpy() - mean) / spread) * spread,
        walk_held=(group.move - mean).abs() <= 1.2816 * spread + CHANGE,
    )


def _inside(draws: Floats, moves: Floats) -> tuple[np.ndarray, Floats]:
    """Whether each move lies in p10 to p90, and the share of its mass that does."""
    n = len(draws)
    below = np.searchsorted(draws, moves - 1e-9, side="left") / n
    up_to = np.searchsorted(draws, moves + 1e-9, side="right") / n
    within = np.minimum(up_to, HIGH) - np.maximum(below, LOW)
    atom = up_to - below
    mass = np.where(atom > 1.5 / n, np.maximum(within, 0.0) / np.maximum(atom, 1e-12), within >= 0)
    low, high = draws[int(LOW * n)], draws[int(HIGH * n)]
    return (moves >= low - CHANGE) & (moves <= high + CHANGE), mass


def _crps(draws: Floats, moves: Floats) -> Floats:
    """E |X − x| − ½ E |X − X'| over a grid of quantiles of X."""
    n = len(draws)
    grid = draws[((np.arange(_GRID) + 0.5) / _GRID * n).astype(int)]
    rank = 2.0 * np.arange(_GRID) - _GRID + 1.0
    own = float((rank * grid).sum()) / _GRID**2
    return np.asarray(np.abs(moves[:, None] - grid).mean(axis=1) - own)


def _random_walks(steps: pd.DataFrame) -> Walks:
    walks: Walks = {}
    for keys in (["kind"], ["kind", "family"]):
        for key, own in steps.groupby(keys):
            months = float(own.months.sum())
            if months >= 24:
                drift = float(own.move.sum()) / months
                rest = own.move - drift * own.months
                name = (str(key[0]), str(key[1]) if len(key) > 1 else "")
                walks[name] = (drift, math.sqrt(float((rest**2).sum()) / months))
    return walks


def _normal_crps(z: Floats) -> Floats:
    """CRPS of a standard normal forecast (Gneiting and Raftery 2007, equation 21)."""
    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    below = 0.5 * (1.0 + np.vectorize(math.erf)(z / math.sqrt(2.0)))
    return np.asarray(z * (2.0 * below - 1.0) + 2.0 * density - 1.0 / math.sqrt(math.pi))


def table(scores: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Coverage and errors by `keys`: a row a group, moves of all its series and origins."""
    rows = scores.assign(cell=scores.provider + (scores.end // 12).astype(str))
    groups = rows.groupby(keys)
    return groups.agg(
        series=("series", "nunique"),
        moves=("move", "size"),
        cells=("cell", "nunique"),
        held=("held", "mean"),
        mass=("mass", "mean"),
        unchanged=("move", lambda moves: float((moves == 0).mean())),
        crps=("crps", "mean"),
        no_change=("no_change", "mean"),
        walk_crps=("walk_crps", "mean"),
        walk_held=("walk_held", "mean"),
    ).reset_index()
