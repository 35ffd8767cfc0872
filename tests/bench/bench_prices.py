"""Price processes on the histories that come with them: coverage, errors and speed.

Every move is foretold by a fit on prices seen before its origin. Where prices seldom change, no
change alone is a forecast of far more than 80 %, and p10 to p90 of list prices hold more than
90 %. Where they do, they are judged by `mass`, which counts such a move inside by the part of
that chance that lies within the middle 80 % (see docs/price-processes.md).
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from planner.costing.price_processes.draw import draw_paths
from planner.costing.price_processes.process import (
    Family,
    Floats,
    PriceKind,
    PriceProcess,
    Scope,
    Tier,
    find_in,
    find_process,
)
from tests.bench.row import Row, processor_ms
from tests.planner.costing.price_processes.marginal import sorted_log_factors
from tools.price_processes import histories
from tools.price_processes.backtest import inside
from tools.price_processes.fit import CHANGE, fit
from tools.price_processes.histories import Moves

FAMILIES = ("h100", "a100", "l4", "v100")
JUDGED = (PriceKind.LIST, PriceKind.SPOT)
LEAST_MOVES = 20
MONTHS, SAMPLES = 36, 2000


def bench() -> list[Row]:
    """Coverage in per cent; drawing against bare random numbers."""
    known = histories.find_moves(histories.observations(histories.read()))
    rolling = score(known)
    _print("rolling origin, by family", rolling[rolling.kind != PriceKind.HARDWARE], "family")
    _print("rolling origin, by tier", rolling, "tier")
    return [*_coverage(rolling), *_errors(rolling), _speed()]


def _print(title: str, scores: pd.DataFrame, by: str) -> None:
    groups = scores[scores.fitted & (scores.lag > 6)].groupby(["kind", by, "lag"])
    means = groups[["held", "mass", "crps", "no_change"]].mean().assign(moves=groups.size())
    print(title, means[means.moves >= LEAST_MOVES].round(3).to_string(), sep="\n")


def _coverage(scores: pd.DataFrame) -> list[Row]:
    """The bar of every family and kind that has moves enough."""
    rows = []
    for (kind, family, lag), group in scores[scores.fitted].groupby(["kind", "family", "lag"]):
        if kind not in JUDGED or family not in FAMILIES or lag < 12 or len(group) < LEAST_MOVES:
            continue
        share = group.held.mean()
        if share > 0.9 and kind == PriceKind.LIST:
            share = group.mass.mean()
        name = f"{family} {kind}, {lag} months: in p10-p90"
        ok = 0.75 <= round(share, 2) <= 0.9
        rows.append(Row(name, 100 * share, 80.0, "75-90 %", bool(ok), unit="%"))
    return rows


def _errors(scores: pd.DataFrame) -> list[Row]:
    """CRPS of a kind against no change."""
    rows = []
    for kind, group in scores[scores.fitted & (scores.lag == 12)].groupby("kind"):
        if kind in JUDGED:
            ours, flat = group.crps.mean(), group.no_change.mean()
            name = f"{kind}: CRPS of 12 months beside no change"
            rows.append(Row(name, ours, flat, "<= 1.1", ours <= 1.1 * flat, unit="ln"))
    return rows


def _speed() -> Row:
    kinds = (PriceKind.LIST, PriceKind.SPOT, PriceKind.MARKET)
    slugs = ("nvidia-h100-80gb-sxm", "nvidia-a100-80gb-sxm", "nvidia-l4")
    processes = [find_process(slug, kind) for slug in slugs for kind in kinds]
    processes.append(find_process(slugs[0], PriceKind.HARDWARE))
    processes[1] = replace(processes[1], discount=-0.5)
    ours = processor_ms(lambda: draw_paths(processes, MONTHS, SAMPLES, 7), 25)
    shape = (len(processes), SAMPLES, MONTHS)
    floor = processor_ms(lambda: np.random.default_rng(7).standard_normal(shape), 25)
    return Row("2,000 samples of 36 months of 10 prices", ours, floor, "<= 10 ms", ours <= 10)


SCORED_LAGS = (6, 12, 24)
LOW, HIGH = 0.1, 0.9
QUARTER = 3
DRAWS = 4096
_GRID = 100
"""Quantiles that stand for a distribution in its CRPS."""
_GROUP = ["kind", "provider", "family", "tier", "year", "months", "discount"]
_DISCOUNT_STEP = 0.1
"""Spot prices are scored with their discount to the nearest tenth of its logarithm."""
_FACTS = ["kind", "family", "tier", "provider", "option", "fitted", "series"]
_FACTS += ["lag", "origin", "end", "move"]


def score(moves: Moves) -> pd.DataFrame:
    """A row for each move, by fits on what was known before the quarter of its origin: whether p10
    to p90 held it, and its CRPS.

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
        used = fit(moves, int(of_quarter.quarter.iloc[0]))
        parts += [_scored(group, used) for _, group in of_quarter.groupby(_GROUP, dropna=False)]
    return pd.concat(parts, ignore_index=True) if parts else rows.assign(held=[])


def _scored(group: pd.DataFrame, used: Mapping[Scope, PriceProcess]) -> pd.DataFrame:
    first = group.iloc[0]
    kind, months = PriceKind(first.kind), float(first.months)
    family = Family(first.family, Tier(first.tier), int(first.year))
    process = find_in(used, kind, family, 1970.0 + first.quarter / 12.0, first.provider)
    if not math.isnan(first.discount):
        process = replace(process, discount=float(first.discount))
    draws = sorted_log_factors(process, months, DRAWS)
    moves = group.move.to_numpy()
    held, mass = inside(draws, moves)
    return group[_FACTS].assign(
        held=held,
        mass=mass,
        crps=_crps(draws, moves),
        width=draws[int(HIGH * len(draws))] - draws[int(LOW * len(draws))],
        no_change=group.move.abs(),
    )


def _crps(draws: Floats, moves: Floats) -> Floats:
    n = len(draws)
    grid = draws[((np.arange(_GRID) + 0.5) / _GRID * n).astype(int)]
    rank = 2.0 * np.arange(_GRID) - _GRID + 1.0
    own = float((rank * grid).sum()) / _GRID**2
    return np.asarray(np.abs(moves[:, None] - grid).mean(axis=1) - own)
