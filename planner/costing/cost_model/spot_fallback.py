"""The offer on demand that stands in for a spot machine while it is not there. PURE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.labels import name_offer
from planner.contract.purchase_options import ON_DEMAND
from planner.costing.cost_model.capacity_source import CapacitySource


@dataclass(frozen=True)
class Fallback:
    """On demand in the place of an hour of a spot machine."""

    price_per_hour: float
    """Of as many reference accelerators as the spot machine has, money an hour."""
    priced_as: str = ""
    """Which offer that is the price of, where, and how many of it."""
    by_month: NDArray[np.float64] | None = None
    """Factor on it in each month, as of that offer; None: none."""


def cheapest_on_demand(rentals: Iterable[CapacitySource], months: int) -> CapacitySource | None:
    """The offer on demand that is cheapest over the `months` of a plan for an hour of the reference
    accelerator and may be rented in all of them; None without one. `rentals` are those that the
    limits of the request admit."""
    return min(
        (
            rental
            for rental in rentals
            if rental.purchase_option in ON_DEMAND and rental.capacity and rental.available is None
        ),
        key=lambda rental: (rental.mean_price(months) / rental.capacity, rental.key),
        default=None,
    )


def fall_back(spot: CapacitySource, cheapest: CapacitySource | None) -> Fallback | None:
    """What a spot machine falls back to, by the price of the `cheapest` offer on demand."""
    if cheapest is None:
        return None
    machines = spot.capacity / cheapest.capacity
    count = "" if abs(machines - 1.0) < 1e-9 else f"{machines:.4g} × "
    price = cheapest.price_per_hour / cheapest.capacity * spot.capacity
    words = f"priced as {count}{name_offer(cheapest.label, cheapest.provider)}"
    return Fallback(price, words, cheapest.price_by_month)
