"""The distribution of one price by itself, drawn otherwise than in paths."""

import math

import numpy as np
from numpy.typing import NDArray

from planner.costing.price_processes.process import (
    SHOCK_SHAPE,
    Floats,
    PriceProcess,
    driver_hazard,
    size_of_change,
)


def interval(process: PriceProcess, months: float, quantiles: tuple[float, ...]) -> Floats:
    """Quantiles of the price `months` from now over today's."""
    return np.asarray(np.exp(np.quantile(sorted_log_factors(process, months), quantiles)))


def sorted_log_factors(process: PriceProcess, months: float, n: int = 16_384) -> Floats:
    """Ascending draws of ln F, of a price `months` from now."""
    random = np.random.Generator(np.random.PCG64(20_260_820))
    years = months / 12.0
    driver, drift, shock, size = random.standard_normal((4, n))
    spread = random.standard_gamma(SHOCK_SHAPE, n) / SHOCK_SHAPE
    rate = random.standard_gamma(process.changes_shape, n) / process.changes_shape
    moves = _shock_sd(process, months) * np.sqrt(spread) * shock
    moves += years * (process.drift + process.drift_sd * drift)
    reset = random.random(n) < -math.expm1(-process.reset_rate * years)
    moves += reset * (process.pull + process.discount_sd * random.standard_normal(n))
    rate *= process.changes_per_year * years * driver_hazard(driver)
    moves += _changes(process, random, random.poisson(rate), size)
    np.clip(moves, *process.bounds, out=moves)
    moves.sort()
    moves.setflags(write=False)
    return np.asarray(moves)


def _changes(
    process: PriceProcess, random: np.random.Generator, counts: NDArray[np.int64], first: Floats
) -> Floats:
    """Sums of `counts` list changes; the first of each takes its size from `first`."""
    total = np.zeros(len(counts))
    sizes = first
    for number in range(int(counts.max(initial=0))):
        sign = np.where(random.random(len(counts)) < process.rise_share, 1.0, -1.0)
        total += np.where(counts > number, sign * size_of_change(process, sizes), 0.0)
        sizes = random.standard_normal(len(counts))
    return total


def _shock_sd(process: PriceProcess, months: float) -> float:
    """Of x after some months: the covariance of (x, v) moves from a month to the next by
    (x + ρ v, ρ v) and what is drawn anew of v; between two months it is in line."""
    again = process.momentum
    step = np.array([[1.0, again], [0.0, again]])
    variance, new = np.diag([0.0, 1.0]), (1.0 - again**2) * np.ones((2, 2))
    found = [0.0]
    for _ in range(math.ceil(months)):
        variance = step @ variance @ step.T + new
        found.append(variance[0, 0])
    effective = float(np.interp(months, range(len(found)), found))
    return process.shock_sd * math.sqrt(effective / 12.0)
