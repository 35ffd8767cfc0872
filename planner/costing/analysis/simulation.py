"""What a plan costs in a sample, with later starts that follow what has happened. PURE.

The same policy holds for every plan. With q the demand of the sample over that of the plan in the
month of a decision, and a slip of s months:

- What is started in the first month is signed and stays. What is reserved by date is billed as
  planned, used or not, and comes as much later as the work does; blocks with dates of their own
  stay in these.
- Later starts come s months later, as the work does, at the prices of their month. Of a cohort
  of k units of capacity c as many are started as bring the units in service nearest to q times
  what the plan has then:

      started = min(k, max(0, round((q · planned − in service) / c)))

- Units serve the hours they can, within their width at the peak; what is lacking is rented at
  the prices of the sample: as the plan mixes it, without what is reserved by date, and no more of
  it spot than `max_spot_share` of the hours asked. Where machines rent whole, the sample rents to
  the nearest node as many more or fewer than the plan as its peak asks for, for the hours that
  the peak lasts. Quotas and budgets are not held against a sample.
- Where the project ends early nothing is rented, run or started from then on, servers in place
  included; what is signed, leased or borrowed is paid to its end, a reservation by date that has
  begun too, and servers that the plan bought are sold at their age.
- Servers cost what sellers ask, and come as late as they do: until then they neither work nor
  cost anything to run, and the work is rented. What comes late is retired and sold when planned.
- Credits pay the bills of the sample and minimum spends fall short of them: what is not started
  is not billed.
- Where machines by the hour are not there, what would be rented waits for the first month in which
  they are, and at the latest for the last. It is late where the machines that the plan rents,
  going on all month, do not do it by the end of its window.
- Growth moves the peak. Hours that are more or fewer than stated or estimated make the same peak
  last longer or shorter, as far as the month is long; those beyond are rented, as is late work for
  which the last month is too short: where no peak is stated, after idle units have done what they
  can. A service keeps more or fewer replicas instead.

A sample in which all goes as planned costs what the plan costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import Cause
from planner.contract.copies import cached_property
from planner.costing.analysis.outcomes import (
    Outcomes,
    PriceDrivers,
    RiskParameters,
    draw_outcomes,
    find_drivers,
    planned_outcomes,
)
from planner.costing.analysis.plan_costs import (
    ROUNDING,
    PlanCosts,
    PoolBills,
    RentMix,
    RentPart,
    Reservation,
    ReservedBill,
    Sales,
    UnitCosts,
    list_priced_sources,
    measure_plan,
    measure_units,
    shift_months,
)
from planner.costing.analysis.samples import Market, Samples, hold_units
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.spend_pools import settle_pools
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import Scenario
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]

CHUNK = 2048
"""Samples costed at once: 36 months of them fit a core's cache."""
DRAWN_MONTH_UNITS = 0.02
"""Units of work for a month of one price drawn from its process."""
RECOURSE_MONTH_UNITS, PART_MONTH_UNITS, COHORT_MONTH_UNITS = 0.008, 0.002, 0.0005
"""The same for a month of a plan; for each price that it rents at; and for all
that it starts later in one month."""
COHORT_UNITS, COHORT_PAIR_UNITS = 0.02, 0.0003
"""The same for one start of a later month, and against each one before it."""
MEASURING_UNITS, MEASURE_SOURCE_UNITS = 500, 4
"""Units of work to see a plan as samples do, and for each source of the comparison."""
MAX_DRAWN_FIGURES = 10_000_000
"""Months of prices and of demand in all samples that are held together: 80 MB, and half as much
again while they are drawn."""
MIN_SAMPLES = 100
"""Fewer samples than that say nothing of a tenth of them."""
COSTED_SHARE = 0.9
"""Share of the work left that samples may take; the rest is for what each chunk of them takes."""
HALF_CENT = 0.005
"""Most by which a line is rounded."""

Report = Callable[[int, int], None]
"""Told how many steps are done, and of how many."""


