"""Larger machines that cost by accelerator what a small one does. PURE."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from planner.costing.inputs.dominance import TIE, EligibleOffers, Floats


def find_larger_nodes(
    offers: EligibleOffers, entries: Collection[int], data_cost: Floats, peak: float
) -> dict[int, int]:
    """Hourly entries → the largest machine of the same place, option and accelerator whose price
    is a whole multiple of theirs, up to the peak; those without one are left out."""
    table, rows = offers.table, offers.rows
    larger: dict[int, int] = {}
    for small in entries:
        same = (offers.option == offers.option[small]) & (
            offers.accelerator == offers.accelerator[small]
        )
        for column in (table.provider, table.region):
            same &= column.codes[rows] == column.codes[rows[small]]
        parts = offers.capacity / offers.capacity[small]
        same &= (parts > 1.5) & (np.abs(parts - np.round(parts)) < TIE)
        same &= offers.capacity <= peak * (1 + TIE)
        for cost in (offers.usd_per_hour / parts, data_cost):
            same &= np.abs(cost - cost[small]) <= TIE * np.abs(cost[small])
        same &= offers.quotas == offers.quotas[small]
        if same.any():
            larger[small] = int(np.flatnonzero(same)[offers.capacity[same].argmax()])
    return larger
