"""What a server fetches when it is sold. PURE."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.assumptions.editions import IN_PLACE_RULES

Floats = NDArray[np.float64]
CAPPED_RESALE = 2
"""Edition in which no server is sold for more than a new one costs."""
LEFT_IN_PLACE = 2
"""Edition in which what servers in place fetch is counted in no plan."""


def counts_in_place(assumptions: Assumptions) -> bool:
    """Whether what servers in place fetch is an income of each plan: they are there whatever is
    decided, and what they are worth at the start is no cost of it."""
    return assumptions.rules < IN_PLACE_RULES or assumptions["in_place_edition"] < LEFT_IN_PLACE


def resale_value(
    unit_price: float, months: float | Floats | NDArray[np.int64], assumptions: Assumptions
) -> Floats:
    """What a server fetches so many months after its purchase, less what the sale costs:
    P · residual_rate ^ (months / 12) · (1 − resale_cost_rate)."""
    share = assumptions["residual_rate"] ** (np.asarray(months) / 12.0)
    return np.asarray(unit_price * share * (1.0 - assumptions["resale_cost_rate"]))


def sale_value(
    unit_price: float,
    months: NDArray[np.int64],
    bought: NDArray[np.int64],
    assumptions: Assumptions,
) -> Floats:
    """What a server bought in month `bought` fetches so many months later, of its price of then
    (of today where it is there already), and no more than a new one costs on that day."""
    trend = 1.0 + assumptions["server_price_trend_per_year"]
    value = resale_value(unit_price, months, assumptions) * trend ** (np.maximum(bought, 0) / 12.0)
    if assumptions["resale_edition"] < CAPPED_RESALE or not assumptions.is_level:
        return np.asarray(value)
    new: Floats = unit_price * trend ** (np.maximum(bought + months, 0) / 12.0)
    return np.asarray(np.minimum(value, new * (1.0 - assumptions["resale_cost_rate"])))
