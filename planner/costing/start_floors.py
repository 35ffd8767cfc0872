"""What the units cost at least that have to be started. PURE.

In a month in which nothing can be rented the peak P takes capacity in service that was started:

    Σ capacity · started ≥ P        over the starts whose units serve that month

A worth w ≥ 0 of each such month, so that the months that a start serves are together worth no more
than its cost by reference accelerator, bounds what starts cost, in fractions of units too:

    Σ cost · started ≥ Σ P · w

(weak duality of linear programmes). The months are given their worth one by one, the highest peak
first, each as much as the starts that serve it have left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.problem import CommitmentOption, Floats


def least_started(
    units: Sequence[CommitmentOption], peak: Floats, needed: NDArray[np.bool_]
) -> float:
    """What units cost at least to start so that those in service hold the `peak` [T] in the months
    `needed` [T]; −∞ where a start earns money, ∞ where none serves one of these months.

    >>> from dataclasses import replace
    >>> year = CommitmentOption("year", False, 8.0, 8.0, 0, 2, np.array([90.0, 80.0, 70.0]),
    ...     np.zeros(3), 730.0, None, np.zeros(3), np.zeros(3))
    >>> every = np.ones(3, dtype=bool)
    >>> least_started([year], np.array([8.0, 8.0, 16.0]), every)
    230.0
    >>> least_started([replace(year, lead_months=1)], np.full(3, 8.0), every)
    inf
    """
    if any((unit.start_cost < 0).any() for unit in units):
        return -np.inf
    left = [unit.start_cost / unit.capacity for unit in units]
    already_there = np.zeros(peak.size, dtype=bool)
    for unit in units:
        if unit.existing is not None:
            already_there |= unit.existing > 0
    months = np.flatnonzero(needed & (peak > 0) & ~already_there)
    total = 0.0
    for month in months[np.argsort(-peak[months], kind="stable")].tolist():
        serving = [_starts_serving(unit, month) for unit in units]
        costs = [cost[starts] for cost, starts in zip(left, serving, strict=True)]
        worth = min((float(cost.min(initial=np.inf)) for cost in costs), default=np.inf)
        if np.isinf(worth):
            return np.inf
        total += float(peak[month]) * worth
        for cost in costs:
            cost -= worth
    return total


def months_served(unit: CommitmentOption) -> NDArray[np.bool_]:
    """[T] months in which units may be in service: in place, or started early enough."""
    months = unit.start_cost.size
    starts = np.flatnonzero(np.isfinite(unit.start_cost)) + unit.lead_months
    change = np.zeros(months + 1)
    np.add.at(change, np.minimum(starts, months), 1.0)
    np.subtract.at(change, np.minimum(starts + unit.duration_months, months), 1.0)
    served = change.cumsum()[:-1] > 0
    return served if unit.existing is None else served | (unit.existing > 0)


def _starts_serving(unit: CommitmentOption, month: int) -> slice:
    """Months in which a unit may be started that is in service in a month."""
    last = month - unit.lead_months
    return slice(max(last - unit.duration_months + 1, 0), max(last + 1, 0))
