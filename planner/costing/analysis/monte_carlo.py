"""How sure the answer is: the cost of each scenario over many samples. PURE.

What is started stays as planned; hours of use follow the sample. With g the growth of demand and
H the hours of a month (moved later where work slips), owned and committed units serve up to
B = min(hours they have, width they have · hours at peak), the rest is rented:

    rented = max(g · H − B, 0),  used = g · H − rented

What is rented is mixed as the plan mixes it in that month, but never more of it spot than
`max_spot_share` of g · H: the rest of that is rented on demand. Quotas and budgets are those of
the plan and not held against a sample.

Each sample draws one value of each of these, the same for every scenario:

- demand: g_t = exp(σ z t/12 − ½ (σ t/12)²), so that E g = 1
- rental prices: likewise; a commitment started in month m takes the price of that month
- slips: work is done max(0, round(σ z)) months later, what would fall beyond the horizon in
  its last month
- spot interruptions: λ gamma-distributed around its mean with coefficient of variation 0.5;
  a useful hour costs 1 / goodput by Young's overhead
- resale: the residual value times exp(σ z − ½ σ²)
- the hours themselves, where they were estimated: exp(σ z), σ from the estimate's p10 and p90
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import ScenarioKey
from planner.contract.request.risk import Risk as RiskRequest
from planner.costing.analysis.plan_exposure import Exposure, measure_exposure
from planner.costing.analysis.progress import report
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]

P10_TO_P90 = 2.5631
"""Standard deviations between the 10th and 90th percentile of a normal distribution."""
CHUNK = 2048
"""Samples costed at once: 36 months of them fit a core's cache."""
INTERRUPTION_SHAPE = 4.0
"""Shape of the gamma distribution of interruptions: coefficient of variation 0.5, about the
spread of the bands of AWS's Spot Instance Advisor (5-10 %, 10-15 %, 15-20 %)."""


@dataclass(frozen=True)
class RiskParameters:
    """Standard deviations of the samples, and how many are drawn from which seed."""

    samples: int
    seed: int
    demand_growth_sd: float = 0.0
    price_sd: float = 0.0
    slip_months_sd: float = 0.0
    residual_sd: float = 0.0
    spot_interruptions_per_month: float = 0.0
    checkpoint_save_hours: float = 0.0
    restart_hours: float = 0.0
    interruptions_vary: bool = True
    hours_sd: float = 0.0
    """Of the logarithm of the hours themselves: how well the sizing knows them."""


@dataclass(frozen=True)
class RiskSamples:
    """One draw per sample, in order of slip so that samples of one slip stand together."""

    growth: Floats
    """[N] standard normal, of demand."""
    price: Floats
    """[N] standard normal, of rental prices."""
    slip: NDArray[np.int64]
    """[N] months, ascending."""
    spot: Floats
    """[N] factor on the cost of a useful spot hour."""
    resale: Floats
    """[N] factor on the residual value."""
    level: Floats
    """[N] factor on all hours."""

    def select(self, rows: NDArray[np.intp]) -> RiskSamples:
        """The samples of these rows, which ascend."""
        return RiskSamples(**{name: values[rows] for name, values in vars(self).items()})


@dataclass(frozen=True)
class RiskResult:
    """Net present cost of each scenario over the samples."""

    percentiles: Mapping[ScenarioKey, tuple[float, float, float]]
    """p10, p50, p90."""
    mean: Mapping[ScenarioKey, float]
    cvar_90: Mapping[ScenarioKey, float]
    """CVaR 90: mean of the most expensive tenth of the samples."""
    probability_cheapest: Mapping[ScenarioKey, float]
    """Sums to 1: of scenarios that cost the same the first counts."""
    regret: Mapping[ScenarioKey, float]
    """Mean of what a scenario costs above the cheapest one of each sample."""
    samples: int
    seed: int


def build_risk_parameters(
    request: RiskRequest, assumptions: Assumptions, hours_p10_p90: tuple[float, float] = (1.0, 1.0)
) -> RiskParameters:
    """The spread that a request asks for, defaults where it says nothing.

    `hours_p10_p90` are the factors between which four fifths of estimates like this one lie.
    """
    return RiskParameters(
        samples=int(assumptions["samples"]),
        seed=int(assumptions["seed"]) if request.seed is None else request.seed,
        demand_growth_sd=assumptions["demand_growth_sd"],
        price_sd=assumptions["price_sd"],
        slip_months_sd=assumptions["slip_months_sd"],
        residual_sd=assumptions["residual_sd"],
        hours_sd=math.log(hours_p10_p90[1] / hours_p10_p90[0]) / P10_TO_P90,
        spot_interruptions_per_month=assumptions["spot_interruptions_per_month"],
        checkpoint_save_hours=assumptions["checkpoint_save_hours"],
        restart_hours=assumptions["restart_hours"],
    )


