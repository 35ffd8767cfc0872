"""Some samples of one slip, and what moves the costs of plans in them. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner.contract.copies import cached_property
from planner.costing.analysis.outcomes import Outcomes
from planner.costing.analysis.plan_costs import (
    Cohort,
    PlanCosts,
    RentPart,
    hours_at_peak,
    shift_months,
)
from planner.costing.cost_model.ownership import ServerToBuy
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
    windows: Sequence[slice] = (slice(None),)
    """Months in each of which work has to be done."""
    is_level: bool = False
    """Whether the peak is the mean of work that goes on all month."""
    replica: int = 0
    """Reference accelerators of one replica of a service; 0: other work."""


@dataclass(frozen=True)
class Samples:
    """Some samples of one slip."""

    market: Market
    outcomes: Outcomes
    rows: slice
    slip: int
    demand: Floats
    """[n, T] hours asked that the month has time for at the peak."""
    at_peak: Floats
    """[T] or [n, T] hours at the peak."""
    extra: Floats
    """[T] or [n, T] hours that the peak lasts beyond the month, in which as much is asked: what is
    done then is rented beside all that works in the month."""

    @classmethod
    def of(
        cls, market: Market, outcomes: Outcomes, rows: slice, slip: int, peak: Floats | None = None
    ) -> Samples:
        """Those of some rows, which have one slip; `peak`: another than that of the market."""
        at_peak = hours_at_peak(market.hours, market.peak if peak is None else peak)
        level = None if outcomes.level is None else outcomes.level[rows]
        lasts, extra = stretch_peaks(at_peak, slip, market, level)
        planned = shift_months(market.hours, slip)
        demand = outcomes.demand(rows) * planned
        if market.replica:
            demand = count_replicas(demand, planned, shift_months(at_peak, slip) * market.replica)
        within = np.divide(lasts, lasts + extra, out=np.ones_like(extra), where=extra > 0)
        return cls(market, outcomes, rows, slip, demand * within, lasts, extra)

    def at(self, peak: Floats) -> Samples:
        """The same with another peak."""
        return Samples.of(self.market, self.outcomes, self.rows, self.slip, peak)

    @cached_property
    def width(self) -> Floats:
        """[n, T] reference accelerators asked at the peak."""
        width = np.zeros_like(self.demand)
        return np.divide(self.demand, self.at_peak, out=width, where=self.at_peak > 0)

    def price(self, key: str) -> Floats | None:
        """[n, T + 1] factor on the price of a source; None for one that nothing moves."""
        return self.outcomes.prices[self.market.drivers[key], self.rows] if key else None

    def quoted_price(self, key: str) -> Floats | None:
        """[n] factor on the price of a server for what sellers ask; None: 1."""
        server, normal = self.market.servers.get(key), self.outcomes.server_price
        if server is None or server.price_range is None or normal is None:
            return None
        return server.price_range.factors(normal[self.rows])

    def delays(self, key: str, rows: slice | None = None) -> NDArray[np.int64] | None:
        """[n] whole months by which a source comes late, here or in other `rows`; None for what
        comes on time."""
        server = self.market.servers.get(key)
        if server is None or server.delivery is None:
            return None
        delays = self.outcomes.delays(server.delivery)
        return None if delays is None else delays[rows or self.rows]

    def missing(self, cohort: Cohort, month: int) -> Floats | None:
        """[n, T] 1 in the months in which units ordered in `month` should serve and are not there
        yet, -1 in those in which they serve before they should; None where all come on time."""
        delays = self.delays(cohort.source.key)
        if delays is None or not delays.any():
            return None
        assert cohort.source.term is not None
        first = month + cohort.source.term.lead_months
        at, arrival = np.arange(self.demand.shape[1]), first + delays[:, None]
        late = np.where(at < arrival, cohort.service(month), 0.0)
        missing = late - ((at >= np.maximum(arrival, month)) & (at < first))
        ends = self.ends
        return np.asarray(missing if ends is None else missing * (at < ends[:, None]))

    def start_of(self, cohort: Cohort) -> int:
        """Month in which units planned for a later one are started: as much later as the work is,
        and then when they are sold again; as planned where they no longer are."""
        month, sold = cohort.month + self.slip, cohort.source.available
        if not cohort.source.is_owned or sold is None:
            return month
        later = np.flatnonzero(cohort.costs.can_start[month:])
        return month + int(later[0]) if len(later) else cohort.month

    @property
    def ends(self) -> NDArray[np.int64] | None:
        """[n] first month after the project's end; None where it never ends early."""
        return None if self.outcomes.ends is None else self.outcomes.ends[self.rows]

    def is_sold(self, cohort: Cohort, month: int) -> NDArray[np.bool_]:
        """[n] whether units of `month` are sold at the project's end, before their time."""
        ends, term = self.ends, cohort.source.term
        if ends is None or term is None or cohort.costs.sales is None:
            return np.zeros(len(self.demand), bool)
        retired = month + term.lead_months + term.duration_months
        return np.asarray(ends < min(retired, self.demand.shape[1]))

    def sale(self, cohort: Cohort, month: int, at: int | NDArray[np.int64]) -> Floats:
        """[n, 2] what a unit of `month` fetches in the months `at`, after tax, no more than was
        paid for it."""
        sales, key, rows = cohort.costs.sales, cohort.source.key, np.arange(len(self.demand))
        if sales is None:
            return np.zeros((len(rows), 2))
        price, quoted = self.price(key), self.quoted_price(key)
        fetched, paid = np.broadcast_to(sales.value[month, at], len(rows)), sales.paid[month]
        if price is not None:
            fetched, paid = fetched * price[rows, at], paid * price[:, month]
        paid = paid if quoted is None else paid * quoted
        return np.asarray(np.minimum(fetched, paid)[:, None] * sales.worth[at])

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


