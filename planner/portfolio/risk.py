"""What a joint plan costs in simulated outcomes. PURE.

Plans of projects apart are those of their comparisons. Of a joint one, what projects share costs
what it does in a comparison; it is started later by the demand of all that use it, as late as the
first of them needs it. Each project works on the nodes that the plan gives it, then on nodes that
others leave idle, by priority, and pays for the rest as in a comparison of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from planner.comparison.results import range_of_plan
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import Cause, PortfolioRange
from planner.contract.copies import cached_property
from planner.contract.request.finance import Risk
from planner.costing.analysis.outcomes import (
    Outcomes,
    PriceDrivers,
    RiskParameters,
    build_risk_parameters,
    draw_outcomes,
    find_drivers,
    planned_outcomes,
    spot_factor,
)
from planner.costing.analysis.plan_costs import (
    PlanCosts,
    RentMix,
    hold_planned,
    list_cohorts,
    list_priced_sources,
    measure_beside,
    measure_units,
)
from planner.costing.analysis.plan_exposure import measure_in_place
from planner.costing.analysis.samples import Market, Samples, add_units, hold_units
from planner.costing.analysis.simulation import (
    Simulation,
    chunks_of_one_slip,
    drawing_units,
    fit_memory,
    fit_samples,
    measuring_units,
    pay_work,
    plan_units,
    reach_plans,
)
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.work import WorkMeter
from planner.costing.price_processes.process import PriceProcess
from planner.costing.results.scenario_result import Scenario, cents
from planner.portfolio.books import Books
from planner.portfolio.preparation import (
    OWN_SOURCES,
    PreparedProject,
    fixed_sources,
    rents_in_parts,
)
from pricing.market.offers import HOURS_PER_MONTH

_MOVE_WORK = frozenset({Cause.HOURS, Cause.DELIVERY})
TWICE = 2
"""Times that a project is gone through: for its work, and for what it pays."""
_NOISE = 1e-9
"""Nodes below which none are there."""
_NO_PRICES = PriceDrivers((), {})
_PLAN = ScenarioKey.HYBRID

Nodes = dict[str, Floats]
"""Unit → [N, T] nodes of it."""


def simulate(books: Books, work: WorkMeter) -> tuple[Floats, dict[Cause, Decimal]] | None:
    """[2, N] net present and nominal cost of a plan in outcomes, and what each cause adds to the
    total as stated, switched on after those before it: they sum to the expected cost less that
    total. None where the work allows for too few outcomes."""
    simulation = PortfolioSimulation(books)
    samples = simulation.fit(work)
    if not samples:
        return None
    draws, works = simulation.draw(samples), dict[object, list[Work]]()
    causes, cost = draws[0].outcomes.causes, np.zeros((2, samples))
    added: dict[Cause, Decimal] = {}
    before = books.total_cost
    for n, cause in enumerate(causes, start=1):
        some = frozenset(causes[:n] if n < len(causes) else Cause)
        cost = simulation.cost(draws, some, works)
        mean = cents(float(cost[1].mean()))
        added[cause], before = mean - before, mean
    return cost, added


class PortfolioSimulation:
    """The plan of some projects, as outcomes see it."""

    def __init__(self, books: Books) -> None:
        self._months = books.inputs[0].calendar.months
        self._leaves = [
            _PlanApart(leaf) if leaf.shared is None else JointLeaf.of(leaf, leaf.shared)
            for leaf in books.apart or (books,)
        ]

    @cached_property
    def parameters(self) -> list[RiskParameters]:
        """Of each project."""
        return [one for leaf in self._leaves for one in leaf.parameters]

    @cached_property
    def drivers(self) -> list[PriceDrivers]:
        return share_drivers([one for leaf in self._leaves for one in leaf.drivers])

    def fit(self, work: WorkMeter) -> int:
        """As many outcomes as the work left and memory allow for; 0 where that is too few."""
        months, count = self._months, len(self.drivers)
        prices = len(self.drivers[0].processes)
        plans = [plan for leaf in self._leaves for plan in leaf.plans]
        costing = drawing_units(1_000, prices + count, months)
        costing += TWICE * sum(plan_units(1_000, plan, months) for plan in plans)
        costing *= len(Cause)
        wanted = fit_memory(self.parameters[0].samples, prices + 6 * count, months)
        sources = sum(len(leaf.books.inputs[0].sources) for leaf in self._leaves)
        left = work.remaining - measuring_units(count, sources // len(self._leaves))
        samples = fit_samples(wanted, costing, left * 0.9)
        work.charge(costing * samples / 1_000)
        return samples

    def draw(self, samples: int) -> list[ProjectDraws]:
        """So many outcomes of every project, in the order of their names. Prices, servers and spot
        are the same for all; what its hours and its start come to is each project's own."""
        every = [replace(one, samples=samples) for one in self.parameters]
        first = draw_outcomes(every[0], self.drivers[0], self._months)
        draws = [ProjectDraws(self.drivers[0], first)]
        for place, (own, shared) in enumerate(zip(every[1:], self.drivers[1:], strict=True), 1):
            seeds = np.random.SeedSequence(own.seed, spawn_key=(place,))
            seed, shuffle = (int(word) for word in seeds.generate_state(2, np.uint64))
            drawn = draw_outcomes(replace(own, seed=seed), _NO_PRICES, self._months)
            order = np.random.Generator(np.random.PCG64(shuffle)).permutation(own.samples)
            outcomes = replace(
                first,
                slip=drawn.slip[order],  # they come in order, which is no order of the others'
                growth=drawn.growth,
                level=drawn.level,
                lost=spot_factor(own, first.interruptions),
            )
            draws.append(ProjectDraws(shared, outcomes))
        return draws

    def as_planned(self) -> list[ProjectDraws]:
        """The one outcome in which all goes as planned."""
        return [ProjectDraws(one, planned_outcomes(one, self._months)) for one in self.drivers]

    def cost(
        self,
        draws: Sequence[ProjectDraws],
        causes: Set[Cause] = frozenset(Cause),
        known: dict[object, list[Work]] | None = None,
    ) -> Floats:
        """[2, N] net present and nominal cost of the plan, where these causes alone vary. `known`:
        who works on what in these draws, which other costs of them may go by."""
        works = {} if known is None else known
        total, place = np.zeros((2, len(draws[0].outcomes.slip))), 0
        moved = frozenset(causes & _MOVE_WORK)
        if causes < set(Cause):
            draws = [replace(one, outcomes=one.outcomes.with_causes(causes)) for one in draws]
        for leaf in self._leaves:
            own = draws[place : place + len(leaf.parameters)]
            total += leaf.cost(own, works, (place, moved))
            place += len(own)
        return total


