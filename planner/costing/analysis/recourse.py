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

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.in_samples.samples import Market, Samples
from planner.costing.analysis.in_samples.units import hold_units
from planner.costing.analysis.monte_carlo import chunks_of_one_slip
from planner.costing.analysis.outcomes import Outcomes
from planner.costing.analysis.plan_costs import PlanCosts, PoolBills
from planner.costing.analysis.progress import Report, nobody_waits
from planner.costing.analysis.rent_mix import RentMix, RentPart, Reservation, hours_at_peak
from planner.costing.analysis.simulation_work import recourse_units
from planner.costing.cost_model.spend_pools import settle_pools
from planner.costing.optimizer.work import WorkMeter

Floats = NDArray[np.float64]


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
    for rows, slip in chunks_of_one_slip(outcomes.slip):
        report(rows.start, len(outcomes.slip))
        n, months = rows.stop - rows.start, len(market.hours)
        meter.charge(sum(plan_units(n, plan, months) for plan in plans))
        some = Samples.of(market, outcomes, rows, slip)
        for i, plan in enumerate(plans):
            cost[:, i, rows] = _cost(plan, some if plan.peak is None else some.at(plan.peak)).T
    return cost


def plan_units(samples: int, plan: PlanCosts, months: int) -> float:
    """Units of work to cost a plan in so many samples."""
    mixes = (plan.rent, plan.more, plan.on_demand)
    return recourse_units(samples, sum(len(m.parts) for m in mixes), len(plan.later), months)


def _cost(plan: PlanCosts, some: Samples) -> Floats:
    """[n, 2]"""
    held = hold_units(plan, some)
    served = np.minimum(held.hours, held.width * some.at_peak)
    served *= plan.usable
    return pay_work(plan, some, served, held.cost)


def pay_work(plan: PlanCosts, some: Samples, served: Floats, cost: Floats) -> Floats:
    """[n, 2] `cost`, to which what the work costs is added: of [n, T] hours that units may serve,
    and of what is rented and reserved for the others."""
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


def _pay_reserved(one: Reservation, some: Samples) -> Floats:
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
    pools: PoolBills, plan: PlanCosts, rented: Sequence[tuple[RentMix, Floats]], some: Samples
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


def _rented_hours(
    lacking: Floats, plan: PlanCosts, at_peak: Floats, has_units: NDArray[np.bool_]
) -> Floats:
    """[n, T] hours rented where `lacking` hours are."""
    per_month = np.where(at_peak > 0, at_peak, 1.0)
    return np.asarray(plan.rent.follow(lacking / per_month, plan.lacking, has_units) * at_peak)


def _rent(mix: RentMix, paid: Floats, plan: PlanCosts, some: Samples) -> Floats:
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


def _pay(part: RentPart, hours: Floats, some: Samples) -> Floats:
    """[n, 2] what `hours` cost of one price."""
    price = some.price(part.driver_key)
    cost = (hours if price is None else hours * price[:, :-1]) @ part.rate
    factor = some.availability_factor(part)
    return np.asarray(cost if factor is None else cost * factor[:, None])