def nobody_waits(done: int, total: int) -> None:
    """Tells nobody."""


def fit_simulation(
    inputs: ModelInputs, parameters: RiskParameters, plans: Sequence[Scenario], work: WorkMeter
) -> Simulation | None:
    """The samples of a comparison, as many as the `work` allows for and memory holds; None where
    that is too few. The prices that `plans` pay are drawn."""
    feasible = [plan for plan in plans if plan.feasible]
    wanted, months = parameters.samples, inputs.calendar.months
    one = planned_simulation(inputs, parameters, plans)
    prices = len(one.drivers.processes)
    drawing = drawing_units(1_000, prices, months)
    costing = sum(plan_units(1_000, plan, months) for plan in one.measure(feasible))
    wanted = fit_memory(wanted, prices, months)
    left = work.remaining - measuring_units(2 * len(feasible), len(inputs.sources))
    samples = fit_samples(wanted, drawing + costing, left * COSTED_SHARE)
    if samples == wanted < parameters.samples:
        work.note_too_large()
    if not samples:
        return None
    work.charge(drawing * samples / 1_000)
    fitted = replace(parameters, samples=samples)
    return replace(one, parameters=fitted, outcomes=draw_outcomes(fitted, one.drivers, months))


def simulation_of(
    inputs: ModelInputs, parameters: RiskParameters, plans: Sequence[Scenario] | None = None
) -> Simulation:
    """The samples of a comparison.

    With `plans` no others can be costed: only the prices that these pay are drawn.
    """
    drivers = find_drivers(inputs, None if plans is None else list_priced_sources(plans, inputs))
    outcomes = draw_outcomes(parameters, drivers, inputs.calendar.months)
    return Simulation(inputs, parameters, drivers, outcomes)


def planned_simulation(
    inputs: ModelInputs, parameters: RiskParameters, plans: Sequence[Scenario] | None = None
) -> Simulation:
    """One sample in which all goes as expected, with prices of their own."""
    drivers = find_drivers(inputs, None if plans is None else list_priced_sources(plans, inputs))
    outcomes = planned_outcomes(drivers, inputs.calendar.months)
    return Simulation(inputs, parameters, drivers, outcomes)


@dataclass(frozen=True)
class Simulation:
    """Samples of a comparison, and what plans cost in them."""

    inputs: ModelInputs
    parameters: RiskParameters
    drivers: PriceDrivers
    outcomes: Outcomes
    _units: dict[str, UnitCosts] = field(default_factory=dict)
    _measured: dict[int, tuple[Scenario, PlanCosts]] = field(default_factory=dict)
    """By the identity of the plan."""

    @property
    def hours_factors(self) -> Floats | None:
        """[N] factor on all hours as they were estimated; None where they are stated."""
        return None if self.parameters.hours_p10_p90 == (1.0, 1.0) else self.outcomes.level

    @cached_property
    def market(self) -> Market:
        """What moves the costs of plans."""
        inputs = self.inputs
        return Market(
            hours=inputs.hours,
            peak=inputs.peak,
            drivers=self.drivers.of_source,
            max_spot_share=inputs.max_spot_share,
            spot_patience_hours=self.parameters.spot_patience_hours,
            windows=inputs.windows,
            servers=inputs.servers.unsure,
            is_level=inputs.is_level,
            replica=inputs.replica,
        )

    @property
    def share_done(self) -> float:
        """Mean share of the work that is done before the project ends."""
        outcomes, hours = self.outcomes, self.inputs.hours
        outcomes = replace(outcomes, growth=np.ones_like(outcomes.growth), level=None)
        done = sum(
            float((outcomes.demand(rows) @ shift_months(hours, slip)).sum())
            for rows, slip in chunks_of_one_slip(outcomes.slip)
        )
        return done / (len(outcomes.slip) * float(hours.sum()))

    def with_inputs(self, inputs: ModelInputs) -> Simulation:
        """The same samples of other inputs."""
        return replace(self, inputs=inputs, _units={}, _measured={})

    def with_causes(self, causes: Set[Cause]) -> Simulation:
        """The same samples in which these causes alone vary."""
        return replace(self, outcomes=self.outcomes.with_causes(causes))

    def cost(
        self,
        plans: Sequence[Scenario],
        report: Report = nobody_waits,
        work: WorkMeter | None = None,
    ) -> Floats:
        """[4, plan, N], see `cost_plans`."""
        if work is not None:
            work.charge(measuring_units(len(plans), len(self.inputs.sources)))
        return cost_plans(self.measure(plans), self.market, self.outcomes, report, work)

    def measure(self, plans: Sequence[Scenario]) -> list[PlanCosts]:
        """The plans as samples see them."""
        for plan in plans:
            if id(plan) in self._measured:
                continue
            for key, source in self.inputs.by_key.items():
                is_needed = key in plan.units_started or source.existing is not None
                if is_needed and source.term is not None:
                    self.measure_unit(source)
            self._measured[id(plan)] = plan, measure_plan(plan, self.inputs, self._units)
        return [self._measured[id(plan)][1] for plan in plans]

    def measure_unit(self, source: CapacitySource) -> UnitCosts:
        """What one unit of a source costs, and fetches."""
        if source.key not in self._units:
            costs = measure_units(source, self.inputs.calendar)
            self._units[source.key] = replace(costs, sales=Sales.of(source, self.inputs))
        return self._units[source.key]


