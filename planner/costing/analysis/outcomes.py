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
- the month from which there is no work as the project has ended, with a chance p: one month, or
  the end of a quarter, each with p
- of what is rented from each month on how many months it waits for machines by the hour: k or
  more with a chance pᵏ
- slips, interruptions and hours of an estimate as in `docs/methodology/risk.md`; waits for spot
  are lognormal

A price has the process of its accelerator family and way of paying (`price_processes`):

- on demand of AWS, Azure and Google Cloud: list prices; of others: rents of GPU clouds
- commitments: with the list prices of their family and provider, on the same clock
- spot, low priority: by region, from today's share of the price on demand
- servers, to buy and to sell: hardware

Processes of one family and provider change lists together; all share the downturns of
`price_processes.draw`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.risk import Cause
from planner.contract.copies import cached_property
from planner.contract.request.finance import Risk as RiskRequest
from planner.costing.assumptions.assumptions import Assumptions, default
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.ownership import DeliveryRisk
from planner.costing.model_inputs import ModelInputs
from planner.costing.price_processes.draw import draw_paths
from planner.costing.price_processes.process import KINDS, PriceKind, PriceProcess, find_process
from planner.sizing.runs.run_size import range_sds
from pricing.market.clouds import COMMERCIAL, find_cloud
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption

Floats = NDArray[np.float64]

P10_TO_P90 = 2.5631
"""Standard deviations between the 10th and 90th percentile of a normal distribution."""
QUARTER_MONTHS = 3
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
    hours_p10_p90: tuple[float, float] = (1.0, 1.0)
    """How well the sizing knows the hours: factors between which four fifths of them lie around
    their median; (1, 1) where they are stated."""
    hours_spread: float = 0.0
    """Share by which stated hours are lower at p10 and higher at p90."""
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
    end_probability: float = 0.0
    """Chance that the project ends early."""
    end_after_months: int = 0
    """Months after which; 0: at the end of each quarter."""
    unavailable_probability: float = 0.0
    """Chance that machines by the hour are not there in a month."""

    @property
    def level_p10_p90(self) -> tuple[float, float]:
        """Factors on the hours, sized or stated, at p10 and p90 around their median."""
        if self.hours_p10_p90 != (1.0, 1.0):
            return self.hours_p10_p90
        return 1.0 - self.hours_spread, 1.0 + self.hours_spread


def build_risk_parameters(
    request: RiskRequest, assumptions: Assumptions, hours_p10_p90: tuple[float, float] = (1.0, 1.0)
) -> RiskParameters:
    """The spread that a request asks for, defaults where it says nothing.

    `hours_p10_p90` are the factors between which four fifths of estimates like this one lie.
    """
    waiting = default("spot_waiting_hours_training")
    return RiskParameters(
        samples=int(assumptions["samples"]),
        seed=int(assumptions["seed"]) if request.seed is None else request.seed,
        demand_growth_sd=assumptions["demand_growth_sd"],
        price_sd=assumptions.values.get("price_sd", 0.0),
        slip_months_sd=assumptions["slip_months_sd"],
        residual_sd=assumptions.values.get("residual_sd", 0.0),
        spot_interruptions_per_month=assumptions["spot_interruptions_per_month"],
        checkpoint_save_hours=assumptions["checkpoint_save_hours"],
        restart_hours=assumptions["restart_hours"],
        hours_p10_p90=hours_p10_p90,
        hours_spread=assumptions["hours_spread"],
        demand_half_life_months=assumptions["demand_half_life_months"],
        spot_patience_hours=assumptions["spot_patience_hours"],
        waiting_sd=math.log(waiting.high / waiting.low) / P10_TO_P90,
        draws_rental_prices=request.price_sd is None,
        draws_hardware_prices=request.residual_sd is None,
        keeps_price_trend=assumptions.is_from_request("cloud_price_trend_per_year"),
        end_probability=assumptions.values.get("end_probability", 0.0),
        end_after_months=int(assumptions.values.get("end_after_months", 0)),
        unavailable_probability=assumptions.values.get("on_demand_unavailable_probability", 0.0),
    )