@dataclass(frozen=True)
class ProjectDraws:
    """The outcomes of one project; every project has them in the same order."""

    drivers: PriceDrivers
    """The prices of all, and those of its own sources among them."""
    outcomes: Outcomes


def share_drivers(drivers: Sequence[PriceDrivers]) -> list[PriceDrivers]:
    """The same with the processes of all, equal ones once, in the order in which they come."""
    rows: dict[PriceProcess, int] = {}
    for one in drivers:
        for process in one.processes:
            rows.setdefault(process, len(rows))
    every = tuple(rows)
    return [
        PriceDrivers(every, {key: rows[one.processes[i]] for key, i in one.of_source.items()})
        for one in drivers
    ]


@dataclass(frozen=True)
class _PlanApart:
    books: Books

    @cached_property
    def parameters(self) -> list[RiskParameters]:
        (member,), (inputs,) = self.books.members, self.books.inputs
        return [risk_parameters(member, inputs, self.books.own[0][0])]

    @cached_property
    def drivers(self) -> list[PriceDrivers]:
        inputs = self.books.inputs[0]
        return [find_drivers(inputs, list_priced_sources(self.books.own[0], inputs))]

    @cached_property
    def plans(self) -> list[PlanCosts]:
        planned = planned_outcomes(self.drivers[0], self.books.inputs[0].calendar.months)
        return self._simulation(ProjectDraws(self.drivers[0], planned)).measure(self.books.own[0])

    def cost(self, draws: Sequence[ProjectDraws], works: object, key: object) -> Floats:
        order = np.argsort(draws[0].outcomes.slip, kind="stable")
        ascending = replace(draws[0], outcomes=draws[0].outcomes.select(order))
        cost = np.empty((2, order.size))
        cost[:, order] = self._simulation(ascending).cost(self.books.own[0])[:2, 0]
        return cost

    def _simulation(self, draws: ProjectDraws) -> Simulation:
        inputs, parameters = self.books.inputs[0], self.parameters[0]
        return Simulation(inputs, parameters, draws.drivers, draws.outcomes)