def cost_plans(
    plans: Sequence[PlanCosts],
    market: Market,
    outcomes: Outcomes,
    report: Report = nobody_waits,
    work: WorkMeter | None = None,
) -> Floats:
    """[4, plan, N] net present and nominal cost of each plan in each sample, its nominal payments
    before resale, and 1 where its work is late for want of machines by the hour."""
    meter = WorkMeter() if work is None else work
    cost = np.empty((4, len(plans), len(outcomes.slip)))
    for rows, slip in chunks_of_one_slip(outcomes.slip):
        report(rows.start, len(outcomes.slip))
        n, months = rows.stop - rows.start, len(market.hours)
        meter.charge(sum(plan_units(n, plan, months) for plan in plans))
        some = Samples.of(market, outcomes, rows, slip)
        for i, plan in enumerate(plans):
            seen = some if plan.peak is None else some.at(plan.peak)
            held = hold_units(plan, seen)
            served = np.minimum(held.hours, held.width * seen.at_peak)
            served *= plan.usable
            cost[:2, i, rows] = pay_work(plan, seen, served, held.cost, held.started).T
            cost[2, i, rows] = cost[1, i, rows] - held.resale
            cost[3, i, rows] = _is_late(plan, seen, served)
    return cost


def plan_units(samples: int, plan: PlanCosts, months: int) -> float:
    """Units of work to cost a plan in so many samples."""
    mixes = (plan.rent, plan.more, plan.on_demand)
    return recourse_units(samples, sum(len(m.parts) for m in mixes), len(plan.later), months)


def _is_late(plan: PlanCosts, some: Samples, served: Floats) -> NDArray[np.bool_]:
    late = np.zeros(len(served), bool)
    if some.outcomes.waits is None:
        return late
    paid, _ = _hours_rented(plan, some, served)
    paid = np.minimum(paid, plan.rent.width * some.at_peak)  # more hours are no want of machines
    is_there = some.outcomes.is_there(paid, some.rows)
    width = np.divide(paid, some.at_peak, out=np.zeros_like(paid), where=some.at_peak > 0)
    most = np.maximum.accumulate(width, axis=1) * is_there * float(HOURS_PER_MONTH)
    for months in some.market.windows:
        late |= paid[:, months].sum(axis=1) > most[:, months].sum(axis=1) * (1.0 + ROUNDING)
    return late


