"""How long servers take from order to delivery: dated quotes, recent ones weighted. PURE.

One row of `server_lead_times.csv` is one quote, of a range of weeks. A quote that is a year older
than the newest counts half as much. A quote of a year alone counts as of its middle.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import number_month
from pricing.common.tables import read_rows

Floats = NDArray[np.float64]

_TABLE = Path(__file__).with_name("server_lead_times.csv")
HALF_LIFE_MONTHS = 12.0
"""Age at which a quote counts half. Assumed: within half a year (2023-11 to 2024-04) lead times of
H100 servers fell from 36-52 to 8-12 weeks."""
WEEKS_PER_MONTH = 365.25 / 12.0 / 7.0


def quoted_lead_months(normal: Floats) -> Floats:
    """Months from order to delivery where the standard normal draws are `normal`.

    >>> quoted_lead_months(np.array([-1.2816, 0.0, 1.2816])).round().tolist()
    [2.0, 7.0, 11.0]
    """
    return np.asarray(np.interp(normal, *_distribution()))


@cache
def _distribution() -> tuple[Floats, Floats]:
    """Normal deviates, and months that are reached at each: of the quotes by weight, and of a quote
    evenly over its range."""
    rows = list(read_rows(_TABLE))
    quoted = np.array([_month(row["quoted"]) for row in rows])
    low, high = (np.array([float(row[end]) for row in rows]) for end in ("weeks_low", "weeks_high"))
    weight = 0.5 ** ((quoted.max() - quoted) / HALF_LIFE_MONTHS)
    weeks = np.arange(low.min() - 1.0, high.max() + 1.0)
    reached = np.clip((weeks[:, None] - low + 1.0) / (high - low + 1.0), 0.0, 1.0)
    shares = np.clip(reached @ weight / weight.sum(), 1e-6, 1.0 - 1e-6)
    deviates = np.array([NormalDist().inv_cdf(share) for share in shares.tolist()])
    return deviates, weeks / WEEKS_PER_MONTH


def _month(quoted: str) -> int:
    year, _, month = quoted.partition("-")
    return number_month(int(year), int(month or 6))