def draw_level(parameters: RiskParameters, normal: Floats) -> Floats:
    """[N] factors on the hours, median 1: exp(σ z), with a σ of its own below and above, as hours
    are further above than below. So a plan has the median hours of its outcomes, and both ends of
    an estimate's range are met.

    >>> z = np.random.default_rng(1).standard_normal(100_000)
    >>> sized = draw_level(RiskParameters(1, 1, hours_p10_p90=(0.6, 1.8)), z)
    >>> [round(float(np.quantile(sized, share)), 1) for share in (0.1, 0.5, 0.9)]
    [0.6, 1.0, 1.8]
    """
    low, high = range_sds(parameters.level_p10_p90)
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


@dataclass(frozen=True)
class PriceDrivers:
    """Distinct processes, and the one of each source that has a price."""

    processes: tuple[PriceProcess, ...]
    of_source: Mapping[str, int]
    """source key → index of its process."""

    @property
    def is_rent(self) -> NDArray[np.bool_]:
        """[P] whether a process is that of something rented."""
        kinds = (process.kind is not PriceKind.HARDWARE for process in self.processes)
        return np.fromiter(kinds, bool, len(self.processes))


def find_drivers(inputs: ModelInputs, keys: Collection[str] | None = None) -> PriceDrivers:
    """The processes of sources, equal ones once, in the order of keys; by default of all."""
    processes: dict[PriceProcess, int] = {}
    of_source: dict[str, int] = {}
    on_demand = _on_demand_prices(inputs.sources)
    year = inputs.calendar.start.year
    for key, source in sorted(inputs.by_key.items()):
        if source.accelerator and (keys is None or key in keys):
            process = _find_process(source, on_demand, year)
            of_source[key] = processes.setdefault(process, len(processes))
    return PriceDrivers(tuple(processes), of_source)


_Place = tuple[str, str, str]
"""Provider, region ("" for all) and accelerator."""


def _on_demand_prices(sources: Iterable[CapacitySource]) -> dict[_Place, float]:
    lowest: dict[_Place, float] = {}
    for source in sources:
        if source.purchase_option != PurchaseOption.ON_DEMAND or not source.price_per_hour:
            continue
        price = source.price_per_hour / source.accelerators
        for region in (source.region, ""):
            place = (source.provider, region, source.accelerator)
            lowest[place] = min(price, lowest.get(place, price))
    return lowest


def _find_process(
    source: CapacitySource, on_demand: Mapping[_Place, float], year: int
) -> PriceProcess:
    if source.is_owned:
        return find_process(source.accelerator, PriceKind.HARDWARE, year)
    kind = KINDS[PurchaseOption(source.purchase_option)]
    if kind is PriceKind.LIST and find_cloud(source.provider).partition("") != COMMERCIAL:
        kind = PriceKind.MARKET
    process = find_process(source.accelerator, kind, year, source.provider)
    if kind is not PriceKind.SPOT:
        return replace(process, place=source.provider)
    places = ((source.provider, region, source.accelerator) for region in (source.region, ""))
    price = next((on_demand[place] for place in places if place in on_demand), 0.0)
    if price and source.price_per_hour:
        process = process.at_discount(source.price_per_hour / source.accelerators / price)
    return replace(process, place=f"{source.provider}/{source.region}")