def stretch_peaks(
    at_peak: Floats, slip: int, market: Market, level: Floats | None
) -> tuple[Floats, Floats]:
    """[T] hours that the peak lasts in samples, [n, T] where hours are unsure; and those that it
    lasts beyond the month.

    What is late lasts as long as planned. The level of the hours moves how long the peak lasts, and
    of a service how high it is.
    """
    planned = shift_months(at_peak, slip)
    longest = np.maximum(shift_months(at_peak, slip, keep_total=False), HOURS_PER_MONTH)
    lasts = planned if level is None or market.replica else level[:, None] * planned
    return np.minimum(lasts, longest), np.maximum(lasts - longest, 0.0)


def count_replicas(needed: Floats, planned: Floats, one: Floats) -> Floats:
    """[n, T] hours of the whole replicas that a service keeps, at least one: as many more or fewer
    than `planned` as come nearest to what is needed, with [T] hours of `one`.

    >>> count_replicas(np.array([[0.0, 250.0, 390.0]]), np.full(3, 300.0), np.full(3, 100.0))
    array([[  0., 300., 400.]])
    """
    change = np.rint((needed - planned) / np.where(one > 0, one, 1.0)) * one
    return np.where(needed > 0, np.maximum(planned + change, np.minimum(one, planned)), 0.0)


@dataclass(frozen=True)
class HeldUnits:
    """What a plan owns and commits to in some samples."""

    cost: Floats
    """[n, 2] without what hours of use cost."""
    width: Floats
    """[n, T] reference accelerators in service."""
    hours: Floats
    """[T] or [n, T] reference hours that they can deliver."""
    started: Floats
    """[n, cohort] units started after the first month."""
    resale: Floats
    """[n] what servers fetch at the horizon's end, undiscounted: part of `cost`, negative."""


def hold_units(plan: PlanCosts, some: Samples) -> HeldUnits:
    """The units of a plan: those of its first month, and as many later as samples need."""
    started, cost, resale = _start_later(plan, some)
    cost += plan.fixed
    for one in plan.residual:
        fetched = _at_end(some, one.key, one.most) * one.value
        cost, resale = cost + fetched, resale + fetched[:, 1]
    width, hours = np.broadcast_to(plan.width, some.demand.shape), plan.hours
    if plan.later:
        width = width + started @ _service(plan, some, of_hours=False)
        hours = hours + started @ _service(plan, some, of_hours=True)
    for cohort in plan.bought:
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
            cost -= missing @ cohort.running_costs(month)
    if some.ends is not None:
        sold = _stop(plan, some, started)
        cost, resale = cost + sold.sum(axis=2), resale + sold[:, 1, 0]
    return HeldUnits(cost, width, hours, started, resale)


