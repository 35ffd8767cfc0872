"""Larger machines that cost by accelerator what a small one does. PURE."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from planner.costing.inputs.dominance import TIE, EligibleOffers, Floats, Rows


def find_larger_nodes(
    offers: EligibleOffers, entries: Collection[int], data_cost: Floats, peak: float
) -> dict[int, int]:
    """Hourly entries → the largest machine of the same place, option and accelerator whose price
    is a whole multiple of theirs, up to the peak; those without one are left out."""
    place = offers.table.place_codes[offers.rows]
    alike: dict[tuple[int, int], Rows] = {}
    larger: dict[int, int] = {}
    for small in entries:
        kind = int(offers.option[small]), int(offers.accelerator[small])
        if kind not in alike:
            is_alike = (offers.option == kind[0]) & (offers.accelerator == kind[1])
            alike[kind] = np.flatnonzero(is_alike & (offers.capacity <= peak * (1 + TIE)))
        same = alike[kind]
        same = same[(place[same] == place[small]) & (offers.quotas[same] == offers.quotas[small])]
        parts = offers.capacity[same] / offers.capacity[small]
        is_equal = (parts > 1.5) & (np.abs(parts - np.round(parts)) < TIE)
        pairs = (
            (offers.usd_per_hour[same] / parts, offers.usd_per_hour[small]),
            (data_cost[same], data_cost[small]),
        )
        for cost, small_cost in pairs:
            is_equal &= np.abs(cost - small_cost) <= TIE * np.abs(small_cost)
        same = same[is_equal]
        if same.size:
            larger[small] = int(same[offers.capacity[same].argmax()])
    return larger