def _wait(paid: Floats, some: Samples) -> Floats:
    """[n, T] hours that are rented, each in the first month from its own on in which it can be, or
    in the last; none of them once the project has ended."""
    is_there = some.outcomes.is_there(paid, some.rows)
    if is_there is None:
        return paid
    n, months = paid.shape
    rented, waiting = np.zeros_like(paid), np.zeros(n)
    for month in range(months):
        waiting = (waiting + paid[:, month]) * some.outcomes.goes_on(month)[some.rows]
        rented[:, month] = waiting * (is_there[:, month] | (month == months - 1))
        waiting = waiting - rented[:, month]
    return rented


def pay_work(
    plan: PlanCosts, some: Samples, served: Floats, cost: Floats, started: Floats | None = None
) -> Floats:
    """[n, 2] `cost`, to which what the work costs is added: of [n, T] hours that units may serve,
    and of what is rented and reserved for the others; credits and minimum spends count the units
    `started` later."""
    paid, used = _hours_rented(plan, some, served)
    paid = _wait(paid, some)
    for one in plan.reserved:
        cost += _pay_reserved(one, some)
    cost += used @ plan.in_use
    if plan.more is plan.rent:
        rented = [(plan.rent, paid)]
    else:
        planned = np.minimum(paid, plan.rent.width * some.at_peak)
        rented = [(plan.rent, planned), (plan.more, paid - planned)]
    for mix, hours_rented in rented:
        cost += _rent(mix, hours_rented, plan, some)
    if plan.pools is None:
        return cost
    bills = {p: np.tile(fixed, (len(paid), 1, 1)) for p, fixed in plan.pools.bills.items()}
    _bill_units(bills, plan.pools, plan, some, used, started)
    _bill_hours(bills, plan, rented, some)
    pools = settle_pools(plan.pools.pools, {p: row.clip(0.0, out=row) for p, row in bills.items()})
    for (_, amounts), worth in zip(pools, plan.pools.worth, strict=True):
        cost += amounts @ worth
    return cost


def _hours_rented(plan: PlanCosts, some: Samples, served: Floats) -> tuple[Floats, Floats]:
    """[n, T] hours rented in the month in which they are asked for, and those of units. Hours for
    which the month is too short rent whole nodes for as long as they last: what idles in it is more
    than the work can use at once."""
    lacking = some.demand - served
    np.maximum(lacking, 0.0, out=lacking)
    not_by_date = some.demand
    for one in plan.reserved:  # paid for whether it works or not, so it works first
        held = one.move(one.held, some.slip)
        lacking -= np.minimum(lacking, held)
        not_by_date = np.maximum(not_by_date - held, 0.0)
    lacking /= np.where(some.at_peak > 0, some.at_peak, 1.0)
    all_month = some.market.replica > 0
    paid = plan.rent.follow(lacking, plan.lacking, served > 0, all_month) * some.at_peak
    used = np.clip(not_by_date - paid, 0.0, served)
    if not some.extra.any():
        return paid, used
    nodes, extra = plan.rent.follow(some.width, plan.lacking, np.False_, all_month=True), some.extra
    if some.market.is_level:  # it may do more at once, on units that are there
        idle = np.minimum(served - used, some.width * extra)
        used, extra = used + idle, extra - idle / np.where(some.width > 0, some.width, 1.0)
    return paid + nodes * extra, used


def _pay_reserved(one: Reservation, some: Samples) -> Floats:
    cost = np.zeros((some.demand.shape[0], 2))
    for bill in one.bills:
        cost += _reserved(one, bill, some) @ bill.worth
    return cost


def _reserved(one: Reservation, bill: ReservedBill, some: Samples) -> Floats:
    """[T] or [n, T] what a charge comes to."""
    price, amounts = some.price(one.source.key), one.move(bill.amounts, some.slip)
    if some.ends is not None:
        amounts = amounts * one.is_booked(some.slip, some.ends)
    return amounts if price is None or not bill.is_rent else amounts * price[:, :-1]


