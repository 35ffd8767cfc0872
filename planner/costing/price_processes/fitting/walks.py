"""Fit of market rents and hardware prices: drift and volatility of a random walk. PURE."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from planner.costing.price_processes.fitting.shrinkage import cells, levels
from planner.costing.price_processes.process import PriceKind, PriceProcess

PRIOR_DRIFT = {PriceKind.MARKET: -0.15, PriceKind.HARDWARE: -0.43}
"""Before any history. Rents: 15 % a year, about half of the gain of performance per dollar of
accelerators (Epoch AI: 10^0.14 a year). Hardware: it keeps 65 % of its value a year, as
published guides to residual values have it (`assumptions/defaults_of_edition_1.csv`)."""
PRIOR_SD = {PriceKind.MARKET: 0.4, PriceKind.HARDWARE: 0.6}
"""Before any history: sd of a year's move around the drift."""
TREND_SHARE = 0.35
"""Share of the variance of a year's move that is persistent drift, not shock: 24-month moves
of hardware vary 2.5 times as much as 12-month ones from the same origins; a pure walk says 2, a
pure trend 4, this share 2.7."""
DRIFT_LAG = 6
"""Months from which a move says something of the drift."""
GENERAL_WIDENING = 1.25


def fit_kind(lagged: pd.DataFrame, kind: PriceKind) -> dict[tuple[PriceKind, str], PriceProcess]:
    """Processes of all scopes of one kind.

    A calendar year counts once in drift and variance: all rents and cards share its market.
    """
    moves = _longest(lagged[(lagged.kind == kind) & (lagged.lag <= 12)])
    moves["years"] = moves.months / 12.0
    long = moves[moves.lag >= DRIFT_LAG]
    drifts = levels(long, "move", PRIOR_DRIFT[kind], ["year_seen"], size="years")
    expected = moves.family.map(lambda f: drifts.get(f"family:{f}", drifts["general"]))
    rest = moves.move - expected.astype(float) * moves.years
    moves["variance"] = rest**2 / _variance_growth(moves.years)
    variances = levels(moves, "variance", PRIOR_SD[kind] ** 2, ["year_seen"], weight=5.0)
    counts = cells(moves)
    return {
        (kind, scope): _process(
            kind, scope, drifts.get(scope, drifts["general"]), variance, counts[scope]
        )
        for scope, variance in variances.items()
    }


def _variance_growth(years: pd.Series) -> pd.Series:
    """Variance after t years over that of one: p t² + (1 − p) t."""
    return TREND_SHARE * years**2 + (1.0 - TREND_SHARE) * years


def _process(
    kind: PriceKind, scope: str, drift: float, variance: float, cells: int
) -> PriceProcess:
    wide = GENERAL_WIDENING if scope == "general" else 1.0
    return PriceProcess(
        family="",
        kind=kind,
        tier="",
        drift=drift,
        drift_sd=wide * math.sqrt(TREND_SHARE * variance),
        shock_sd=wide * math.sqrt((1.0 - TREND_SHARE) * variance),
        cells=cells,
    )


def _longest(moves: pd.DataFrame) -> pd.DataFrame:
    """The moves of the longest lag that each series has; monthly noise says little of years."""
    rows = moves.assign(year_seen=moves.end // 12)
    longest = rows.groupby("series").lag.transform("max")
    return rows[np.asarray(rows.lag == longest)]
