"""Fit of list prices and commitments: how often they change, and by how much. PURE."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.costing.price_processes.families import YOUNG_YEARS
from planner.costing.price_processes.fitting.shrinkage import shrink, weighted_sd
from planner.costing.price_processes.process import PriceKind, PriceProcess

CHANGE = 0.01
"""|ln| from which a difference is a change: smaller ones are rounding and exchange rates."""
PRIOR_CHANGES_PER_YEAR = 0.05
PRIOR_YEARS = 10.0
"""Before any history: one change in twenty years of one provider's family, held for ten."""
BORROWED_YEARS = 12.0
"""Years of the level above that count as much as a family's own."""
PRIOR_SIZE = 0.2
PRIOR_SIZE_SD = 0.8
PRIOR_SIZES = 3.0
"""Before any history: a change is about 20 % and seldom above two thirds."""
MIN_SHAPE = 0.5
GENERAL_WIDENING = 1.5
"""Factor on the highest λ of a kind, for accelerators about which nothing is known."""


def fit_kind(steps: pd.DataFrame, kind: PriceKind) -> dict[tuple[PriceKind, str], PriceProcess]:
    """Processes of all scopes; families and tiers have one for each age."""
    own = _weighted(steps[steps.kind == kind])
    size, size_sd, rise = _sizes(own)
    rates = _rates(own)
    processes = {}
    for scope, (rate, changes, cells, tier) in rates.items():
        processes[kind, scope] = PriceProcess(
            family="",
            kind=kind,
            tier=tier,
            changes_per_year=rate,
            changes_shape=max(changes, MIN_SHAPE),
            change_size=size,
            change_size_sd=size_sd,
            rise_share=rise,
            cells=cells,
        )
    return processes


def _weighted(steps: pd.DataFrame) -> pd.DataFrame:
    """Steps with their exposure in provider-years, and whether they are changes."""
    rows = steps.assign(is_change=steps.move.abs() > CHANGE)
    together = rows.groupby(["provider", "family", "end"]).move.transform("size")
    rows["weight"] = 1.0 / together
    rows["years"] = rows.months / 12.0 * rows.weight
    rows["changes"] = rows.is_change * rows.weight
    age = 1970.0 + rows.end / 12.0 - rows.year
    rows["age"] = np.where((rows.year == 0) | (age < YOUNG_YEARS), "young", "old")
    return rows


def _sizes(rows: pd.DataFrame) -> tuple[float, float, float]:
    """Median |size|, standard deviation of ln |size| and share of rises, events counted once."""
    changed = rows[rows.is_change]
    events = changed.groupby(["provider", "family", "end"]).move.median().to_numpy()
    logs = np.log(np.maximum(np.abs(events), CHANGE))
    prior = np.log(PRIOR_SIZE)
    middle = shrink(float(logs.sum()), len(logs), float(prior), PRIOR_SIZES)
    spread = weighted_sd(logs - middle, PRIOR_SIZE_SD, PRIOR_SIZES)
    rise = (float((events > 0).sum()) + 0.5) / (len(events) + 2.0)
    return float(np.exp(middle)), spread, rise


def _rates(rows: pd.DataFrame) -> dict[str, tuple[float, float, int, str]]:
    """λ, changes behind it, cells and tier of every scope."""
    changes, years = float(rows.changes.sum()), float(rows.years.sum())
    prior = PRIOR_CHANGES_PER_YEAR
    general = shrink(changes, years, prior, PRIOR_YEARS)
    rates: dict[str, tuple[float, float, int, str]] = {}
    for (tier, age), group in rows.groupby(["tier", "age"]):
        changes, years = float(group.changes.sum()), float(group.years.sum())
        middle = shrink(changes, years, general, BORROWED_YEARS)
        seen = changes + BORROWED_YEARS * general
        rates[f"tier:{tier}:{age}"] = (middle, seen, _cells(group), str(tier))
        for family, own in group.groupby("family"):
            changes, years = float(own.changes.sum()), float(own.years.sum())
            rate = shrink(changes, years, middle, BORROWED_YEARS)
            seen = changes + BORROWED_YEARS * middle
            rates[f"family:{family}:{age}"] = (rate, seen, _cells(own), str(tier))
    steepest = max([general, *(rate for rate, _, _, tier in rates.values() if tier)])
    rates["general"] = (GENERAL_WIDENING * steepest, MIN_SHAPE, _cells(rows), "")
    return rates


def _cells(rows: pd.DataFrame) -> int:
    return int((rows.provider + rows.family + (rows.end // 12).astype(str)).nunique())