def draw_samples(parameters: RiskParameters) -> RiskSamples:
    """The samples of a seed; the same on every machine."""
    random = np.random.Generator(np.random.PCG64(parameters.seed))
    n = parameters.samples
    growth, price, slip, resale, level = random.standard_normal((5, n))
    gamma = random.standard_gamma(INTERRUPTION_SHAPE, n) / INTERRUPTION_SHAPE
    months = np.maximum(np.rint(parameters.slip_months_sd * slip), 0.0).astype(np.int64)
    order = np.argsort(months, kind="stable")
    sd = parameters.residual_sd
    return RiskSamples(
        growth=growth[order],
        price=price[order],
        slip=months[order],
        spot=_spot_factor(parameters, gamma if parameters.interruptions_vary else np.ones(n))[
            order
        ],
        resale=np.exp(sd * resale - 0.5 * sd * sd)[order],
        level=np.exp(parameters.hours_sd * level)[order],
    )


def _spot_factor(parameters: RiskParameters, gamma: Floats) -> Floats:
    """(1 − overhead at the mean) / (1 − overhead), overhead √(2 δ / M) + R / M, M = 730 / λ."""

    def useful(rate: Floats | float) -> Floats:
        per_hour = np.asarray(rate) * parameters.spot_interruptions_per_month / HOURS_PER_MONTH
        overhead = np.sqrt(2.0 * parameters.checkpoint_save_hours * per_hour)
        return np.asarray(1.0 - np.minimum(0.95, overhead + parameters.restart_hours * per_hour))

    return np.asarray(useful(1.0) / useful(gamma))


def simulate(
    exposures: Sequence[Exposure],
    hours: Floats,
    peak: Floats,
    parameters: RiskParameters,
    samples: RiskSamples,
) -> Floats:
    """[scenario, N] net present cost of each scenario in each sample."""
    months = len(hours)
    years = np.arange(months) / 12.0
    cost = np.empty((len(exposures), len(samples.slip)))
    peak_hours = np.divide(hours, peak, out=np.zeros(months), where=peak > 0)
    for rows, slip in _chunks(samples.slip):
        report(rows.start, len(samples.slip))
        work, at_peak = _apply_slip(hours, peak_hours, slip)
        demand = _demand(work, parameters, samples, rows)
        prices = _lognormal(samples.price[rows], parameters.price_sd, years)
        for i, exposure in enumerate(exposures):
            committed_hours = np.minimum(exposure.hours, exposure.width * at_peak)
            rented = np.maximum(demand - committed_hours, 0.0)
            total = demand @ exposure.in_use
            total += rented @ (exposure.data - exposure.in_use)
            total += prices @ exposure.later_commitments
            if exposure.max_spot_share < 1.0:
                total += _replace_excess_spot(exposure, demand, rented, prices, samples.spot[rows])
            rented *= prices
            total += rented @ exposure.rent
            total += samples.spot[rows] * (rented @ exposure.spot)
            total += exposure.fixed + exposure.residual * samples.resale[rows]
            cost[i, rows] = total
    return cost


