"""What an investment returns: present value, rates of return, payback. PURE.

Flows are receipts, positive, and payments, negative, at times in years from the start. Formulas:
Brealey, Myers, Allen, Principles of Corporate Finance, chapters 5 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LOWEST, _HIGHEST = -0.99, 1e4
_GRID = np.concatenate(
    [np.linspace(_LOWEST, 1.0, 400, endpoint=False), np.geomspace(1.0, _HIGHEST, 100)]
)
"""Yearly rates between which a sign change is looked for."""
_HALVINGS = 100
_HALF_A_CENT = 0.005
_SAME_MONTH = 1e-6
"""Months by which the time of a payment may be rounded."""


def present_value(flows: Floats, years: Floats, rate_per_year: float) -> float:
    """Σ flow · (1 + r)^(−years).

    >>> round(present_value(np.array([-100.0, 121.0]), np.array([0.0, 1.0]), 0.10), 6)
    10.0
    """
    return float(flows @ (1.0 + rate_per_year) ** -years)


def why_no_internal_rate(flows: Floats, years: Floats | None = None) -> str:
    """Why flows in the order of their time have no rate of return that means anything; "" where
    they have one: money is spent first, and what is received and paid after it adds up to more
    than that from some moment on, or never (Norstrom, 1972). With their times those of one month
    are added up: an instalment on its first day and a bill on its last are no change of mind.

    >>> why_no_internal_rate(np.array([-100.0, 60.0, 60.0]))
    ''
    >>> why_no_internal_rate(np.array([-100.0, 230.0, -132.0]))
    'savings turn into extra spending and back 2 times'
    >>> why_no_internal_rate(np.array([-9.0, 6.0, -5.0, 7.0]), np.array([0.0, 0.05, 0.09, 0.13]))
    ''
    """
    if years is not None:
        months = np.floor(years * 12 + _SAME_MONTH).astype(np.int64)
        flows = np.asarray(np.bincount(months - months.min(initial=0), weights=flows), float)
    signs = _sign_changes(flows)
    if not (flows < 0).any():
        return "nothing is spent that a return could be of"
    if not (flows > 0).any():
        return "nothing is ever saved"
    if flows[np.flatnonzero(flows)[0]] > 0:
        return "money is saved before any is spent, as with a loan"
    if signs > 1 and _sign_changes(np.cumsum(flows)) != 1:
        return f"savings turn into extra spending and back {signs} times"
    return ""


def _sign_changes(values: Floats) -> int:
    signs = np.sign(values[values != 0])
    return int(np.count_nonzero(signs[1:] != signs[:-1]))


def internal_rate_of_return(flows: Floats, years: Floats) -> float | None:
    """Yearly rate at which the present value is 0; None where `why_no_internal_rate` says why, and
    where there is none between −99 % and 1,000,000 %, or more than one.

    >>> rate = internal_rate_of_return(np.array([-100.0, 60.0, 60.0]), np.array([0.0, 1.0, 2.0]))
    >>> round(rate, 6)
    0.130662
    >>> internal_rate_of_return(np.array([-100.0, 230.0, -132.0]), np.array([0.0, 1.0, 2.0]))
    >>> internal_rate_of_return(np.array([10.0, 10.0]), np.array([0.0, 1.0]))
    """
    if why_no_internal_rate(flows, years):
        return None
    scale = float(np.abs(flows).sum())
    values = ((1.0 + _GRID)[:, None] ** -years[None, :]) @ (flows / scale)
    changes = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    roots = [float(_GRID[i]) for i in np.flatnonzero(values == 0)]
    if changes.size + len(roots) != 1:
        return None
    return roots[0] if roots else _bisect(flows, years, int(changes[0]))


def _bisect(flows: Floats, years: Floats, at: int) -> float:
    low, high = float(_GRID[at]), float(_GRID[at + 1])
    is_above = present_value(flows, years, low) > 0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):  # no number lies between
            return middle
        if (present_value(flows, years, middle) > 0) is is_above:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def modified_rate_of_return(
    flows: Floats, years: Floats, finance_rate: float, reinvestment_rate: float
) -> float | None:
    """(value of the receipts at the end / present value of the payments)^(1 / years) − 1; None
    without payments, receipts or time between them.

    >>> flows, years = np.array([-120.0, 39.0, 30.0, 21.0, 37.0, 46.0]), np.arange(6.0)
    >>> round(modified_rate_of_return(flows, years, 0.10, 0.12), 6)
    0.126094
    """
    end = float(years.max(initial=0.0))
    spent = -present_value(np.minimum(flows, 0.0), years, finance_rate)
    earned = present_value(np.maximum(flows, 0.0), years - end, reinvestment_rate)
    if spent <= 0 or earned <= 0 or end <= 0:
        return None
    return float((earned / spent) ** (1.0 / end) - 1.0)


def payback_months(
    flows: Sequence[float], closing: float = 0.0, moments: Sequence[float] | None = None
) -> float | None:
    """Months until what is received stays no less than what was paid. Each flow is spread over the
    time since the one before it, up to its moment; without `moments` they are those of one month
    after the other. `closing` is received at the end. 0 where nothing is ever paid ahead, None
    where it is never paid back.

    >>> payback_months([-90.0, 20.0, 40.0, 40.0, 40.0])
    3.75
    >>> payback_months([-90.0, 20.0], closing=100.0), payback_months([-90.0, 20.0])
    (2.0, None)
    >>> payback_months([1.0, 1.0])
    0.0
    >>> payback_months([-300.0, 90.0, 90.0, 90.0, 90.0], moments=[0, 12, 24, 36, 48])
    40.0
    """
    times = np.arange(1.0, len(flows) + 1.0) if moments is None else np.asarray(moments)
    balance = np.cumsum(np.asarray(flows, dtype=np.float64))
    if not balance.size or balance[-1] + closing < 0:
        return None
    behind = np.flatnonzero(balance < 0)
    if not behind.size:
        return 0.0
    last = int(behind[-1])
    if last + 1 >= balance.size:
        return float(times[-1])
    share = -balance[last] / (balance[last + 1] - balance[last])
    return float(times[last] + share * (times[last + 1] - times[last]))


def payback_of_payments(
    amounts: Floats, moments: Floats, end: float, closing: float = 0.0
) -> float | None:
    """Months until what is received stays no less than what was paid, each payment spread evenly
    over the month from its moment on: the least x from which

        B(x) = Σ amount · min(1, max(0, x − moment)) + closing · [x ≥ end]

    stays at 0 or above; `closing` is received at the moment `end`. 0 where nothing is ever paid
    ahead, None where it is never paid back. A month is what the bill of a month pays for, so a
    payment half a month later pays back half a month later.

    >>> flows, months = np.array([-90.0, 40.0, 40.0, 40.0]), np.array([0.0, 0.0, 1.0, 2.0])
    >>> payback_of_payments(flows, months, 3.0)
    2.25
    >>> payback_of_payments(flows, months + [0, 0.5, 0.5, 0.5], 3.0)
    2.75
    >>> payback_of_payments(flows[:3], months[:3], 12.0, closing=20.0)
    12.0
    """
    times = np.unique(np.concatenate([moments, moments + 1.0, [0.0, end]]))
    balance = np.clip(times[:, None] - moments[None, :], 0.0, 1.0) @ amounts
    sold = int(np.searchsorted(times, end))
    times = np.insert(times, sold, end)
    balance = np.concatenate([balance[: sold + 1], balance[sold:] + closing])
    behind = np.flatnonzero(balance < -_HALF_A_CENT)
    if not behind.size:
        return 0.0
    last = int(behind[-1])
    if last + 1 == balance.size:
        return None
    share = -balance[last] / (balance[last + 1] - balance[last])
    return float(times[last] + share * (times[last + 1] - times[last]))
