"""Time, tax and money: discounting, annuities, depreciation. PURE.

Conventions: cash falls at the start of its month, month 0 is the start; rates are fractions
per year; costs are positive, receipts negative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def net_present_cost(amounts: ArrayLike, rate_per_year: float) -> float:
    """Σ amount_t · (1 + r)^(−t / 12) over months t = 0, 1, …; at r = 0 the plain sum.

    >>> net_present_cost([100.0, 0.0, 50.0], 0.0)
    150.0
    """
    flows = np.asarray(amounts, dtype=np.float64)
    return float(flows @ discount_factors(rate_per_year, len(flows)))


def capital_recovery_factor(rate_per_year: float, years: float) -> float:
    """Yearly payment, at each year's end, that repays 1 over `years`: r / (1 − (1 + r)^−years).

    >>> round(capital_recovery_factor(0.10, 5), 6), capital_recovery_factor(0.0, 5)
    (0.263797, 0.2)
    """
    if rate_per_year == 0:
        return 1.0 / years
    return rate_per_year / -math.expm1(-years * math.log1p(rate_per_year))


def annual_levelised_cost_per_hour(
    capex: float,
    residual: float,
    running_cost_per_year: float,
    hours_per_year: float,
    rate_per_year: float,
    years: float,
) -> float:
    """[CRF · (capex − residual · (1 + r)^−years) + running cost] / hours, per hour of use.

    The yearly textbook form; a scenario's own levelised cost comes from its monthly lines.

    >>> round(annual_levelised_cost_per_hour(300_000, 0, 40_000, 8 * 8760, 0.0, 5), 4)
    1.4269
    """
    present = capex - residual * (1.0 + rate_per_year) ** -years
    annuity = capital_recovery_factor(rate_per_year, years) * present
    return float((annuity + running_cost_per_year) / hours_per_year)


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


def macrs_deductions(basis: float) -> tuple[float, ...]:
    """Deductions of tax years 1 to 6 on `basis`.

    >>> macrs_deductions(250_000)
    (50000.0, 80000.0, 48000.0, 28800.0, 28800.0, 14400.0)
    """
    return tuple(round(basis * rate, 10) for rate in MACRS_5_RATES)


def tax_shield(deductions: Sequence[float], tax_rate: float, rate_per_year: float = 0.0) -> float:
    """Present value of the tax saved by monthly `deductions`: τ · Σ deduction_t · (1 + r)^(−t/12).

    >>> tax_shield([50.0, 50.0], 0.25)
    25.0
    """
    return tax_rate * net_present_cost(deductions, rate_per_year)
