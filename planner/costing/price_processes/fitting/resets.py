"""Fit of spot: its usual discount, how often it is set anew, and how far. PURE."""

from __future__ import annotations

import math

import pandas as pd

from planner.costing.price_processes.fitting.shrinkage import cells, levels, shrink
from planner.costing.price_processes.process import PriceKind, PriceProcess

LAG = 12
PRIOR_DISCOUNT = math.log(0.19)
"""Before any history: the middle, by logarithm, of the discounts of 60 to 91 % that GCP
announces for spot; AWS and Azure announce up to 90 %."""
BORROWED_YEARS = 12.0
"""Provider-years of the level above, and before that of what is believed before any history, that
count as much as a family's own resets: a provider sets all its prices at once, so that even many
of them tell of few cases."""
PRIOR_SD = 0.45
"""Before any history: τ; with it p10 to p90 of the discount are about the announced 60 to 91 %."""
PRIOR_RESET = 0.6
"""Before any history: share of spot prices that are set anew within a year. Assumed."""
RESET = 0.05
"""|ln| from which a year's move is a reset and not one of many small ones."""
SMALL = RESET
"""Cap on the steps of a month that count as small moves: what lies above is a reset."""
GENERAL_WIDENING = 1.25
"""Factor on the sds for accelerators about which nothing is known."""
UNSURE_YEARS = 1.5
"""Provider-years of resets of its own after which a family's usual discount is known twice as
well; a family that takes the process of its tier has none."""
_CASE = ["provider", "year_seen"]
"""All families and regions of a provider in a year count once: it sets them together."""


def fit_kind(
    lagged: pd.DataFrame, observations: pd.DataFrame
) -> dict[tuple[PriceKind, str], PriceProcess]:
    """Processes of all scopes of spot: of every family with a price, if only by its tier."""
    known = observations[(observations.kind == PriceKind.SPOT) & observations.discount.notna()]
    known = known.assign(year_seen=known.month // 12)
    spot = lagged[lagged.kind == PriceKind.SPOT].assign(year_seen=lagged.end // 12)
    moves = spot[spot.lag == LAG]
    after = _after_resets(moves)
    usual = levels(after, "discount", PRIOR_DISCOUNT, _CASE, weight=BORROWED_YEARS)
    variances = _variances(after, usual)
    share = _reset_share(moves)
    small = _small_sd(spot[spot.lag == 1])
    counts, resets = cells(known), cells(after)
    processes = {}
    for scope, above in _scopes(known).items():
        own = resets.get(scope, 0) if scope.startswith("family:") else 0
        unsure = 1.0 + UNSURE_YEARS / (own + UNSURE_YEARS)
        wide = GENERAL_WIDENING if scope == "general" else 1.0
        nearest = next(name for name in (scope, above, "general") if name in usual)
        processes[PriceKind.SPOT, scope] = PriceProcess(
            family="",
            kind=PriceKind.SPOT,
            tier="",
            resets_per_year=-math.log1p(-share),
            usual_discount=usual[nearest],
            discount_sd=wide * math.sqrt(variances[nearest] * unsure),
            shock_sd=wide * small,
            cells=counts[scope],
        )
    return processes


def _scopes(known: pd.DataFrame) -> dict[str, str]:
    """Every scope in which a price is known → the one above it."""
    pairs = known[["tier", "family"]].drop_duplicates()
    above = {"general": "general"}
    above |= {f"tier:{tier}": "general" for tier in pairs.tier}
    return above | {
        f"family:{family}": f"tier:{tier}"
        for tier, family in zip(pairs.tier, pairs.family, strict=True)
    }


def _after_resets(moves: pd.DataFrame) -> pd.DataFrame:
    """Discounts to which prices were set anew: only these tell where a reset leads. Where a price
    stands that was never set anew tells of its first price alone."""
    after = moves[moves.move.abs() > RESET]
    after = after.assign(discount=after.discount + after.move)
    return after[after.discount.notna()]


def _reset_share(moves: pd.DataFrame) -> float:
    """Share of prices that are set anew within a year; every provider and year counts once."""
    reset = (moves.move.abs() > RESET).groupby([moves.provider, moves.year_seen]).mean()
    return shrink(float(reset.sum()), len(reset), PRIOR_RESET)


def _variances(after: pd.DataFrame, usual: dict[str, float]) -> dict[str, float]:
    """τ² of every scope: of levels after a reset, around the usual discount of the family."""
    middle = after.family.map(lambda family: usual[f"family:{family}"]).astype(float)
    rows = after.assign(square=(after.discount - middle) ** 2)
    return levels(rows, "square", PRIOR_SD**2, _CASE, weight=BORROWED_YEARS)


def _small_sd(moves: pd.DataFrame) -> float:
    """Standard deviation of a year of small moves, from the moves of a month."""
    capped = moves.move.abs().clip(upper=SMALL) ** 2
    cases = capped.groupby([moves.provider, moves.year_seen]).mean()
    return math.sqrt(12.0 * shrink(float(cases.sum()), len(cases), 0.03**2))