def risk_parameters(member: PreparedProject, inputs: ModelInputs, plan: Scenario) -> RiskParameters:
    """How far things may go from plan, as in the comparison of a project."""
    hours_range = range_of_plan(plan, inputs, member.alone.demand)
    return build_risk_parameters(Risk(), member.alone.assumptions, hours_range)


@dataclass(frozen=True)
class JointLeaf:
    """Projects that share units, counted in physical accelerators."""

    books: Books
    shared: Scenario
    projects: tuple[ProjectView, ...]

    @classmethod
    def of(cls, books: Books, shared: Scenario) -> JointLeaf:
        """The projects of a joint plan."""
        places = range(len(books.members))
        return cls(books, shared, tuple(ProjectView.of(books, shared, i) for i in places))

    @property
    def parameters(self) -> list[RiskParameters]:
        return [risk_parameters(one.member, one.inputs, one.plan) for one in self.projects]

    @property
    def drivers(self) -> list[PriceDrivers]:
        return [
            find_drivers(one.inputs, list_priced_sources([one.plan], one.inputs))
            for one in self.projects
        ]

    @property
    def plans(self) -> list[PlanCosts]:
        return [*(one.costs for one in self.projects), self.costs]

    def cost(
        self, draws: Sequence[ProjectDraws], works: dict[object, list[Work]], key: object
    ) -> Floats:
        """[2, N] cost of the units, and of what projects pay for the rest; who works on what is as
        in other `works` of that key."""
        cost, nodes = self._hold(draws)
        if key not in works:
            works[key] = self._work_on(draws, nodes)
        for work, own in zip(works[key], draws, strict=True):
            for order, some in _chunks(work.project.market(own), own.outcomes):
                some = replace(some, demand=work.demand[order], at_peak=work.at_peak[order])
                fixed = np.tile(work.project.costs.fixed, (len(order), 1))
                cost[:, order] += pay_work(work.project.costs, some, work.served[order], fixed).T
        return cost

    @property
    def _months(self) -> int:
        return self.books.inputs[0].calendar.months

    @cached_property
    def sources(self) -> dict[str, CapacitySource]:
        """Units by key: in place, and started by the plan."""
        known: dict[str, CapacitySource] = {}
        for project in self.projects:
            for key, source in sorted(project.inputs.by_key.items()):
                if source.existing is not None or key in self.shared.units_started:
                    known.setdefault(key, replace(source, capacity=source.accelerators))
        return known

    @cached_property
    def costs(self) -> PlanCosts:
        """What they cost whoever uses them."""
        calendar, months = self.books.inputs[0].calendar, self._months
        units = {k: measure_units(s, calendar) for k, s in self.sources.items() if s.term}
        fixed, residual = measure_in_place(fixed_sources(self.books.inputs).values(), calendar)
        cohorts = list_cohorts(self.shared.units_started, self.sources, units)
        existing = [source for source in self.sources.values() if source.existing is not None]
        held = hold_planned(cohorts, existing, fixed, residual, months)
        none = np.zeros((months, 2))
        nothing = RentMix((), none, np.zeros(months), np.zeros(months), np.zeros(months))
        return PlanCosts(
            fixed=held.fixed,
            residual=held.residual,
            width=held.width,
            hours=held.hours,
            later=held.later,
            bought=held.bought,
            usable=np.ones(months),
            lacking=np.zeros(months),
            in_use=none,
            rent=nothing,
            more=nothing,
            on_demand=nothing,
        )

    def _in_service(self, last_start: int) -> dict[str, Floats]:
        nodes = {}
        for key, source in self.sources.items():
            started = np.zeros(self._months)
            row = self.shared.units_started.get(key, started)
            started[: last_start + 1] = row[: last_start + 1]
            nodes[key] = source.units_in_service(started)
        return nodes

    def _hold(self, draws: Sequence[ProjectDraws]) -> tuple[Floats, Nodes]:
        outcomes = self.outcomes_of_all(draws)
        count, first = len(outcomes.slip), self._in_service(0)
        cost = np.zeros((2, count))
        nodes = {key: np.zeros((count, self._months)) for key in self.sources}
        for order, some in _chunks(self._market([one.drivers for one in draws]), outcomes):
            held = hold_units(self.costs, some)
            cost[:, order] = held.cost.T
            for key, row in add_units(self.costs, some, held.started, first).items():
                nodes[key][order] = row
        return cost, nodes

    def outcomes_of_all(self, draws: Sequence[ProjectDraws]) -> Outcomes:
        """What units that start later go by: the demand of all, weighed by the accelerators that
        each has of them from a month on, and the least delay."""
        first = draws[0].outcomes
        weighed, weights = np.zeros(first.growth.shape), np.zeros(self._months)
        slips = []
        for project, one in zip(self.projects, draws, strict=True):
            nodes = project.allotted.items()
            rows = (row * project.inputs.by_key[key].accelerators for key, row in nodes)
            weight = np.cumsum(sum(rows, np.zeros(self._months))[::-1])[::-1]
            weighed += weight * one.outcomes.demand(slice(None))
            weights += weight
            slips += [one.outcomes.slip] if weight.any() else []
        growth = np.divide(weighed, weights, out=np.ones_like(weighed), where=weights > 0)
        slip = np.min(slips, axis=0) if slips else np.zeros_like(first.slip)
        return replace(first, growth=growth, level=None, slip=slip)

    def _market(self, drivers: Sequence[PriceDrivers]) -> Market:
        unsure = {
            k: one for p in reversed(self.projects) for k, one in p.inputs.servers.unsure.items()
        }
        rows = {k: row for one in reversed(drivers) for k, row in one.of_source.items()}
        none = np.zeros(self._months)
        return Market(
            hours=none,
            peak=none,
            drivers=rows,
            max_spot_share=1.0,
            spot_patience_hours=0.0,
            servers=unsure,
        )

    def _work_on(self, draws: Sequence[ProjectDraws], nodes: Nodes) -> list[Work]:
        planned = self._in_service(self._months)
        as_planned = [
            ProjectDraws(one.drivers, planned_outcomes(one.drivers, self._months)) for one in draws
        ]
        _, spare = self._start(as_planned, {k: row[None] for k, row in planned.items()}, planned)
        works, idle = self._start(draws, nodes, planned)
        ordered = sorted(works, key=lambda work: work.project.rank)
        for work in ordered:
            work.take_over(idle, work.beyond_plan)
        freed = {key: np.maximum(row - spare[key], 0.0) for key, row in idle.items()}
        for work in ordered:
            work.take_over(freed, work.lacking)
        return works

    def _start(
        self, draws: Sequence[ProjectDraws], nodes: Nodes, planned: Mapping[str, Floats]
    ) -> tuple[list[Work], Nodes]:
        works = [Work.of(*one) for one in zip(self.projects, draws, strict=True)]
        idle = {key: row.copy() for key, row in nodes.items()}
        for work in works:
            work.start(nodes, planned, idle)
        return works, idle