def _bill_units(
    bills: dict[str, Floats],
    pools: PoolBills,
    plan: PlanCosts,
    some: Samples,
    used: Floats,
    started: Floats | None,
) -> None:
    """Adds to [n, L, 2] bills of each provider those of units, used and started later."""
    for provider, rate in pools.in_use.items() if used.any() else ():
        bills[provider][:, : used.shape[1]] += used[:, :, None] * rate
    for i, cohort in enumerate(plan.later):
        key, month = cohort.source.key, some.start_of(cohort)
        if started is None or key not in pools.later or month >= used.shape[1]:
            continue
        price = some.price(key)
        units = started[:, i] if price is None else started[:, i] * price[:, month]
        bills[cohort.source.provider] += np.multiply.outer(units, pools.later[key][month])


def _bill_hours(
    bills: dict[str, Floats],
    plan: PlanCosts,
    rented: Sequence[tuple[RentMix, Floats]],
    some: Samples,
) -> None:
    """Adds to [n, L, 2] bills of each provider those of what is reserved by date and rented."""
    months = some.demand.shape[1]
    for one in plan.reserved:
        for charge in one.bills if one.source.provider in bills else ():
            bills[one.source.provider][:, :months, 0] += (
                _reserved(one, charge, some) * charge.billed
            )
    for mix, paid in rented:
        for provider, rate in mix.billed.items() if mix.data.any() else ():
            bills[provider][:, :months, 0] += paid * rate
        for part, hours in _parts_rented(mix, paid, plan, some):
            if part.source.provider in bills:
                due = _price_hours(part, hours, some) * part.billed
                bills[part.source.provider][:, :months, 0] += due


def _rent(mix: RentMix, paid: Floats, plan: PlanCosts, some: Samples) -> Floats:
    cost = paid @ mix.data
    for part, hours in _parts_rented(mix, paid, plan, some):
        cost += _price_hours(part, hours, some) @ part.rate
    return cost


def _parts_rented(
    mix: RentMix, paid: Floats, plan: PlanCosts, some: Samples
) -> Iterator[tuple[RentPart, Floats]]:
    """Each price of a mix with [n, T] hours of the mix at it, beyond spot's greatest share on
    demand."""
    most = some.market.max_spot_share
    for part in mix.parts:
        yield part, paid
    if most < 1.0 and mix.spot_share.any():
        needed = some.demand + some.width * some.extra
        over = np.maximum(paid * mix.spot_share - most * needed * (1.0 + 1e-9), 0.0)
        over_paid = over / np.where(mix.spot_share > 0, mix.spot_share, 1.0)
        yield from ((part, -over_paid) for part in mix.parts if part.source.is_spot)
        yield from ((part, over) for part in plan.on_demand.parts)


def _price_hours(part: RentPart, hours: Floats, some: Samples) -> Floats:
    """[n, T] hours by what moves their price."""
    price, factor = some.price(part.driver_key), some.availability_factor(part)
    hours = hours if price is None else hours * price[:, :-1]
    return hours if factor is None else hours * factor[:, None]


def chunks_of_one_slip(slip: NDArray[np.int64]) -> list[tuple[slice, int]]:
    """Slices of at most `CHUNK` samples with one slip."""
    chunks = []
    for value in np.unique(slip).tolist():
        first, last = np.searchsorted(slip, [value, value + 1]).tolist()
        chunks += [
            (slice(at, min(at + CHUNK, last)), int(value)) for at in range(first, last, CHUNK)
        ]
    return chunks


@dataclass(frozen=True)
class RiskResult:
    """Net present cost, and undiscounted total, of each scenario over the samples."""

    percentiles: Mapping[ScenarioKey, tuple[float, float, float]]
    """p10, p50, p90."""
    total_percentiles: Mapping[ScenarioKey, tuple[float, float, float]]
    """The same of the undiscounted total."""
    mean: Mapping[ScenarioKey, float]
    total_mean: Mapping[ScenarioKey, float]
    """The expected cost: mean of the undiscounted total."""
    probability_cheapest: Mapping[ScenarioKey, float]
    """Sums to 1: of scenarios that cost the same the first counts."""
    samples: int
    seed: int


