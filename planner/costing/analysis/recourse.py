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
- Servers cost what sellers ask, and come as late as they do: until then they neither work nor
  cost anything to run, and the work is rented. What comes late is retired and sold when planned.
- Credits pay the bills of the sample and minimum spends fall short of them, commitments billed as
  planned.
- Growth moves the peak. Hours that an estimate had wrong make the same peak last longer or
  shorter, as far as the month is long.

A sample in which all goes as planned costs what the plan costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.monte_carlo import chunks_of_one_slip, shift_months
from planner.costing.analysis.outcomes import Outcomes
from planner.costing.analysis.plan_costs import Cohort, PlanCosts, PoolBills
from planner.costing.analysis.progress import Report, nobody_waits
from planner.costing.analysis.rent_mix import RentMix, RentPart, Reservation, hours_at_peak
from planner.costing.analysis.simulation_work import recourse_units
from planner.costing.cost_model.server import ServerToBuy
from planner.costing.cost_model.spend_pools import settle_pools
from planner.costing.optimizer.work import WorkMeter
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Market:
    """What moves the costs of plans in the samples of one comparison."""

    hours: Floats
    """[T] reference accelerator-hours asked if all goes as expected."""
    peak: Floats
    drivers: Mapping[str, int]
    """source key → row of the prices of `Outcomes`."""
    max_spot_share: float
    spot_patience_hours: float
    servers: Mapping[str, ServerToBuy] = field(default_factory=dict)
    """Those whose price or delivery may be another than planned, by source key."""


def cost_plans(
    plans: Sequence[PlanCosts],
    market: Market,
    outcomes: Outcomes,
    report: Report = nobody_waits,
    work: WorkMeter | None = None,
) -> Floats:
    """[2, plan, N] net present and nominal cost of each plan in each sample."""
    meter = WorkMeter() if work is None else work
    cost = np.empty((2, len(plans), len(outcomes.slip)))
    at_peak = hours_at_peak(market.hours, market.peak)
    for rows, slip in chunks_of_one_slip(outcomes.slip):
        report(rows.start, len(outcomes.slip))
        n, months = rows.stop - rows.start, len(market.hours)
        meter.charge(sum(plan_units(n, plan, months) for plan in plans))
        moved = shift_months(market.hours, slip)
        some = _Samples(
            market=market,
            outcomes=outcomes,
            rows=rows,
            slip=slip,
            demand=outcomes.demand(rows) * moved,
            at_peak=stretch_peaks(
                shift_months(at_peak, slip, keep_total=False), moved, outcomes, rows
            ),
        )
        for i, plan in enumerate(plans):
            cost[:, i, rows] = _cost(plan, some if plan.peak is None else some.at(plan.peak)).T
    return cost


def plan_units(samples: int, plan: PlanCosts, months: int) -> float:
    """Units of work to cost a plan in so many samples."""
    mixes = (plan.rent, plan.more, plan.on_demand)
    return recourse_units(samples, sum(len(m.parts) for m in mixes), len(plan.later), months)


@dataclass(frozen=True)
class _Samples:
    """Some samples of one slip."""

    market: Market
    outcomes: Outcomes
    rows: slice
    slip: int
    demand: Floats
    """[n, T] hours asked."""
    at_peak: Floats
    """[T] or [n, T] hours at the peak."""

    def at(self, peak: Floats) -> _Samples:
        """The same with another peak."""
        moved = shift_months(self.market.hours, self.slip)
        at_peak = shift_months(hours_at_peak(self.market.hours, peak), self.slip, keep_total=False)
        return replace(self, at_peak=stretch_peaks(at_peak, moved, self.outcomes, self.rows))

    def price(self, key: str) -> Floats | None:
        """[n, T + 1] factor on the price of a source; None for one that nothing moves."""
        return self.outcomes.prices[self.market.drivers[key], self.rows] if key else None

    def quoted_price(self, key: str) -> Floats | None:
        """[n] factor on the price of a server for what sellers ask; None: 1."""
        server, normal = self.market.servers.get(key), self.outcomes.server_price
        if server is None or server.price_range is None or normal is None:
            return None
        return server.price_range.factors(normal[self.rows])

    def missing(self, cohort: Cohort, month: int) -> Floats | None:
        """[n, T] 1 in the months in which units ordered in `month` should serve and are not there
        yet; None where they come on time."""
        server, normal = self.market.servers.get(cohort.source.key), self.outcomes.delivery
        if server is None or server.delivery is None or normal is None:
            return None
        delays = server.delivery.delays(normal[self.rows])
        if not delays.any():
            return None
        assert cohort.source.term is not None
        first = month + cohort.source.term.lead_months
        at = np.arange(self.demand.shape[1])
        return np.where(at < first + delays[:, None], cohort.service(month), 0.0)

    def availability_factor(self, part: RentPart) -> Floats | None:
        """[n] factor on a price of a spot machine for what interruptions change; None: 1."""
        source, rows = part.source, self.rows
        if not source.is_spot:
            return None
        lost = self.outcomes.lost[rows]
        if source.availability is None:
            return lost
        patience = self.market.spot_patience_hours
        planned = source.availability.on_demand_share(patience)
        share = source.availability.on_demand_shares(
            self.outcomes.interruptions[rows], self.outcomes.waiting[rows], patience
        )
        if part.is_fallback:
            return share / planned
        return np.asarray(lost * (1.0 - share) / (1.0 - planned))