def _chunks(market: Market, outcomes: Outcomes) -> Iterator[tuple[NDArray[np.intp], Samples]]:
    order = np.argsort(outcomes.slip, kind="stable")
    ascending = outcomes.select(order)
    for rows, slip in chunks_of_one_slip(ascending.slip):
        yield order[rows], Samples.of(market, ascending, rows, slip)


@dataclass
class Work:
    """The work of one project in the outcomes; [N, T] hours of its reference accelerator."""

    project: ProjectView
    demand: Floats
    at_peak: Floats
    """Hours that the peak lasts."""
    needed: Floats
    """What is not done on what is reserved by date."""
    served: Floats
    """Hours that units may serve."""

    @classmethod
    def of(cls, project: ProjectView, draws: ProjectDraws) -> Work:
        """The work in some outcomes, before units serve any."""
        shape = draws.outcomes.growth.shape
        demand, needed, at_peak = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        unpriced = replace(draws.outcomes, prices=draws.outcomes.prices[:0])
        for order, some in _chunks(project.market(draws), unpriced):
            demand[order], at_peak[order] = some.demand, some.at_peak
            held = (one.move(one.held, some.slip) for one in project.costs.reserved)
            needed[order] = np.maximum(some.demand - sum(held, np.zeros(shape[1])), 0.0)
        return cls(project, demand, at_peak, needed, np.zeros(shape))

    def start(self, nodes: Nodes, planned: Mapping[str, Floats], idle: Nodes) -> None:
        """Works on the nodes of its own, of those that are there, and takes them from `idle`."""
        project, width, hours, own = self.project, 0.0 * self.demand, 0.0 * self.demand, {}
        for key, allotted in project.allotted.items():
            there = np.maximum(planned[key], _NOISE)
            own[key] = allotted * np.minimum(nodes[key] / there, 1.0)
            source = project.inputs.by_key[key]
            width += own[key] * source.capacity
            hours += own[key] * source.capacity * source.hours_per_month
        most = np.minimum(hours, width * self.at_peak)
        self.served = most * project.costs.usable
        used = np.minimum(self.served, self.needed)
        busy = np.divide(used, most, out=np.zeros_like(most), where=most > 0)
        for key, row in own.items():
            idle[key] = np.maximum(idle[key] - row * busy, 0.0)

    @property
    def lacking(self) -> Floats:
        """Hours that nothing serves yet."""
        return np.maximum(self.needed - self.served, 0.0)

    @property
    def beyond_plan(self) -> Floats:
        """Those beyond what its plan rents."""
        lacking = self.lacking
        return np.clip(lacking - self.project.costs.lacking * self.at_peak, 0.0, lacking)

    def take_over(self, idle: Nodes, wanted: Floats) -> None:
        """Works on nodes that idle."""
        for key in (key for key in self.project.keys if key in idle):
            source = self.project.inputs.by_key[key]
            per_node = source.capacity * np.minimum(self.at_peak, source.hours_per_month)
            nodes = np.divide(wanted, per_node, out=np.zeros_like(wanted), where=per_node > 0)
            nodes = np.minimum(nodes, np.where(idle[key] > _NOISE, idle[key], 0.0))
            idle[key] = np.maximum(idle[key] - nodes, 0.0)
            self.served = self.served + nodes * per_node
            wanted = np.maximum(wanted - nodes * per_node, 0.0)