def summarize_risk(
    keys: Sequence[ScenarioKey], cost: Floats, total: Floats, parameters: RiskParameters
) -> RiskResult:
    """What the net present costs and the undiscounted totals, both [scenario, N], come to."""
    if not keys:
        return RiskResult({}, {}, {}, {}, {}, parameters.samples, parameters.seed)
    n = cost.shape[1]
    edge = cost.min(axis=0)
    edge = edge + 1e-9 * np.abs(edge)
    cheapest = np.bincount(np.asarray((cost <= edge).argmax(axis=0)), minlength=len(keys)) / n
    return RiskResult(
        percentiles={k: _p10_p50_p90(row) for k, row in zip(keys, cost, strict=True)},
        total_percentiles={k: _p10_p50_p90(row) for k, row in zip(keys, total, strict=True)},
        mean={k: float(row.mean()) for k, row in zip(keys, cost, strict=True)},
        total_mean={k: float(row.mean()) for k, row in zip(keys, total, strict=True)},
        probability_cheapest=dict(zip(keys, cheapest.tolist(), strict=True)),
        samples=parameters.samples,
        seed=parameters.seed,
    )


def reach_plans(
    ends: Mapping[ScenarioKey, tuple[float, float, float]],
    plans: Mapping[ScenarioKey, tuple[float, int]],
) -> dict[ScenarioKey, tuple[float, float, float]]:
    """Percentiles moved to the cost of each plan outside them where cents alone part them, as its
    lines are rounded and samples are not; `plans` holds cost and number of lines.

    >>> ends = {ScenarioKey.HYBRID: (100.02, 100.02, 120.0)}
    >>> reach_plans(ends, {ScenarioKey.HYBRID: (100.0, 24)})[ScenarioKey.HYBRID]
    (100.0, 100.0, 120.0)
    >>> reach_plans(ends, {ScenarioKey.HYBRID: (99.0, 24)}) == ends
    True
    """
    reached = {}
    for key, (low, middle, high) in ends.items():
        cost, lines = plans[key]
        if not low <= cost <= high:
            low, middle, high = (
                cost if abs(end - cost) <= HALF_CENT * lines else end for end in (low, middle, high)
            )
        reached[key] = (low, middle, high)
    return reached


def _p10_p50_p90(row: Floats) -> tuple[float, float, float]:
    low, middle, high = np.percentile(row, (10, 50, 90))
    return float(low), float(middle), float(high)


def drawing_units(samples: int, prices: int, months: int) -> float:
    """Units of work to draw so many prices and the demand."""
    return 30 + samples * (prices + 1) * (months + 10) * DRAWN_MONTH_UNITS


def recourse_units(samples: int, parts: int, later: int, months: int) -> float:
    """Units of work to cost a plan that rents at so many prices and starts units in so many
    cohorts after its first month."""
    by_month = RECOURSE_MONTH_UNITS + parts * PART_MONTH_UNITS + later * COHORT_MONTH_UNITS
    by_cohort = later * (COHORT_UNITS + later * COHORT_PAIR_UNITS)
    return 30 + samples * ((months + 10) * by_month + by_cohort)


def measuring_units(plans: int, sources: int) -> float:
    """Units of work to see so many plans as samples do."""
    return plans * (MEASURING_UNITS + sources * MEASURE_SOURCE_UNITS)


def fit_memory(samples: int, prices: int, months: int) -> int:
    """As many of the samples as fit into memory."""
    return min(samples, MAX_DRAWN_FIGURES // ((prices + 2) * (months + 1)))


def fit_samples(samples: int, units_per_1000: float, units: float) -> int:
    """As many of the samples as so many units allow, 0 where that is too few to say anything."""
    most = min(samples, units / units_per_1000 * 1_000)
    return int(most) if most >= MIN_SAMPLES else 0