def _cost(plan: PlanCosts, some: _Samples) -> Floats:
    """[n, 2]"""
    started, cost = _start_later(plan, some)
    cost += plan.fixed
    for key, value in plan.residual:
        cost += _at_end(some, key) * value
    width, hours = np.broadcast_to(plan.width, some.demand.shape), plan.hours
    if plan.later:
        width = width + started @ _service(plan, some, of_hours=False)
        hours = hours + started @ _service(plan, some, of_hours=True)
    for cohort in plan.unsure:
        price = some.quoted_price(cohort.source.key)
        if price is not None:
            cost += np.multiply.outer(cohort.units * (price - 1.0), cohort.costs.priced[0])
    for cohort, month, units in _ordered(plan, some, started):
        missing = some.missing(cohort, month)
        if missing is not None:
            assert cohort.costs.monthly is not None
            missing *= units[:, None]
            width = width - missing * cohort.source.capacity
            hours = hours - missing * (cohort.source.capacity * cohort.source.hours_per_month)
            cost -= missing @ cohort.costs.monthly[month]
    served = np.minimum(hours, width * some.at_peak)
    served *= plan.usable
    lacking = some.demand - served
    np.maximum(lacking, 0.0, out=lacking)
    not_by_date = some.demand
    for one in plan.reserved:  # paid for whether it works or not, so it works first
        held = one.move(one.held, some.slip)
        lacking -= np.minimum(lacking, held)
        not_by_date = np.maximum(not_by_date - held, 0.0)
        cost += _pay_reserved(one, some)
    paid = _rented_hours(lacking, plan, some.at_peak, has_units=served > 0)
    used = np.clip(not_by_date - paid, 0.0, served)
    cost += used @ plan.in_use
    if plan.more is plan.rent:
        rented = [(plan.rent, paid)]
    else:
        planned = np.minimum(paid, plan.rent.width * some.at_peak)
        rented = [(plan.rent, planned), (plan.more, paid - planned)]
    for mix, hours_rented in rented:
        cost += _rent(mix, hours_rented, plan, some)
    return cost if plan.pools is None else cost + _settle(plan.pools, plan, rented, some)


def _pay_reserved(one: Reservation, some: _Samples) -> Floats:
    """[n, 2] what is billed for what is reserved by date, whatever of it the work takes."""
    price = some.price(one.source.key)
    cost = np.zeros((some.demand.shape[0], 2))
    for bill in one.bills:
        amounts = one.move(bill.amounts, some.slip)
        if price is None or not bill.is_rent:
            cost += amounts @ bill.worth
        else:
            cost += (amounts * price[:, :-1]) @ bill.worth
    return cost


def _settle(
    pools: PoolBills, plan: PlanCosts, rented: Sequence[tuple[RentMix, Floats]], some: _Samples
) -> Floats:
    """[n, 2] what credits pay, and what is owed of minimum spends, under the bills of the samples:
    those of the plan and what rent by the hour makes them more or less."""
    market, (n, months) = some.market, some.demand.shape
    peak = market.peak if plan.peak is None else plan.peak
    as_planned = plan.rent.width * hours_at_peak(market.hours, peak)
    bills = {provider: np.tile(planned, (n, 1)) for provider, planned in pools.bills.items()}
    for bill in plan.rent.bills:
        bills[bill.provider][:, :months] -= as_planned * (bill.moved + bill.still)
    for mix, hours in rented:
        for bill in mix.bills:
            price = some.price(bill.driver_key)
            moved = bill.moved if price is None else bill.moved * price[:, :-1]
            bills[bill.provider][:, :months] += hours * (moved + bill.still)
    bills = {provider: np.maximum(amounts, 0.0) for provider, amounts in bills.items()}
    cost = np.zeros((n, 2))
    for (_, amounts), worth in zip(settle_pools(pools.pools, bills), pools.worth, strict=True):
        cost += amounts @ worth
    return cost


