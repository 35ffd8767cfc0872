"""How sure the answer is: the cost of each scenario over many samples. PURE.

What is started stays as planned; hours of use follow the sample. With g the growth of demand and
H the hours of a month (moved later where work slips), owned and committed units serve up to
B = min(hours they have, width they have · hours at peak), the rest is rented:

    rented = max(g · H − B, 0),  used = g · H − rented

What is rented is mixed as the plan mixes it in that month, but never more of it spot than
`max_spot_share` of g · H: the rest of that is rented on demand. Quotas and budgets are those of
the plan and not held against a sample.

Each sample draws one value of each of these, the same for every scenario: demand,
rental prices (a commitment started in month m takes the price of that month), slips,
spot interruptions, resale, and the hours themselves where they were estimated; their
distributions stand in `docs/methodology/risk.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.risk import PriceModel
from planner.contract.request.risk import Risk as RiskRequest
from planner.costing.analysis.plan_exposure import Exposure
from planner.costing.analysis.progress import Report, nobody_waits
from planner.costing.analysis.simulation_work import simulation_units
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.assumptions.defaults import default
from planner.costing.optimizer.work import WorkMeter
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]

BOTH_ENDS = 2
"""Edition of the hours' range from which p10 and p90 are met each, 2026."""
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
    hours_p10_p90: tuple[float, float] | None = None
    """Factors on the hours that are met at p10 and p90 each; None: `hours_sd` on either side."""
    price_processes: bool = False
    """Whether prices are drawn from fitted processes, and later starts follow each sample
    (`outcomes`, `recourse`); what follows matters only then."""
    demand_half_life_months: float = 24.0
    spot_patience_hours: float = 0.0
    waiting_sd: float = 0.0
    """Of the logarithm of the wait for spot machines."""
    draws_rental_prices: bool = True
    """False where the request gives `price_sd`."""
    draws_hardware_prices: bool = True
    """False where it gives `residual_sd`."""
    keeps_price_trend: bool = False
    """Whether the mean of rental prices follows the trend that the request gives."""
    moves_unchanged_prices: bool = False
    """Edition 1: whether prices that did not change are moved along to keep that mean."""

    @property
    def price_model(self) -> PriceModel:
        """How rental prices vary."""
        if not self.price_processes:
            return "common_factor"
        return "fitted_processes" if self.draws_rental_prices else "given_spread"


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


def build_risk_parameters(
    request: RiskRequest,
    assumptions: Assumptions,
    hours_p10_p90: tuple[float, float] = (1.0, 1.0),
    price_processes: bool = False,
) -> RiskParameters:
    """The spread that a request asks for, defaults where it says nothing.

    `hours_p10_p90` are the factors between which four fifths of estimates like this one lie.
    """
    plain = RiskParameters(
        samples=int(assumptions["samples"]),
        seed=int(assumptions["seed"]) if request.seed is None else request.seed,
        demand_growth_sd=assumptions["demand_growth_sd"],
        price_sd=assumptions.values.get("price_sd", 0.0),
        slip_months_sd=assumptions["slip_months_sd"],
        residual_sd=assumptions.values.get("residual_sd", 0.0),
        hours_sd=_sd_of_range(*hours_p10_p90),
        spot_interruptions_per_month=assumptions["spot_interruptions_per_month"],
        checkpoint_save_hours=assumptions["checkpoint_save_hours"],
        restart_hours=assumptions["restart_hours"],
    )
    if not price_processes:
        return plain
    waiting = default("spot_waiting_hours_training")
    return replace(
        plain,
        price_processes=True,
        hours_p10_p90=hours_p10_p90 if assumptions["hours_edition"] >= BOTH_ENDS else None,
        demand_half_life_months=assumptions["demand_half_life_months"],
        spot_patience_hours=assumptions["spot_patience_hours"],
        waiting_sd=_sd_of_range(waiting.low, waiting.high),
        draws_rental_prices=request.price_sd is None,
        draws_hardware_prices=request.residual_sd is None,
        keeps_price_trend=assumptions.is_from_request("cloud_price_trend_per_year"),
        moves_unchanged_prices=assumptions["trend_edition"] < 2,
    )


def _sd_of_range(p10: float, p90: float) -> float:
    """Standard deviation of the logarithm between whose p10 and p90 the range lies."""
    return math.log(p90 / p10) / P10_TO_P90


def draw_samples(parameters: RiskParameters) -> RiskSamples:
    """The samples of a seed; the same on every machine."""
    random = np.random.Generator(np.random.PCG64(parameters.seed))
    n = parameters.samples
    growth, price, slip, resale, level = random.standard_normal((5, n))
    gamma = draw_interruptions(random, n)
    months = np.maximum(np.rint(parameters.slip_months_sd * slip), 0.0).astype(np.int64)
    order = np.argsort(months, kind="stable")
    sd = parameters.residual_sd
    return RiskSamples(
        growth=growth[order],
        price=price[order],
        slip=months[order],
        spot=spot_factor(parameters, gamma if parameters.interruptions_vary else np.ones(n))[order],
        resale=np.exp(sd * resale - 0.5 * sd * sd)[order],
        level=draw_level(parameters, level)[order],
    )


def draw_level(parameters: RiskParameters, normal: Floats) -> Floats:
    """[N] factors on the hours, 1 at the median: exp(σ z), where both ends of the range are met
    with σ of its own below and above, as hours are further above than below."""
    if parameters.hours_p10_p90 is None:
        return np.asarray(np.exp(parameters.hours_sd * normal))
    low, high = (abs(math.log(end)) / (P10_TO_P90 / 2) for end in parameters.hours_p10_p90)
    return np.asarray(np.exp(np.where(normal < 0, low, high) * normal))