@dataclass(frozen=True)
class Outcomes:
    """N samples in order of slip."""

    slip: NDArray[np.int64]
    """[N] months, ascending."""
    growth: Floats
    """[N, T] factor on the hours asked, as demand grows."""
    prices: Floats
    """[P, N, T + 1] factor on each price, in each month and at the horizon's end."""
    is_rent: NDArray[np.bool_]
    """[P] whether it is the price of something rented; else of hardware, which is resold."""
    interruptions: Floats
    """[N] factor on the rate at which spot machines are taken back."""
    waiting: Floats
    """[N] factor on the wait for them."""
    lost: Floats
    """[N] factor on what a useful spot hour costs for what interruptions lose."""
    level: Floats | None = None
    """[N] factor on all hours; None where they are exact."""
    server_price: Floats | None = None
    """[N] standard normal, of what sellers ask for servers; None: what the plan says."""
    delivery: Floats | None = None
    """[N] standard normal, of how late servers come; None: on time."""
    ends: NDArray[np.int64] | None = None
    """[N] first month after the project's end, T where it does not end early; None: in none."""

    waits: NDArray[np.int64] | None = None
    """[N, T] months that what is rented from a month on waits for machines by the hour; None: it
    does not."""

    def is_there(self, rented: Floats, rows: slice = slice(None)) -> NDArray[np.bool_] | None:
        """[n, T] whether there are machines by the hour in some samples, of which [n, T] hours are
        wanted: each stretch of months that rents waits when it begins; None: always."""
        if self.waits is None:
            return None
        months, is_wanted = np.arange(rented.shape[1]), rented > 0
        begins = is_wanted & ~np.pad(is_wanted, ((0, 0), (1, 0)))[:, :-1]
        first = np.maximum.accumulate(np.where(begins, months, 0), axis=1)
        return np.asarray(months - first >= np.take_along_axis(self.waits[rows], first, axis=1))

    @cached_property
    def _delays(self) -> dict[DeliveryRisk, NDArray[np.int64]]:
        return {}

    def delays(self, delivery: DeliveryRisk) -> NDArray[np.int64] | None:
        """[N] whole months by which a server comes late, early below 0; None: all on time."""
        if self.delivery is None:
            return None
        if delivery not in self._delays:
            self._delays[delivery] = delivery.delays(self.delivery)
        return self._delays[delivery]

    def demand(self, rows: slice) -> Floats:
        """[n, T] factor on the hours asked in some samples."""
        growth = self.growth[rows]
        growth = growth if self.level is None else growth * self.level[rows, None]
        if self.ends is None:
            return growth
        return np.asarray(growth * (np.arange(growth.shape[1]) < self.ends[rows, None]))

    def demand_at(self, month: int) -> Floats:
        """[N] the same in one month."""
        return np.asarray(self.asked_at(month) * self.goes_on(month))

    def asked_at(self, month: int) -> Floats:
        """[N] the same wherever the project goes on."""
        growth = self.growth[:, month]
        return np.asarray(growth if self.level is None else growth * self.level)

    def goes_on(self, month: int) -> NDArray[np.bool_]:
        """[N] whether there is still a project in a month."""
        return np.ones(len(self.slip), bool) if self.ends is None else self.ends > month

    def select(self, rows: NDArray[np.intp]) -> Outcomes:
        """The samples of these rows, which ascend."""
        return replace(
            self,
            slip=self.slip[rows],
            growth=self.growth[rows],
            prices=self.prices[:, rows],
            interruptions=self.interruptions[rows],
            waiting=self.waiting[rows],
            lost=self.lost[rows],
            level=None if self.level is None else self.level[rows],
            server_price=None if self.server_price is None else self.server_price[rows],
            delivery=None if self.delivery is None else self.delivery[rows],
            ends=None if self.ends is None else self.ends[rows],
            waits=None if self.waits is None else self.waits[rows],
        )

    @property
    def causes(self) -> list[Cause]:
        """What may vary in them, in the order of a risk allowance."""
        return [cause for cause in Cause if cause is not Cause.END or self.ends is not None]

    def with_causes(self, causes: Set[Cause]) -> Outcomes:
        """The same samples, row by row, in which these causes alone vary and all else is as
        stated; without any, a plan costs in each sample what it costs as stated.

        What a cause adds to the expected cost, each switched on after those before it:

            costs = [
                simulation.with_causes(frozenset(causes[:n])).cost(plans).mean(axis=-1)
                for n in range(len(causes) + 1)
            ]
            allowance = {cause: costs[n + 1] - costs[n] for n, cause in enumerate(causes)}

        >>> two = planned_outcomes(PriceDrivers((), {}), 3)
        >>> two = replace(two, growth=np.full((1, 3), 1.5), lost=np.full(1, 1.2))
        >>> hours = two.with_causes({Cause.HOURS})
        >>> hours.growth.tolist(), hours.lost.tolist()
        ([[1.5, 1.5, 1.5]], [1.0])
        """
        one = np.ones(len(self.slip))
        prices = self.prices.copy()
        if Cause.PRICES not in causes:
            prices[self.is_rent] = 1.0
            prices[:, :, :-1] = 1.0
        if Cause.RESALE not in causes:
            prices[~self.is_rent, :, -1] = 1.0
        stated = replace(self, prices=prices)
        if Cause.HOURS not in causes:
            growth, slip = np.ones_like(self.growth), np.zeros_like(self.slip)
            stated = replace(stated, growth=growth, slip=slip, level=None)
        if Cause.END not in causes:
            stated = replace(stated, ends=None)
        if Cause.DELIVERY not in causes:
            stated = replace(stated, delivery=None)
        if Cause.CAPACITY not in causes:
            stated = replace(stated, interruptions=one, waiting=one, lost=one, waits=None)
        return stated if Cause.QUOTES in causes else replace(stated, server_price=None)


