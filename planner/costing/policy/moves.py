"""What may be bought, signed, sold or left at each date of a comparison, and what it costs. PURE.

A *bundle* is what a plan buys or signs first. At a date nothing is held, or a bundle since a date:

| position | moves |
|---|---|
| nothing held | wait (rent), or start a bundle |
| bundle held | keep it until its service ends; sell it where it is servers that have come |

Costs are net present and those of the plan: rents of what units leave by `pay_work`, units by
`measure_units`, prices, quotes, deliveries and demand of each sample by `Outcomes`. A server sold
in month l, bought in month s, fetches `sale_value` at that month's price of hardware, and no more
than was paid for it; what it has not yet written off by then is written off when planned. Where the
project ends nothing is left to decide: servers are sold, and no move costs anything from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.copies import cached_property, replace
from planner.costing.analysis.plan_costs import Cohort, PlanCosts, RentMix
from planner.costing.analysis.samples import Samples
from planner.costing.analysis.simulation import Simulation, chunks_of_one_slip, pay_work
from planner.costing.policy.least_squares import Move, Paths
from planner.costing.results.scenario_result import Scenario

Floats = NDArray[np.float64]

WAIT, START, KEEP, SELL = "wait", "start", "keep", "sell"
MOST_KEYS = 3
"""Sources of a bundle: rents are worked out for each of the 2^n ways in which they serve."""


@dataclass(frozen=True)
class Bundle:
    """What a plan buys or signs first: [units] by the key of its source."""

    plan: Scenario
    units: Mapping[str, int]

    @classmethod
    def of(cls, plan: Scenario) -> Bundle:
        """Units by source in the first month in which a plan starts any."""
        started = {key: n for key, n in plan.units_started.items() if n.any()}
        first = min((int(np.flatnonzero(n)[0]) for n in started.values()), default=0)
        return cls(plan, {key: int(n[first]) for key, n in sorted(started.items()) if n[first]})


@dataclass(frozen=True)
class Decisions:
    """Dates, what may be done at each, and the plan that waits."""

    simulation: Simulation
    waiting: Scenario
    """The plan that buys and signs nothing."""
    bundles: tuple[Bundle, ...]
    every_months: int = 3

    @property
    def months(self) -> NDArray[np.intp]:
        """[K] month of each date."""
        return np.arange(0, self.simulation.inputs.calendar.months, self.every_months)

    @cached_property
    def driver_keys(self) -> tuple[str, ...]:
        """Sources whose prices the decisions depend on: the dearest rent of the plan that waits,
        and all that may be bought or signed."""
        rent = self.simulation.measure([self.waiting])[0].rent
        parts = sorted(rent.parts, key=lambda part: -float(part.rate[:, 0].sum()))
        rents = [part.driver_key for part in parts if part.driver_key]
        keys = [*rents[:1], *(key for bundle in self.bundles for key in bundle.units)]
        return tuple(dict.fromkeys(keys))

    @cached_property
    def figures(self) -> tuple[str, ...]:
        """A source for each price of the state, in its order: sources of one price count once."""
        drivers = self.simulation.drivers.of_source
        firsts = {drivers[key]: key for key in reversed(self.driver_keys)}
        return tuple(firsts[row] for row in dict.fromkeys(drivers[key] for key in self.driver_keys))

    def position(self, bundle: int, date: int) -> int:
        """That of a bundle held since a date; 0: nothing held."""
        return 1 + bundle * len(self.months) + date

    def paths(self) -> Paths:
        """What is known at each date of each sample, and what moves cost."""
        simulation = self.simulation
        market, outcomes = simulation.market, simulation.outcomes
        plans = simulation.measure([self.waiting, *(bundle.plan for bundle in self.bundles)])
        pieces = [
            _Chunk(self, plans, Samples.of(market, outcomes, rows, slip)).moves()
            for rows, slip in chunks_of_one_slip(outcomes.slip)
        ]
        months = self.months.tolist()
        return Paths(
            state=[self._known(month) for month in months],
            moves=[_join([piece[k] for piece in pieces]) for k in range(len(months))],
            past=[self._known(max(month - self.every_months, 0)) for month in months],
            is_open=[outcomes.goes_on(month) for month in months],
        )

    def _known(self, month: int) -> Floats:
        """[N, F] ln F and F of each price, and ln of the demand. Rents follow F, and what moves
        are worth ln F: with both the best policy was found, and its bound was no higher."""
        outcomes, drivers = self.simulation.outcomes, self.simulation.drivers.of_source
        prices = [outcomes.prices[drivers[key], :, month] for key in self.figures]
        figures = [figure for price in prices for figure in (np.log(price), price)]
        demand = outcomes.asked_at(month) if month else np.ones(len(outcomes.slip))
        return np.column_stack([*figures, np.log(demand)])


def _join(pieces: Sequence[Sequence[Move]]) -> list[Move]:
    return [
        replace(moves[0], cost=np.concatenate([move.cost for move in moves]))
        for moves in zip(*pieces, strict=True)
    ]


@dataclass(frozen=True)
class _Chunk:
    decisions: Decisions
    plans: Sequence[PlanCosts]
    """The plan that waits, then those of the bundles."""
    some: Samples

    def moves(self) -> list[list[Move]]:
        """The moves of each date; all that is there already is paid at the first."""
        dates = len(self.decisions.months)
        ends = [*self.decisions.months[1:].tolist(), self._months]
        moves: list[list[Move]] = [[] for _ in range(dates)]
        goes_on = [self.some.outcomes.goes_on(m)[self.some.rows] for m in self.decisions.months]
        for k, month in enumerate(self.decisions.months.tolist()):
            rent = self._rented[:, month : ends[k]].sum(axis=1)
            rent = rent + (self._existing_cost if k == 0 else 0.0)
            moves[k].append(Move(WAIT, 0, 0, rent))
        for b in range(len(self.decisions.bundles)):
            held = _Held(self, b)
            for k, month in enumerate(self.decisions.months.tolist()):
                if held.can_start(month):
                    for date, move in self._moves_since(held, b, k, ends):
                        moves[date].append(replace(move, cost=move.cost * goes_on[date]))
        return moves

    def _moves_since(
        self, held: _Held, bundle: int, start: int, ends: Sequence[int]
    ) -> Iterator[tuple[int, Move]]:
        months = self.decisions.months.tolist()
        since, position = months[start], self.decisions.position(bundle, start)
        monthly, last = held.monthly(since), held.last_month(since)
        for k in range(start, len(months)):
            cost = monthly[:, months[k] - since : ends[k] - since].sum(axis=1)
            cost = cost - held.sale_at_end(since, months[k], ends[k])
            is_over = ends[k] > last or ends[k] == self._months
            if is_over:
                cost = cost + held.resale_at_end(since)
            end = 0 if is_over else position
            if k == start:
                first = cost + held.due_at_start(since) + (self._existing_cost if k == 0 else 0.0)
                yield k, Move(f"{START} {bundle}", 0, end, first)
            else:
                yield k, Move(KEEP, position, end, cost)
                if held.may_sell(since, months[k]):
                    rent = self._rented[:, months[k] : ends[k]].sum(axis=1)
                    yield k, Move(SELL, position, 0, rent - held.sale(since, months[k]))
            if is_over:
                return

    @property
    def _months(self) -> int:
        return int(self.some.demand.shape[1])

    @cached_property
    def _rented(self) -> Floats:
        return self.work_costs(0, self.plans[0].width, self.plans[0].hours)

    @cached_property
    def _existing_cost(self) -> Floats:
        plan = self.plans[0]
        cost = np.full(len(self.some.demand), float(plan.fixed[0]))
        for one in plan.residual:
            price = self.some.price(one.key)
            cost += float(one.value[0]) * (1.0 if price is None else price[:, -1])
        if self.some.ends is not None and plan.running is not None:
            cost -= (np.arange(self._months) >= self.some.ends[:, None]) @ plan.running[:, 0]
        return cost

    def work_costs(self, at: int, width: Floats, hours: Floats) -> Floats:
        """[n, T] what the work costs beside units of some width and hours [T], as a plan mixes
        what it rents."""
        plan = self.plans[at]
        some = self.some if plan.peak is None else self.some.at(plan.peak)
        served = np.minimum(hours, width * some.at_peak) * plan.usable
        served = np.broadcast_to(served, some.demand.shape)
        return pay_work(_by_month(plan), some, served, np.zeros(some.demand.shape))


@dataclass(frozen=True)
class _Held:
    """A bundle in some samples."""

    chunk: _Chunk
    index: int

    @cached_property
    def _cohorts(self) -> list[Cohort]:
        simulation = self.chunk.decisions.simulation
        units = self.chunk.decisions.bundles[self.index].units
        sources = ((simulation.inputs.by_key[key], count) for key, count in units.items())
        return [Cohort(one, simulation.measure_unit(one), 0, count) for one, count in sources]

    @cached_property
    def _goes_on(self) -> NDArray[np.bool_]:
        """[n, T] whether there is still a project."""
        some = self.chunk.some
        months, ends = np.arange(some.demand.shape[1]), some.ends
        return np.full(some.demand.shape, True) if ends is None else months < ends[:, None]

    def can_start(self, month: int) -> bool:
        """Whether all of it comes into service if it is started in a month."""
        return all(bool(cohort.costs.can_start[month]) for cohort in self._cohorts)

    def last_month(self, since: int) -> int:
        """Last month in which any of it serves."""
        rows = [np.flatnonzero(cohort.service(since)) for cohort in self._cohorts]
        return max(int(row[-1]) if len(row) else since for row in rows)

    def monthly(self, since: int) -> Floats:
        """[n, T - since] the work, and running what has come, from the month in which it is started
        on."""
        work = self._work[:, :, since:]
        serving, running = np.zeros(work.shape[1:], np.intp), np.zeros(work.shape[1:])
        for bit, cohort in enumerate(self._cohorts):
            service = cohort.service(since)[since:]
            missing = self.chunk.some.missing(cohort, since)
            missing = None if missing is None else missing[:, since:]
            service = service if missing is None else service - missing
            serving += (service > 0.5).astype(np.intp) << bit
            if cohort.costs.monthly is not None:
                paid = cohort.costs.monthly[since, since:, 0]
                if missing is not None:
                    paid = paid - missing * cohort.running_costs(since)[since:, 0]
                running = running + cohort.units * paid * self._goes_on[:, since:]
        return np.asarray(np.take_along_axis(work, serving[None], axis=0)[0] + running)

    @cached_property
    def _work(self) -> Floats:
        """[2^keys, n, T] the work by which of the sources serve."""
        base = self.chunk.plans[0]
        rows = [self.chunk.work_costs(0, base.width, base.hours)]
        for code in range(1, 1 << len(self._cohorts)):
            width, hours = base.width, base.hours
            for bit, cohort in enumerate(self._cohorts):
                if code >> bit & 1:
                    accelerators = cohort.units * cohort.source.capacity
                    width = width + accelerators
                    hours = hours + accelerators * cohort.source.hours_per_month
            rows.append(self.chunk.work_costs(1 + self.index, width, hours))
        return np.stack(rows)

    def due_at_start(self, since: int) -> Floats:
        """[n] what is paid or signed once it is started, at the prices of that month."""
        due = np.zeros(len(self.chunk.some.demand))
        for cohort in self._cohorts:
            costs = cohort.costs
            due += cohort.units * float(costs.priced[since, 0]) * self._price_factor(cohort, since)
            operating = float(costs.operating[since, 0])
            if costs.monthly is not None:
                operating -= float(costs.monthly[since, :, 0].sum())
            due += cohort.units * operating
        return due

    def resale_at_end(self, since: int) -> Floats:
        """[n] what is sold with the plan or when it retires; negative."""
        fetched = np.zeros(len(self.chunk.some.demand))
        for cohort in self._cohorts:
            value = float(cohort.costs.residual[since, 0])
            if value:
                most = float(cohort.costs.most_resale[since]) * self._price_factor(cohort, since)
                price = self.chunk.some.price(cohort.source.key)
                factor = 1.0 if price is None else price[:, -1]
                stays = ~self.chunk.some.is_sold(cohort, since)
                fetched += cohort.units * value * np.minimum(factor, most) * stays
        return fetched

    def may_sell(self, since: int, month: int) -> bool:
        """Whether all of it is servers that have come by a month on every path."""
        return all(
            cohort.source.is_owned
            and not cohort.source.is_leased
            and month > since + cohort.source.term.lead_months + self._longest_delay(cohort)
            for cohort in self._cohorts
            if cohort.source.term is not None
        )

    def sale(self, since: int, month: int) -> Floats:
        """[n] what it fetches in a month, after tax."""
        some = self.chunk.some
        sales = (one.units * some.sale(one, since, month)[:, 0] for one in self._cohorts)
        return np.asarray(sum(sales))

    def sale_at_end(self, since: int, month: int, until: int) -> Floats:
        """[n] what it fetches where the project ends after a month, until another."""
        some, fetched = self.chunk.some, np.zeros(len(self.chunk.some.demand))
        for one in self._cohorts if some.ends is not None else ():
            assert some.ends is not None
            is_sold = (some.ends > month) & (some.ends <= until) & some.is_sold(one, since)
            fetched += one.units * is_sold * some.sale(one, since, some.ends)[:, 0]
        return fetched

    def _price_factor(self, cohort: Cohort, since: int) -> Floats:
        """[n] factor on its price in a month."""
        some, key = self.chunk.some, cohort.source.key
        price, quoted = some.price(key), some.quoted_price(key)
        factor = np.ones(len(some.demand)) if price is None else price[:, since]
        return factor if quoted is None else factor * quoted

    def _longest_delay(self, cohort: Cohort) -> int:
        # Of all outcomes, so that every part of them has the same moves.
        delays = self.chunk.some.delays(cohort.source.key, slice(None))
        return 0 if delays is None else int(delays.max())


def _by_month(plan: PlanCosts) -> PlanCosts:
    """The same whose costs of hours have a column for each month, net present, so that
    `pay_work` gives [n, T]."""
    rent = _mix_by_month(plan.rent)
    return replace(
        plan,
        in_use=np.diag(plan.in_use[:, 0]),
        rent=rent,
        more=rent if plan.more is plan.rent else _mix_by_month(plan.more),
        on_demand=_mix_by_month(plan.on_demand),
    )


def _mix_by_month(mix: RentMix) -> RentMix:
    parts = tuple(replace(part, rate=np.diag(part.rate[:, 0])) for part in mix.parts)
    return replace(mix, parts=parts, data=np.diag(mix.data[:, 0]))