def draw_interruptions(random: np.random.Generator, n: int) -> Floats:
    """[n] factors on the rate of interruptions, mean 1."""
    return np.asarray(random.standard_gamma(INTERRUPTION_SHAPE, n) / INTERRUPTION_SHAPE)


def spot_factor(parameters: RiskParameters, gamma: Floats) -> Floats:
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
    report: Report = nobody_waits,
    meter: WorkMeter | None = None,
) -> Floats:
    """[scenario, N] net present cost of each scenario in each sample."""
    meter = WorkMeter() if meter is None else meter
    months = len(hours)
    years = np.arange(months) / 12.0
    cost = np.empty((len(exposures), len(samples.slip)))
    peak_hours = _peak_hours(hours, peak)
    for rows, slip in chunks_of_one_slip(samples.slip):
        report(rows.start, len(samples.slip))
        meter.charge(simulation_units(rows.stop - rows.start, len(exposures), months))
        work, at_peak = _apply_slip(hours, peak_hours, slip)
        demand = _demand(work, parameters, samples, rows)
        prices = draw_lognormal(samples.price[rows], parameters.price_sd, years)
        for i, exposure in enumerate(exposures):
            of_plan = at_peak
            if exposure.peak is not None:
                of_plan = _apply_slip(hours, _peak_hours(hours, exposure.peak), slip)[1]
            cost[i, rows] = _cost_of(
                exposure, demand, of_plan, prices, samples.spot[rows], samples.resale[rows]
            )
    return cost


def cost_as_planned(exposures: Sequence[Exposure], hours: Floats, peak: Floats) -> list[float]:
    """Cost of each exposure where nothing varies."""
    demand, one = hours[None, :], np.ones(1)
    prices, costs = np.ones_like(demand), []
    at_common_peak = _apply_slip(hours, _peak_hours(hours, peak), 0)[1]
    for exposure in exposures:
        at_peak = at_common_peak
        if exposure.peak is not None:
            at_peak = _apply_slip(hours, _peak_hours(hours, exposure.peak), 0)[1]
        costs.append(float(_cost_of(exposure, demand, at_peak, prices, one, one)[0]))
    return costs


def _cost_of(
    exposure: Exposure,
    demand: Floats,
    at_peak: Floats,
    prices: Floats,
    spot: Floats,
    resale: Floats,
) -> Floats:
    """[n] cost of a plan where [n, T] hours are asked at [n, T] times today's prices, and spot and
    resale are [n] times what was planned."""
    committed_hours = np.minimum(exposure.hours, exposure.width * at_peak)
    rented = np.maximum(demand - committed_hours, 0.0)
    total = demand @ exposure.in_use
    total += rented @ (exposure.data - exposure.in_use)
    total += prices @ exposure.later_commitments
    if exposure.max_spot_share < 1.0:
        total += _replace_excess_spot(exposure, demand, rented, prices, spot)
    rented *= prices
    total += rented @ exposure.rent
    total += spot * (rented @ exposure.spot)
    total += exposure.fixed + exposure.residual * resale
    return np.asarray(total)


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
    work, at_peak = _apply_slip(hours, _peak_hours(hours, peak), int(samples.slip[n]))
    demand = _demand(work, parameters, samples, slice(n, n + 1)).ravel()
    width = np.divide(demand, at_peak, out=np.zeros(len(hours)), where=at_peak > 0)
    prices = draw_lognormal(samples.price[n : n + 1], parameters.price_sd, years)
    return demand, width, prices.ravel()


def _peak_hours(hours: Floats, peak: Floats) -> Floats:
    """[T] hours at peak, H / P; 0 without a peak."""
    return np.divide(hours, peak, out=np.zeros(len(hours)), where=peak > 0)


def _apply_slip(hours: Floats, peak_hours: Floats, slip: int) -> tuple[Floats, Floats]:
    """[T] hours moved `slip` months later, and the hours at their peak."""
    work = shift_months(hours, slip)
    return work, np.maximum(shift_months(peak_hours, slip, keep_total=False), (work > 0) * 1.0)


def _demand(work: Floats, parameters: RiskParameters, samples: RiskSamples, rows: slice) -> Floats:
    """[n, T] hours asked in some samples of one slip."""
    years = np.arange(len(work)) / 12.0
    demand = draw_lognormal(samples.growth[rows], parameters.demand_growth_sd, years)
    demand *= work
    if parameters.hours_sd:
        demand *= samples.level[rows, None]
    return demand


def chunks_of_one_slip(slip: NDArray[np.int64]) -> list[tuple[slice, int]]:
    """Slices of at most `CHUNK` samples with one slip."""
    chunks = []
    for value in np.unique(slip).tolist():
        first, last = np.searchsorted(slip, [value, value + 1]).tolist()
        chunks += [
            (slice(at, min(at + CHUNK, last)), int(value)) for at in range(first, last, CHUNK)
        ]
    return chunks


def shift_months(values: Floats, slip: int, keep_total: bool = True) -> Floats:
    """`values` moved `slip` months later; what leaves the horizon is piled on its last month."""
    months = len(values)
    slip = min(slip, months - 1)
    if not slip:
        return values
    moved = np.concatenate([np.zeros(slip), values[: months - slip]])
    if keep_total:
        moved[-1] += values[months - slip :].sum()
    return moved


def draw_lognormal(z: Floats, sd: float, years: Floats) -> Floats:
    """[n, T] exp(σ z t − ½ (σ t)²)."""
    if not sd:
        return np.ones((len(z), len(years)))
    factor = np.multiply.outer(z, sd * years)
    factor -= 0.5 * (sd * years) ** 2
    return np.asarray(np.exp(factor, out=factor))