def planned_outcomes(drivers: PriceDrivers, months: int) -> Outcomes:
    """One sample in which all goes as the plan says."""
    one = np.ones(1)
    prices = np.ones((len(drivers.processes), 1, months + 1))
    return Outcomes(
        slip=np.zeros(1, np.int64),
        growth=np.ones((1, months)),
        prices=prices,
        is_rent=drivers.is_rent,
        interruptions=one,
        waiting=one,
        lost=one,
    )


def draw_outcomes(parameters: RiskParameters, drivers: PriceDrivers, months: int) -> Outcomes:
    """The samples of a seed; each kind has a stream of its own, so that none moves another."""
    n = parameters.samples
    streams = np.random.SeedSequence(parameters.seed).spawn(5)
    demand, spread, spot, timing, purchase = (
        np.random.Generator(np.random.PCG64(s)) for s in streams
    )
    slip, level = timing.standard_normal((2, n))
    slip = np.maximum(np.rint(parameters.slip_months_sd * slip), 0.0)
    interruptions = draw_interruptions(spot, n)
    server_price, delivery = purchase.standard_normal((2, n))
    low, high = parameters.level_p10_p90
    return Outcomes(
        slip=np.sort(slip.astype(np.int64)),  # of independent draws any order is as good
        growth=_growth(parameters, months, demand),
        prices=_prices(parameters, drivers, months, spread),
        is_rent=drivers.is_rent,
        interruptions=interruptions,
        waiting=np.exp(parameters.waiting_sd * spot.standard_normal(n)),
        lost=spot_factor(parameters, interruptions),
        level=(None if low == high else draw_level(parameters, level)),
        server_price=server_price,
        delivery=delivery,
        ends=draw_ends(parameters, months),
        waits=_draw_waits(parameters, months),
    )


def draw_ends(parameters: RiskParameters, months: int) -> NDArray[np.int64] | None:
    """[N] first month after the project's end, None where it has no chance; the greater its chance
    the sooner it ends in each sample."""
    chance, after = parameters.end_probability, parameters.end_after_months
    if not chance:
        return None
    stream = np.random.SeedSequence(parameters.seed).spawn(6)[-1]
    drawn = np.random.Generator(np.random.PCG64(stream)).random(parameters.samples)
    if after:
        return np.where(drawn < chance, min(after, months), months)
    quarters = np.arange(QUARTER_MONTHS, months, QUARTER_MONTHS)
    passed = 1.0 - (1.0 - chance) ** (quarters / QUARTER_MONTHS)  # chance to have ended by then
    at = np.searchsorted(passed, drawn, side="right")
    return np.append(quarters, months)[at]


def _draw_waits(parameters: RiskParameters, months: int) -> NDArray[np.int64] | None:
    chance = parameters.unavailable_probability
    if not chance:
        return None
    stream = np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(parameters.seed).spawn(7)[-1])
    )
    return stream.geometric(1.0 - chance, (parameters.samples, months)) - 1


def _growth(parameters: RiskParameters, months: int, random: np.random.Generator) -> Floats:
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
    if not drivers.processes:
        return np.ones((0, parameters.samples, months + 1))
    paths = draw_paths(drivers.processes, months + 1, parameters.samples, parameters.seed)
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
        elif is_hardware:
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


def draw_lognormal(z: Floats, sd: float, years: Floats) -> Floats:
    """[n, T] exp(σ z t − ½ (σ t)²)."""
    if not sd:
        return np.ones((len(z), len(years)))
    factor = np.multiply.outer(z, sd * years)
    factor -= 0.5 * (sd * years) ** 2
    return np.asarray(np.exp(factor, out=factor))
