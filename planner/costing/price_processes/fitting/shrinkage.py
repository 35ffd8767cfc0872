"""Shrinkage of cell means towards the level above. PURE."""

from __future__ import annotations

import numpy as np
import pandas as pd

BORROWED_CELLS = 3.0
"""k: the level above counts as much as three cells of a family's own."""


def shrink(total: float, cells: float, above: float, weight: float = BORROWED_CELLS) -> float:
    """(total + k · above) / (cells + k).

    >>> shrink(total=0.0, cells=3, above=0.5)
    0.25
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
    sized = rows.assign(size=rows[size] if size else 1.0, value=rows[value])[
        ["tier", "family", *once, "value", "size"]
    ]
    whole = sized.groupby(once)[["value", "size"]].mean().sum()
    general = shrink(float(whole["value"]), float(whole["size"]), prior, weight)
    estimates = {"general": general}
    for (name,), value_sum, size_sum in _sums(sized, ["tier"], once):
        estimates[f"tier:{name}"] = shrink(value_sum, size_sum, general, weight)
    for (tier, family), value_sum, size_sum in _sums(sized, ["tier", "family"], once):
        above = estimates[f"tier:{tier}"]
        estimates[f"family:{family}"] = shrink(value_sum, size_sum, above, weight)
    return estimates


def _sums(
    rows: pd.DataFrame, scope: list[str], once: list[str]
) -> list[tuple[tuple[str, ...], float, float]]:
    """Σ value and Σ size over the cases of each scope."""
    cases = rows.groupby([*scope, *once])[["value", "size"]].mean()
    sums = cases.groupby(level=scope).sum()
    keys = [key if isinstance(key, tuple) else (key,) for key in sums.index]
    return list(zip(keys, sums["value"].tolist(), sums["size"].tolist(), strict=True))


def cells(rows: pd.DataFrame) -> dict[str, int]:
    """Providers × years of every scope."""
    years = rows[["tier", "family", "provider", "year_seen"]].drop_duplicates()
    of_tier = years.drop_duplicates(["tier", "provider", "year_seen"])
    counts = {"general": len(years.drop_duplicates(["provider", "year_seen"]))}
    counts |= {f"tier:{t}": int(n) for t, n in of_tier.tier.value_counts().items()}
    return counts | {f"family:{f}": int(n) for f, n in years.family.value_counts().items()}


def weighted_sd(values: np.ndarray, prior: float, weight: float = BORROWED_CELLS) -> float:
    """√((Σ v² + k · prior²) / (n + k)).

    >>> weighted_sd(np.array([1.0, 1.0, 1.0]), 1.0)
    1.0
    """
    return float(np.sqrt(shrink(float((values**2).sum()), len(values), prior**2, weight)))