def _start_later(plan: PlanCosts, some: _Samples) -> tuple[Floats, Floats]:
    """[n, cohort] units started later, and [n, 2] what they cost."""
    n, months = some.demand.shape
    started, cost = np.zeros((n, len(plan.later))), np.zeros((n, 2))
    planned = plan.width.copy()
    service = _service(plan, some, of_hours=False)
    for i, cohort in enumerate(plan.later):
        capacity = cohort.source.capacity
        planned = planned + cohort.units * capacity * cohort.service(cohort.month)
        month = cohort.month + some.slip
        if month >= months or not cohort.costs.can_start[month]:
            continue
        assert cohort.source.term is not None
        lead = cohort.source.term.lead_months
        wanted = some.outcomes.demand_at(month)[some.rows] * planned[cohort.month + lead]
        in_service = plan.width[month + lead] + started[:, :i] @ service[:i, month + lead]
        units = np.clip(np.rint((wanted - in_service) / capacity), 0.0, cohort.units)
        started[:, i] = units
        price, quoted = some.price(cohort.source.key), some.quoted_price(cohort.source.key)
        factor = units if price is None else units * price[:, month]
        factor = factor if quoted is None else factor * quoted
        cost += np.multiply.outer(units, cohort.costs.operating[month])
        cost += np.multiply.outer(factor, cohort.costs.priced[month])
        if cohort.costs.residual[month].any():
            value = units[:, None] * _at_end(some, cohort.source.key)
            cost += value * cohort.costs.residual[month]
    return started, cost


def _ordered(
    plan: PlanCosts, some: _Samples, started: Floats
) -> Iterator[tuple[Cohort, int, Floats]]:
    """Cohorts that may come late, with the month of their order and [n] their units."""
    n, months = some.demand.shape
    for cohort in plan.unsure:
        yield cohort, 0, np.full(n, float(cohort.units))
    for i, cohort in enumerate(plan.later):
        month = cohort.month + some.slip
        if month < months:
            yield cohort, month, started[:, i]


def _service(plan: PlanCosts, some: _Samples, of_hours: bool) -> Floats:
    """[cohort, T] width, or hours, that a unit of each later cohort gives in the samples."""
    months = some.demand.shape[1]
    rows = np.zeros((len(plan.later), months))
    for i, cohort in enumerate(plan.later):
        month = cohort.month + some.slip
        if month < months:
            per_unit = cohort.source.capacity
            per_unit *= cohort.source.hours_per_month if of_hours else 1.0
            rows[i] = per_unit * cohort.service(month)
    return rows


def _at_end(some: _Samples, key: str) -> Floats:
    """[n, 1] factor on a residual value."""
    price = some.price(key)
    return np.ones((some.demand.shape[0], 1)) if price is None else price[:, -1:]


def stretch_peaks(at_peak: Floats, work: Floats, outcomes: Outcomes, rows: slice) -> Floats:
    """[T] hours that the peak lasts in samples; [n, T] where estimates of hours are unsure."""
    at_peak = np.where((work > 0) & (at_peak <= 0), float(HOURS_PER_MONTH), at_peak)
    if outcomes.level is None:
        return at_peak
    longest = np.maximum(at_peak, HOURS_PER_MONTH * (work > 0))
    stretched = outcomes.level[rows, None] * at_peak
    return np.asarray(np.minimum(stretched, longest))


def _rented_hours(
    lacking: Floats, plan: PlanCosts, at_peak: Floats, has_units: NDArray[np.bool_]
) -> Floats:
    """[n, T] hours rented where `lacking` hours are."""
    per_month = np.where(at_peak > 0, at_peak, 1.0)
    return np.asarray(plan.rent.follow(lacking / per_month, plan.lacking, has_units) * at_peak)


def _rent(mix: RentMix, paid: Floats, plan: PlanCosts, some: _Samples) -> Floats:
    """[n, 2] what `paid` hours of a mix cost."""
    cost = paid @ mix.data
    for part in mix.parts:
        cost += _pay(part, paid, some)
    most = some.market.max_spot_share
    if most < 1.0 and mix.spot_share.any():
        over = np.maximum(paid * mix.spot_share - most * some.demand * (1.0 + 1e-9), 0.0)
        share = np.where(mix.spot_share > 0, mix.spot_share, 1.0)
        over_paid = over / share
        for part in mix.parts:
            if part.source.is_spot:
                cost -= _pay(part, over_paid, some)
        for part in plan.on_demand.parts:
            cost += _pay(part, over, some)
    return cost


def _pay(part: RentPart, hours: Floats, some: _Samples) -> Floats:
    """[n, 2] what `hours` cost of one price."""
    price = some.price(part.driver_key)
    cost = (hours if price is None else hours * price[:, :-1]) @ part.rate
    factor = some.availability_factor(part)
    return np.asarray(cost if factor is None else cost * factor[:, None])
