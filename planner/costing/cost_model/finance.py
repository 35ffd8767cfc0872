"""Time, tax and money: discounting, annuities, depreciation. PURE.

Conventions: cash falls at the start of its month, month 0 is the start; rates are fractions
per year; costs are positive, receipts negative.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Depreciation = Literal["straight_line", "macrs_5", "none"]

MACRS_5_RATES = (0.20, 0.32, 0.192, 0.1152, 0.1152, 0.0576)
"""Deductions of tax years 1 to 6, fractions of the basis: 5-year property, half-year
convention, 200 % declining balance. Source: IRS Publication 946 (2024), table A-1."""


@lru_cache(maxsize=256)
def discount_factors(rate_per_year: float, months: int) -> Floats:
    """[months] present value of 1 in month t: (1 + r)^(−t / 12); read-only.

    >>> discount_factors(0.21, 13)[[0, 6, 12]].round(6).tolist()
    [1.0, 0.909091, 0.826446]
    """
    return _read_only((1.0 + rate_per_year) ** (-np.arange(months) / 12.0))


@lru_cache(maxsize=256)
def trend_factors(change_per_year: float, months: int) -> Floats:
    """[months] factor on a price in month t: (1 + g)^(t / 12); read-only.

    >>> trend_factors(-0.19, 13)[[0, 6, 12]].round(4).tolist()
    [1.0, 0.9, 0.81]
    """
    return _read_only((1.0 + change_per_year) ** (np.arange(months) / 12.0))


def _read_only(values: Floats) -> Floats:
    values.setflags(write=False)
    return values


@lru_cache(maxsize=64)
def depreciation_shares(method: Depreciation, life_months: int) -> tuple[float, ...]:
    """Share of the basis written off in each month of service; they sum to 1.

    Straight line spreads it evenly over the useful life; MACRS takes each tax year's rate in
    twelve equal parts, over six tax years whatever the useful life; `none` writes nothing off.

    >>> depreciation_shares("straight_line", 4)
    (0.25, 0.25, 0.25, 0.25)
    >>> [round(12 * s, 4) for s in depreciation_shares("macrs_5", 60)[::12]]
    [0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576]
    """
    if method == "straight_line":
        return (1.0 / life_months,) * life_months
    if method == "macrs_5":
        return tuple(rate / 12.0 for rate in MACRS_5_RATES for _ in range(12))
    return ()
