"""Shrinkage of cell means towards the level above. PURE."""

from __future__ import annotations

import numpy as np
import pandas as pd

BORROWED_CELLS = 3.0
"""k: the level above counts as much as three cells of a family's own."""


def shrink(total: float, cells: float, above: float, weight: float = BORROWED_CELLS) -> float:
    """(total + k · above) / (cells + k).

    >>> shrink(total=0.0, cells=3, above=0.4)
    0.2
    """
    return (total + weight * above) / (cells + weight)


def levels(
    rows: pd.DataFrame,
    value: str,
    prior: float,
    once: list[str],
    size: str = "",
    weight: float = BORROWED_CELLS,
) -> dict[str, float]:
    """Estimate of every scope: general, tier by tier, family by family.

    `once` names what makes a case of its own: rows that agree in it count as one, their mean.
    With `size`, estimates are Σ value / Σ size, in units of size.
    """
    estimates = {"general": _level(rows, value, prior, once, size, weight)}
    for tier, of_tier in rows.groupby("tier"):
        middle = _level(of_tier, value, estimates["general"], once, size, weight)
        estimates[f"tier:{tier}"] = middle
        for family, own in of_tier.groupby("family"):
            estimates[f"family:{family}"] = _level(own, value, middle, once, size, weight)
    return estimates


def _level(
    rows: pd.DataFrame, value: str, above: float, once: list[str], size: str, weight: float
) -> float:
    cases = rows.groupby(once)
    length = float(cases[size].mean().sum()) if size else float(len(cases))
    return shrink(float(cases[value].mean().sum()), length, above, weight)


def cells(rows: pd.DataFrame) -> dict[str, int]:
    """Providers × years of every scope."""
    counts = {"general": _cells(rows)}
    counts |= {f"tier:{tier}": _cells(own) for tier, own in rows.groupby("tier")}
    counts |= {f"family:{family}": _cells(own) for family, own in rows.groupby("family")}
    return counts


def _cells(rows: pd.DataFrame) -> int:
    return len(rows[["provider", "year_seen"]].drop_duplicates())


def weighted_sd(values: np.ndarray, prior: float, weight: float = BORROWED_CELLS) -> float:
    """√((Σ v² + k · prior²) / (n + k)).

    >>> weighted_sd(np.array([0.0, 0.0, 0.0]), 0.2) ** 2
    0.020000000000000004
    """
    return float(np.sqrt(shrink(float((values**2).sum()), len(values), prior**2, weight)))