def _replace_excess_spot(
    exposure: Exposure, demand: Floats, rented: Floats, prices: Floats, spot: Floats
) -> Floats:
    """[n] what the hours cost more that the plan's mix would rent spot beyond the most allowed."""
    hours = np.maximum(rented * exposure.spot_share - demand * exposure.max_spot_share, 0.0)
    hours *= prices
    share = exposure.spot_share
    of_spot = np.divide(exposure.spot, share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(hours @ exposure.on_demand_rent - spot * (hours @ of_spot))


def demand_in_sample(
    hours: Floats, peak: Floats, parameters: RiskParameters, samples: RiskSamples, n: int
) -> tuple[Floats, Floats, Floats]:
    """[T] hours asked, peak and factor on rental prices of sample `n`."""
    years = np.arange(len(hours)) / 12.0
    peak_hours = np.divide(hours, peak, out=np.zeros(len(hours)), where=peak > 0)
    work, at_peak = _apply_slip(hours, peak_hours, int(samples.slip[n]))
    demand = _demand(work, parameters, samples, slice(n, n + 1))[0]
    width = np.divide(demand, at_peak, out=np.zeros(len(hours)), where=at_peak > 0)
    return demand, width, _lognormal(samples.price[n : n + 1], parameters.price_sd, years)[0]


def _apply_slip(hours: Floats, peak_hours: Floats, slip: int) -> tuple[Floats, Floats]:
    """[T] hours moved `slip` months later, and the hours at their peak."""
    work = _shift(hours, slip)
    return work, np.maximum(_shift(peak_hours, slip, keep_total=False), (work > 0) * 1.0)


def _demand(work: Floats, parameters: RiskParameters, samples: RiskSamples, rows: slice) -> Floats:
    """[n, T] hours asked in some samples of one slip."""
    years = np.arange(len(work)) / 12.0
    demand = _lognormal(samples.growth[rows], parameters.demand_growth_sd, years)
    demand *= work
    if parameters.hours_sd:
        demand *= samples.level[rows, None]
    return demand


def _chunks(slip: NDArray[np.int64]) -> list[tuple[slice, int]]:
    """Slices of at most `CHUNK` samples with one slip."""
    chunks = []
    for value in np.unique(slip).tolist():
        first, last = np.searchsorted(slip, [value, value + 1]).tolist()
        chunks += [
            (slice(at, min(at + CHUNK, last)), int(value)) for at in range(first, last, CHUNK)
        ]
    return chunks


def _shift(values: Floats, slip: int, keep_total: bool = True) -> Floats:
    """`values` moved `slip` months later; what leaves the horizon is piled on its last month."""
    months = len(values)
    slip = min(slip, months - 1)
    if not slip:
        return values
    moved = np.concatenate([np.zeros(slip), values[: months - slip]])
    if keep_total:
        moved[-1] += values[months - slip :].sum()
    return moved


def _lognormal(z: Floats, sd: float, years: Floats) -> Floats:
    """[n, T] exp(σ z t − ½ (σ t)²)."""
    if not sd:
        return np.ones((len(z), len(years)))
    factor = np.multiply.outer(z, sd * years)
    factor -= 0.5 * (sd * years) ** 2
    return np.asarray(np.exp(factor, out=factor))


def assess_risk(
    scenarios: Mapping[ScenarioKey, Scenario], inputs: ModelInputs, parameters: RiskParameters
) -> RiskResult:
    """Percentiles, probability of being cheapest and regret of every feasible scenario."""
    feasible = [s for s in scenarios.values() if s.feasible]
    exposures = [measure_exposure(s, inputs) for s in feasible]
    cost = simulate(exposures, inputs.hours, inputs.peak, parameters, draw_samples(parameters))
    return summarize_risk([s.key for s in feasible], cost, parameters)


def summarize_risk(
    keys: Sequence[ScenarioKey], cost: Floats, parameters: RiskParameters
) -> RiskResult:
    """What the costs [scenario, N] come to."""
    if not keys:
        return RiskResult({}, {}, {}, {}, {}, parameters.samples, parameters.seed)
    n = cost.shape[1]
    cheapest = np.bincount(_first_cheapest(cost), minlength=len(keys)) / n
    best = cost.min(axis=0)
    return RiskResult(
        percentiles={k: _p10_p50_p90(row) for k, row in zip(keys, cost, strict=True)},
        mean={k: float(row.mean()) for k, row in zip(keys, cost, strict=True)},
        cvar_90={k: calculate_cvar_90(row) for k, row in zip(keys, cost, strict=True)},
        probability_cheapest=dict(zip(keys, cheapest.tolist(), strict=True)),
        regret={k: float((row - best).mean()) for k, row in zip(keys, cost, strict=True)},
        samples=parameters.samples,
        seed=parameters.seed,
    )


def calculate_cvar_90(row: Floats) -> float:
    """Mean of the worst tenth of the costs of a scenario.

    >>> calculate_cvar_90(np.arange(20.0))
    18.5
    """
    tail = max(1, len(row) // 10)
    return float(np.partition(row, len(row) - tail)[len(row) - tail :].mean())


def _first_cheapest(cost: Floats) -> NDArray[np.int64]:
    """[N] the first scenario within a hair of the least cost."""
    edge = cost.min(axis=0)
    edge = edge + 1e-9 * np.abs(edge)
    return np.asarray((cost <= edge).argmax(axis=0))


def _p10_p50_p90(row: Floats) -> tuple[float, float, float]:
    low, middle, high = np.percentile(row, (10, 50, 90))
    return float(low), float(middle), float(high)
