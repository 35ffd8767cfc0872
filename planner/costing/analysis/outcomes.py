"""What may become of demand, prices and spot: joint samples, the same for every plan. PURE.

Each sample draws, with z standard normal:

- demand: g_t = exp(x_t − ½ Var x_t), x_(t+1) = φ x_t + s z, x_0 = 0, so that E g_t = 1. φ halves
  a deviation in `demand_half_life_months`, and s is such that x has the standard deviation
  `demand_growth_sd` after twelve months; it stays below σ / √(1 − φ²⁴) at any distance
- prices: a path of each process (`price_processes.draw`), from 1 in the first month on
- what a plan says of resale values and of the prices of later servers stays their mean: those
  paths are divided by their mean over the samples
- what a given trend says of rents stays the price of the paths that have not changed, and the mean
  of those that have
- a given `price_sd` replaces the processes of rents by exp(σ z t/12 − ½ (σ t/12)²), a given
  `residual_sd` that of hardware by exp(σ z − ½ σ²) on resale values alone
- what sellers ask for servers, and whether they come late: one z each for all servers
  (`cost_model.purchase_risk`)
- slips, interruptions and hours of an estimate as in `monte_carlo`; waits for spot are lognormal
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.monte_carlo import (
    RiskParameters,
    draw_interruptions,
    draw_level,
    draw_lognormal,
    spot_factor,
)
from planner.costing.analysis.price_drivers import PriceDrivers
from planner.costing.price_processes.draw import draw_paths
from planner.costing.price_processes.process import PriceKind

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """N samples in order of slip."""

    slip: NDArray[np.int64]
    """[N] months, ascending."""
    growth: Floats
    """[N, T] factor on the hours asked, as demand grows."""
    prices: Floats
    """[P, N, T + 1] factor on each price, in each month and at the horizon's end."""
    interruptions: Floats
    """[N] factor on the rate at which spot machines are taken back."""
    waiting: Floats
    """[N] factor on the wait for them."""
    lost: Floats
    """[N] factor on what a useful spot hour costs for what interruptions lose."""
    level: Floats | None = None
    """[N] factor on all hours, where they were estimated."""
    server_price: Floats | None = None
    """[N] standard normal, of what sellers ask for servers; None: what the plan says."""
    delivery: Floats | None = None
    """[N] standard normal, of how late servers come; None: on time."""

    def demand(self, rows: slice) -> Floats:
        """[n, T] factor on the hours asked in some samples."""
        growth = self.growth[rows]
        return growth if self.level is None else growth * self.level[rows, None]

    def demand_at(self, month: int) -> Floats:
        """[N] the same in one month."""
        growth = self.growth[:, month]
        return np.asarray(growth if self.level is None else growth * self.level)

    def select(self, rows: NDArray[np.intp]) -> Outcomes:
        """The samples of these rows, which ascend."""
        return Outcomes(
            slip=self.slip[rows],
            growth=self.growth[rows],
            prices=self.prices[:, rows],
            interruptions=self.interruptions[rows],
            waiting=self.waiting[rows],
            lost=self.lost[rows],
            level=None if self.level is None else self.level[rows],
            server_price=None if self.server_price is None else self.server_price[rows],
            delivery=None if self.delivery is None else self.delivery[rows],
        )


def planned_outcomes(drivers: PriceDrivers, months: int) -> Outcomes:
    """One sample in which all goes as the plan says."""
    one = np.ones(1)
    prices = np.ones((len(drivers.processes), 1, months + 1))
    return Outcomes(np.zeros(1, np.int64), np.ones((1, months)), prices, one, one, one)


def draw_outcomes(parameters: RiskParameters, drivers: PriceDrivers, months: int) -> Outcomes:
    """The samples of a seed; each kind has a stream of its own, so that none moves another."""
    n = parameters.samples
    streams = np.random.SeedSequence(parameters.seed).spawn(5)
    demand, prices, spot, timing, purchase = (
        np.random.Generator(np.random.PCG64(s)) for s in streams
    )
    slip, level = timing.standard_normal((2, n))
    slip = np.maximum(np.rint(parameters.slip_months_sd * slip), 0.0)
    interruptions = draw_interruptions(spot, n)
    server_price, delivery = purchase.standard_normal((2, n))
    return Outcomes(
        slip=np.sort(slip.astype(np.int64)),  # of independent draws any order is as good
        growth=_growth(parameters, months, demand),
        prices=_prices(parameters, drivers, months, prices),
        interruptions=interruptions,
        waiting=np.exp(parameters.waiting_sd * spot.standard_normal(n)),
        lost=spot_factor(parameters, interruptions),
        level=draw_level(parameters, level) if parameters.hours_sd else None,
        server_price=server_price,
        delivery=delivery,
    )


def _growth(parameters: RiskParameters, months: int, random: np.random.Generator) -> Floats:
    """[N, T] growth of demand, mean 1."""
    sd = parameters.demand_growth_sd
    if not sd:
        return np.ones((parameters.samples, months))
    persistence = 0.5 ** (1.0 / parameters.demand_half_life_months)
    step = sd * math.sqrt((1.0 - persistence**2) / (1.0 - persistence**24))
    shocks = random.standard_normal((months, parameters.samples))
    logs = np.zeros((months, parameters.samples))
    for month in range(1, months):
        logs[month] = persistence * logs[month - 1] + step * shocks[month]
    age = np.arange(months)[:, None]
    variance = step**2 * (1.0 - persistence ** (2 * age)) / (1.0 - persistence**2)
    return np.ascontiguousarray(np.exp(logs - 0.5 * variance).T)


def _prices(
    parameters: RiskParameters, drivers: PriceDrivers, months: int, random: np.random.Generator
) -> Floats:
    """[P, N, T + 1] factors on the prices that a plan says."""
    if not drivers.processes:
        return np.ones((0, parameters.samples, months + 1))
    paths = draw_paths(drivers.processes, months + 1, parameters.samples, random)
    rent, resale = random.standard_normal((2, parameters.samples))
    years = np.arange(months + 1) / 12.0
    sd = parameters.residual_sd
    for path, process in zip(paths, drivers.processes, strict=True):
        is_hardware = process.kind is PriceKind.HARDWARE
        if is_hardware and not parameters.draws_hardware_prices:
            path[:] = 1.0
            path[:, -1] = np.exp(sd * resale - 0.5 * sd * sd)
        elif not is_hardware and not parameters.draws_rental_prices:
            path[:] = draw_lognormal(rent, parameters.price_sd, years)
        elif is_hardware or (parameters.keeps_price_trend and parameters.moves_unchanged_prices):
            path /= path.mean(axis=0)
        elif parameters.keeps_price_trend:
            path /= _mean_of_changed(path)
    return paths


def _mean_of_changed(path: Floats) -> Floats:
    """[N, T + 1] mean over the samples whose price has changed by a month, 1 for all others.

    >>> _mean_of_changed(np.array([[1.0, 1.0], [1.0, 0.5], [1.0, 0.7]])).tolist()
    [[1.0, 1.0], [1.0, 0.6], [1.0, 0.6]]
    """
    has_changed = path != 1.0
    count = np.maximum(has_changed.sum(axis=0), 1)
    mean = np.where(has_changed, path, 0.0).sum(axis=0) / count
    return np.where(has_changed, mean, 1.0)