def add_units(
    plan: PlanCosts, some: Samples, started: Floats, first: Mapping[str, Floats]
) -> dict[str, Floats]:
    """source key → [n, T] units in service: those of the `first` month and in place, [T] each, with
    those `started` later, less what comes late."""
    shape = some.demand.shape
    nodes = {key: np.broadcast_to(row, shape).copy() for key, row in first.items()}
    service = _service(plan, some, of_hours=False)
    for i, cohort in enumerate(plan.later):
        row = nodes.setdefault(cohort.source.key, np.zeros(shape))
        row += np.multiply.outer(started[:, i], service[i] / cohort.source.capacity)
    for cohort, month, units in _ordered(plan, some, started):
        missing = some.missing(cohort, month)
        if missing is not None:
            nodes[cohort.source.key] -= missing * units[:, None]
    return nodes


def _start_later(plan: PlanCosts, some: Samples) -> tuple[Floats, Floats, Floats]:
    n, months = some.demand.shape
    started, cost, resale = np.zeros((n, len(plan.later))), np.zeros((n, 2)), np.zeros(n)
    planned = plan.width.copy()
    service = _service(plan, some, of_hours=False)
    for i, cohort in enumerate(plan.later):
        capacity = cohort.source.capacity
        planned = planned + cohort.units * capacity * cohort.service(cohort.month)
        month = some.start_of(cohort)
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
            most = cohort.costs.most_resale[month] * (1.0 if price is None else price[:, month])
            fetched = units[:, None] * _at_end(some, cohort.source.key, most)
            fetched = fetched * cohort.costs.residual[month]
            cost, resale = cost + fetched, resale + fetched[:, 1]
    return started, cost, resale


def _stop(plan: PlanCosts, some: Samples, started: Floats) -> Floats:
    """[n, 2, 2] what the end of the project changes of what servers fetch, and cost to run."""
    n, months = some.demand.shape
    change, ends = np.zeros((n, 2, 2)), some.ends
    assert ends is not None
    over = np.arange(months) >= ends[:, None]
    if plan.running is not None:
        change[:, :, 1] -= over @ plan.running
    for cohort, month, units in _ordered(plan, some, started):
        costs, price = cohort.costs, some.price(cohort.source.key)
        if costs.monthly is not None:
            change[:, :, 1] -= units[:, None] * (over @ costs.monthly[month])
        is_sold = some.is_sold(cohort, month)
        if is_sold.any():
            most = costs.most_resale[month] * (1.0 if price is None else price[:, month])
            fetched = some.sale(cohort, month, ends)
            fetched += _at_end(some, cohort.source.key, most) * costs.residual[month]
            change[:, :, 0] -= (units * is_sold)[:, None] * fetched
    return change


def _ordered(
    plan: PlanCosts, some: Samples, started: Floats
) -> Iterator[tuple[Cohort, int, Floats]]:
    n, months = some.demand.shape
    for cohort in plan.bought:
        yield cohort, 0, np.full(n, float(cohort.units))
    for i, cohort in enumerate(plan.later):
        month = some.start_of(cohort)
        if month < months:
            yield cohort, month, started[:, i]


def _service(plan: PlanCosts, some: Samples, of_hours: bool) -> Floats:
    months = some.demand.shape[1]
    rows = np.zeros((len(plan.later), months))
    for i, cohort in enumerate(plan.later):
        month = some.start_of(cohort)
        if month < months:
            per_unit = cohort.source.capacity
            per_unit *= cohort.source.hours_per_month if of_hours else 1.0
            rows[i] = per_unit * cohort.service(month)
    return rows


def _at_end(some: Samples, key: str, most: float | Floats) -> Floats:
    """[n, 1] factor on what servers fetch, no more of it than was paid for them."""
    price, quoted = some.price(key), some.quoted_price(key)
    factor = np.ones(some.demand.shape[0]) if price is None else price[:, -1]
    paid = most if quoted is None else most * quoted
    return np.asarray(np.minimum(factor, paid))[:, None]