@dataclass(frozen=True)
class ProjectView:
    """One project of a joint plan."""

    member: PreparedProject
    inputs: ModelInputs
    """With its work in the months in which the plan does it."""
    plan: Scenario
    """What it rents and uses, with the units that it may use."""
    allotted: Mapping[str, Floats]
    """key → [T] nodes of shared units that are its own in a month."""

    @classmethod
    def of(cls, books: Books, shared: Scenario, place: int) -> ProjectView:
        """A project of a joint plan."""
        member, (part,) = books.members[place], books.own[place]
        inputs = _as_planned(member, books.inputs[place], part)
        plan = replace(
            part,
            units_started={k: u for k, u in shared.units_started.items() if k in inputs.by_key},
            peak=inputs.peak,
            served_hours=inputs.hours,
            is_level=rents_in_parts(inputs),
        )
        return cls(member, inputs, plan, books.allotted[place])

    @property
    def rank(self) -> tuple[int, str]:
        """By which projects come first."""
        return self.member.project.priority, self.member.name

    def market(self, draws: ProjectDraws) -> Market:
        """What moves its costs."""
        inputs, parameters = self.inputs, risk_parameters(self.member, self.inputs, self.plan)
        return Market(
            hours=inputs.hours,
            peak=inputs.peak,
            drivers=draws.drivers.of_source,
            max_spot_share=inputs.max_spot_share,
            spot_patience_hours=parameters.spot_patience_hours,
            is_level=inputs.is_level,
            replica=inputs.replica,
        )

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Units that it may take over, in order: of the kinds that its plan uses where it keeps to
        one."""
        by_key, used = self.inputs.by_key, self.plan.used_hours
        known = sorted(key for key, source in by_key.items() if source.capacity > 0)
        if not self.inputs.one_accelerator:
            return tuple(known)
        kinds = {by_key[key].accelerator for key, hours in used.items() if hours.any()}
        return tuple(key for key in known if by_key[key].accelerator in kinds)

    @cached_property
    def costs(self) -> PlanCosts:
        """Its rent, its data and the hours that it uses of its nodes."""
        inputs, months = self.inputs, self.inputs.calendar.months
        data = [source for source in inputs.sources if source.key in OWN_SOURCES]
        fixed, _ = measure_in_place(data, inputs.calendar)
        nothing = hold_planned((), (), fixed, (), months)
        width, hours, in_service = np.zeros(months), np.zeros(months), np.zeros(months)
        for key, nodes in self.allotted.items():
            source = self.inputs.by_key[key]
            width += nodes * source.capacity
            hours += nodes * source.capacity * source.hours_per_month
        units = {}
        for key, source in inputs.by_key.items():
            started = self.plan.units_started.get(key)
            if source.term is None or (started is None and source.existing is None):
                continue
            units[key] = measure_units(source, inputs.calendar)
            row = np.zeros(months) if started is None else started.astype(np.float64)
            in_service += source.units_in_service(row) * source.capacity
        held = replace(nothing, width=width, hours=hours, all_width=width, all_hours=hours)
        return measure_beside(self.plan, inputs, units, held, in_service)


def _as_planned(member: PreparedProject, inputs: ModelInputs, part: Scenario) -> ModelInputs:
    if member.movable is None:
        return inputs
    inside = member.movable.indicator(inputs.calendar.months)
    worked = sum(
        (row * inputs.by_key[key].capacity for key, row in part.used_hours.items()),
        np.zeros(inside.size),
    )
    hours = np.where(inside, worked, inputs.hours)
    peak = np.where(inside, worked / HOURS_PER_MONTH, inputs.peak)
    return inputs.in_other_months(hours, peak)


def build_range(cost: Floats, books: Books, seed: int, *, holds: bool) -> PortfolioRange:
    """Of [2, N] net present and nominal cost; ends that cents alone part from the plan reach it."""
    lines = len(books.whole.lines)
    present, total = (
        reach_plans({_PLAN: tuple(np.percentile(row, (10, 50, 90)))}, {_PLAN: (float(at), lines)})
        for row, at in zip(cost, (books.net_present_cost, books.total_cost), strict=True)
    )
    low, middle, high = map(cents, present[_PLAN])
    p10, p50, p90 = map(cents, total[_PLAN])
    return PortfolioRange(
        p10=p10,
        p50=p50,
        p90=p90,
        present_p10=low,
        present_p50=middle,
        present_p90=high,
        samples=cost.shape[1],
        seed=seed,
        holds=holds,
    )
