"""What a joint plan costs in simulated outcomes. PURE.

Plans of projects apart are those of their comparisons. Of a joint one, what projects share costs
what it does in a comparison; it is started later by the demand of all that use it, as late as the
first of them needs it. Who then works on it is settled by `hand_over`, and each project pays for
the rest as in a comparison of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.comparison.results import range_of_plan
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import Cause, PortfolioRange
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
from planner.portfolio.books import Allotment, Books
from planner.portfolio.joint_model import MovableWork
from planner.portfolio.preparation import (
    OWN_SOURCES,
    PreparedProject,
    fixed_sources,
    rents_in_parts,
    source_key,
)
from pricing.market.offers import HOURS_PER_MONTH

_MOVE_WORK = frozenset({Cause.HOURS, Cause.DELIVERY})
TWICE = 2
"""Times that a project is gone through: for its work, and for what it pays."""


@dataclass(frozen=True)
class PortfolioSimulation:
    """The plan of some projects, as outcomes see it."""

    books: Books

    @cached_property
    def _leaves(self) -> tuple[Books, ...]:
        return self.books.apart or (self.books,)

    @cached_property
    def _views(self) -> tuple[tuple[ProjectView, ...], ...]:
        return tuple(
            ()
            if leaf.shared is None
            else tuple(ProjectView.of(leaf, i) for i in range(len(leaf.members)))
            for leaf in self._leaves
        )

    @cached_property
    def parameters(self) -> list[RiskParameters]:
        """Of each project."""
        return [
            parameters
            for leaf, views in zip(self._leaves, self._views, strict=True)
            for parameters in (
                [one.parameters for one in views]
                or [risk_parameters(leaf.members[0], leaf.inputs[0], leaf.own[0][0])]
            )
        ]

    @cached_property
    def drivers(self) -> list[PriceDrivers]:
        drivers = []
        for leaf, views in zip(self._leaves, self._views, strict=True):
            drivers += [one.drivers for one in views]
            if not views:
                inputs = leaf.inputs[0]
                drivers.append(find_drivers(inputs, list_priced_sources(leaf.own[0], inputs)))
        return share_drivers(drivers)

    @property
    def _months(self) -> int:
        return self.books.inputs[0].calendar.months

    def fit(self, work: WorkMeter) -> int:
        """As many outcomes as the work left and memory allow for; 0 where that is too few."""
        months, count = self._months, len(self.drivers)
        prices = len(self.drivers[0].processes)
        costing = drawing_units(1_000, prices + count, months)
        for leaf, views in zip(self._leaves, self._views, strict=True):
            plans = [one.costs for one in views] + (
                [SharedView(leaf, views).costs] if views else []
            )
            costing += sum(TWICE * plan_units(1_000, plan, months) for plan in plans)
            if not views:
                costing += TWICE * plan_units(1_000, self._alone(leaf, 0).measure(leaf.own[0])[0],
                                              months)  # fmt: skip
        costing *= len(Cause)
        wanted = fit_memory(self.parameters[0].samples, prices + 6 * count, months)
        left = work.remaining - measuring_units(count, len(self.books.inputs[0].sources))
        samples = fit_samples(wanted, costing, left * 0.9)
        work.charge(costing * samples / 1_000)
        return samples

    def draw(self, samples: int) -> list[ProjectDraws]:
        """So many outcomes of every project."""
        fitted = [replace(one, samples=samples) for one in self.parameters]
        return draw_all(fitted, self.drivers, self._months)

    def as_planned(self) -> list[ProjectDraws]:
        """The one outcome in which all goes as planned."""
        return draw_as_planned(self.drivers, self._months)

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
        for leaf, views in zip(self._leaves, self._views, strict=True):
            own = draws[place : place + len(leaf.members)]
            if views:
                joint = _Joint(SharedView(leaf, views), own, self.parameters[place:])
                held, nodes = joint.hold()
                if (place, moved) not in works:
                    works[place, moved] = joint.work_on(nodes)
                total += held + joint.pay(works[place, moved])
            else:
                order = own[0].by_slip
                simulation = self._alone(leaf, place, own[0])
                simulation = replace(simulation, outcomes=own[0].outcomes.select(order))
                total[:, order] += simulation.cost(leaf.own[0])[:2, 0]
            place += len(leaf.members)
        return total

    def _alone(self, leaf: Books, place: int, draws: ProjectDraws | None = None) -> Simulation:
        drawn = self.as_planned()[place] if draws is None else draws
        own = self.parameters[place], drawn.drivers, drawn.outcomes
        return Simulation(leaf.inputs[0], *own)


@dataclass(frozen=True)
class _Joint:
    shared: SharedView
    draws: Sequence[ProjectDraws]
    parameters: Sequence[RiskParameters]

    def hold(self) -> tuple[Floats, dict[str, Floats]]:
        """[2, N] cost of the units that are shared, and key → [N, T] nodes of them."""
        return self._hold(self._outcomes_of_all(self.draws))

    def work_on(self, nodes: Nodes) -> list[Work]:
        """The work of each project, as far as units serve it."""
        planned_draws = draw_as_planned([one.drivers for one in self.draws], self._months)
        planned = self._hold(self._outcomes_of_all(planned_draws))[1]
        planned = {key: row[0] for key, row in planned.items()}
        as_planned = self._works(planned_draws)
        spare = start_work(as_planned, {k: row[None] for k, row in planned.items()}, planned)
        works = self._works(self.draws)
        idle = start_work(works, nodes, planned)
        hand_over(works, idle, {key: row[0] for key, row in spare.items()})
        return works

    def pay(self, works: Sequence[Work]) -> Floats:
        """[2, N] what projects pay for the rest."""
        cost = np.zeros((2, len(self.draws[0].outcomes.slip)))
        for place, (work, draws) in enumerate(zip(works, self.draws, strict=True)):
            cost += self._pay(work, draws, place)
        return cost

    @property
    def _months(self) -> int:
        return self.shared.books.inputs[0].calendar.months

    def _outcomes_of_all(self, draws: Sequence[ProjectDraws]) -> Outcomes:
        first = draws[0].outcomes
        weighed, weights = np.zeros(first.growth.shape), np.zeros(self._months)
        slips = []
        for project, one in zip(self.shared.projects, draws, strict=True):
            rows = [n * project.source(k).accelerators
                    for k, n in project.allotment.nodes.items()]  # fmt: skip
            weight = np.cumsum(sum(rows, np.zeros(self._months))[::-1])[::-1]
            weighed += weight * one.outcomes.demand(slice(None))
            weights += weight
            slips += [one.outcomes.slip] if weight.any() else []
        growth = np.divide(weighed, weights, out=np.ones_like(weighed), where=weights > 0)
        slip = np.min(slips, axis=0) if slips else np.zeros_like(first.slip)
        return replace(first, growth=growth, level=None, slip=slip)

    def _hold(self, outcomes: Outcomes) -> tuple[Floats, dict[str, Floats]]:
        shared, count = self.shared, len(outcomes.slip)
        cost = np.zeros((2, count))
        nodes = {key: np.zeros((count, self._months)) for key in shared.sources}
        drivers = shared.drivers([one.drivers for one in self.draws])
        for order, some in _chunks(replace(shared.market, drivers=drivers), outcomes):
            held = hold_units(shared.costs, some)
            cost[:, order] = held.cost.T
            there = add_units(shared.costs, some, held.started, shared.first_nodes)
            for key, row in there.items():
                nodes[key][order] = row
        return cost, nodes

    def _market(self, place: int) -> Market:
        project = self.shared.projects[place]
        return Market(
            hours=project.inputs.hours,
            peak=project.inputs.peak,
            drivers=self.draws[place].drivers.of_source,
            max_spot_share=project.inputs.max_spot_share,
            spot_patience_hours=self.parameters[place].spot_patience_hours,
        )

    def _works(self, draws: Sequence[ProjectDraws]) -> list[Work]:
        works = []
        for place, (project, own) in enumerate(zip(self.shared.projects, draws, strict=True)):
            shape = own.outcomes.growth.shape
            demand, reserved, at_peak = np.zeros(shape), np.zeros(shape), np.zeros(shape)
            unpriced = replace(own.outcomes, prices=own.outcomes.prices[:0])
            for order, some in _chunks(self._market(place), unpriced):
                demand[order], at_peak[order] = some.demand, some.at_peak
                for one in project.costs.reserved:
                    reserved[order] += one.move(one.held, some.slip)
            none, slip = np.zeros(shape), own.outcomes.slip.astype(float)
            if project.member.movable is not None:
                inside = find_window(project.member.movable, slip, self._months)
                at_peak = np.where(inside, HOURS_PER_MONTH, at_peak)
            works.append(Work(project, project.costs, demand, reserved, at_peak, slip, none, none))
        return works

    def _pay(self, work: Work, draws: ProjectDraws, place: int) -> Floats:
        cost = np.zeros((2, len(draws.outcomes.slip)))
        for order, some in _chunks(self._market(place), draws.outcomes):
            there = replace(some, demand=work.demand[order], at_peak=work.at_peak[order])
            own = np.tile(work.costs.fixed, (len(order), 1))
            cost[:, order] = pay_work(work.costs, there, work.served[order], own).T
        return cost


def _chunks(market: Market, outcomes: Outcomes) -> Iterator[tuple[NDArray[np.intp], Samples]]:
    order = np.argsort(outcomes.slip, kind="stable")
    ascending = outcomes.select(order)
    for rows, slip in chunks_of_one_slip(ascending.slip):
        yield order[rows], Samples.of(market, ascending, rows, slip)


_NO_PRICES = PriceDrivers((), {})


@dataclass(frozen=True)
class ProjectDraws:
    """The outcomes of one project; every project has them in the same order."""

    drivers: PriceDrivers
    """The prices of all, and those of its own sources among them."""
    outcomes: Outcomes

    @property
    def by_slip(self) -> NDArray[np.intp]:
        """[N] rows by which its delays ascend."""
        return np.argsort(self.outcomes.slip, kind="stable")


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


def draw_all(
    parameters: Sequence[RiskParameters], drivers: Sequence[PriceDrivers], months: int
) -> list[ProjectDraws]:
    """The outcomes of projects in the order of their names, which `share_drivers`."""
    first = draw_outcomes(parameters[0], drivers[0], months)
    draws = [ProjectDraws(drivers[0], first)]
    for place, (own, shared) in enumerate(zip(parameters[1:], drivers[1:], strict=True), 1):
        seeds = np.random.SeedSequence(own.seed, spawn_key=(place,))
        seed, shuffle = (int(word) for word in seeds.generate_state(2, np.uint64))
        drawn = draw_outcomes(replace(own, seed=seed), _NO_PRICES, months)
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


def draw_as_planned(drivers: Sequence[PriceDrivers], months: int) -> list[ProjectDraws]:
    """One outcome in which all goes as planned."""
    return [ProjectDraws(one, planned_outcomes(one, months)) for one in drivers]


NOISE = 1e-9
"""Nodes below which none idle."""


@dataclass
class Work:
    """The work of one project in the outcomes; [N, T] hours of its reference accelerator."""

    project: ProjectView
    costs: PlanCosts
    demand: Floats
    reserved: Floats
    """Done on what is reserved by date."""
    at_peak: Floats
    """Hours that the peak lasts."""
    slip: Floats
    """[N] months of delay."""
    served: Floats
    """Hours that units may serve."""
    lacking: Floats

    @property
    def rank(self) -> tuple[int, str]:
        """By which projects come first."""
        member = self.project.member
        return member.project.priority, member.name

    @property
    def beyond_plan(self) -> Floats:
        """[N, T] hours that it lacks beyond what its plan rents."""
        return np.clip(self.lacking - self.costs.lacking * self.at_peak, 0.0, self.lacking)

    def hours_of(self, key: str) -> Floats:
        """[N, T] that a node of a unit serves in a month."""
        source = self.project.source(key)
        return np.asarray(source.capacity * np.minimum(self.at_peak, source.hours_per_month))

    def serve(self, hours: Floats) -> None:
        self.served = self.served + hours
        self.lacking = np.maximum(self.lacking - hours, 0.0)


Nodes = Mapping[str, Floats]


def start_work(works: Sequence[Work], nodes: Nodes, planned: Nodes) -> dict[str, Floats]:
    """[N, T] nodes of each unit that idle once every project works on its own."""
    idle = {key: row.copy() for key, row in nodes.items()}
    for work in works:
        width, hours, own = np.zeros_like(work.demand), np.zeros_like(work.demand), {}
        for key, allotted in work.project.allotment.nodes.items():
            source, there = work.project.source(key), np.maximum(planned[key], NOISE)
            own[key] = allotted * np.minimum(nodes[key] / there, 1.0)
            width += own[key] * source.capacity
            hours += own[key] * source.capacity * source.hours_per_month
        most = np.minimum(hours, width * work.at_peak)
        work.served = most * work.costs.usable
        needed = np.maximum(work.demand - work.reserved, 0.0)
        work.lacking = np.maximum(needed - work.served, 0.0)
        used = np.minimum(work.served, needed)
        busy = np.divide(used, most, out=np.zeros_like(most), where=most > 0)
        for key, row in own.items():
            idle[key] = np.maximum(idle[key] - row * busy, 0.0)
    return idle


def hand_over(works: Sequence[Work], idle: dict[str, Floats], planned_idle: Nodes) -> None:
    """Lets projects work on nodes that idle; `idle` is what is left."""
    ordered = sorted(works, key=lambda work: work.rank)
    for work in ordered:
        _take(work, work.beyond_plan, idle)
    freed = {
        key: np.where((more := row - planned_idle[key]) > NOISE, more, 0.0)
        for key, row in idle.items()
    }
    for work in ordered:
        _take(work, work.lacking, freed, idle)
    for work in ordered:
        if work.project.member.movable is not None:
            _move(work, idle, freed)


def _take(work: Work, wanted: Floats, *free: dict[str, Floats]) -> None:
    for key in (k for k in work.project.keys if k in free[0]):
        per_node = work.hours_of(key)
        nodes = np.divide(wanted, per_node, out=np.zeros_like(wanted), where=per_node > 0)
        nodes = np.minimum(nodes, free[0][key])
        for one in free:
            one[key] = np.maximum(one[key] - nodes, 0.0)
        work.serve(nodes * per_node)
        wanted = np.maximum(wanted - nodes * per_node, 0.0)


def find_window(movable: MovableWork, slip: Floats, months: int) -> NDArray[np.bool_]:
    """[N, T] months within which hours may move, as late as the work."""
    month, late = np.arange(months), np.asarray(slip)[:, None]
    is_open = month >= np.minimum(movable.first + late, months - 1)
    return np.asarray(is_open & (month < movable.last + late))


def _move(work: Work, idle: dict[str, Floats], freed: dict[str, Floats]) -> None:
    movable = work.project.member.movable
    assert movable is not None
    inside = find_window(movable, work.slip, work.demand.shape[1])
    lacking = np.where(inside, work.lacking, 0.0)
    beyond = np.where(inside, work.beyond_plan, 0.0).sum(axis=1)
    in_all, moved = lacking.sum(axis=1), np.zeros_like(lacking)
    left = in_all.copy()
    room = np.maximum(movable.at_once * HOURS_PER_MONTH - work.demand, 0.0)
    for month in np.flatnonzero(inside.any(axis=0)).tolist():
        for key in (k for k in work.project.keys if k in idle):
            per_node = np.where(inside[:, month], work.hours_of(key)[:, month], 1.0)
            open_now = np.where(inside[:, month], room[:, month], 0.0)
            most = np.minimum(np.maximum(beyond, 0.0), left)
            nodes = np.minimum(idle[key][:, month], np.minimum(most, open_now) / per_node)
            more = np.minimum(left, open_now) / per_node - nodes
            more = np.clip(more, 0.0, np.maximum(freed[key][:, month] - nodes, 0.0))
            hours = (nodes + more) * per_node
            idle[key][:, month] = np.maximum(idle[key][:, month] - nodes - more, 0.0)
            freed[key][:, month] = np.maximum(freed[key][:, month] - nodes - more, 0.0)
            moved[:, month] += hours
            room[:, month] -= hours
            beyond, left = beyond - hours, left - hours
    share = np.divide(in_all - left, in_all, out=np.zeros_like(left), where=in_all > 0)
    work.demand = work.demand + moved - lacking * share[:, None]
    work.lacking = work.lacking - lacking * share[:, None]
    work.served = work.served + moved


@dataclass(frozen=True)
class ProjectView:
    """One project of a plan."""

    member: PreparedProject
    inputs: ModelInputs
    """With its work in the months in which the plan does it."""
    plan: Scenario
    """What it rents and uses, with the units that it may use."""
    allotment: Allotment

    @classmethod
    def of(cls, books: Books, place: int) -> ProjectView:
        """A project of a joint plan."""
        member, inputs, (part,) = books.members[place], books.inputs[place], books.own[place]
        assert books.shared is not None
        allotment = books.allotted[place]
        inputs = _as_planned(member, inputs, part)
        started = {
            source_key(key): row
            for key, row in books.shared.units_started.items()
            if key in allotment.units
        }
        plan = replace(
            part,
            units_started=started,
            peak=inputs.peak,
            served_hours=inputs.hours,
            is_level=rents_in_parts(inputs),
        )
        return cls(member, inputs, plan, allotment)

    @property
    def parameters(self) -> RiskParameters:
        """How far its hours may go from plan; prices as in its comparison."""
        return risk_parameters(self.member, self.inputs, self.plan)

    @property
    def drivers(self) -> PriceDrivers:
        return find_drivers(self.inputs, list_priced_sources([self.plan], self.inputs))

    def source(self, key: str) -> CapacitySource:
        """The source behind a unit, with the capacity that it has for the project."""
        return self.inputs.by_key[source_key(key)]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Units that it may take over, in order: of the kinds that its plan uses where it keeps to
        one."""
        known = sorted(k for k in self.allotment.units if self.source(k).capacity > 0)
        if not self.inputs.one_accelerator:
            return tuple(known)
        kinds = {self.source(k).accelerator for k, h in self.plan.used_hours.items() if h.any()}
        return tuple(key for key in known if self.source(key).accelerator in kinds)

    @cached_property
    def costs(self) -> PlanCosts:
        """Its rent, its data and the hours that it uses of its nodes."""
        inputs, months = self.inputs, self.inputs.calendar.months
        data = [source for source in inputs.sources if source.key in OWN_SOURCES]
        fixed, _ = measure_in_place(data, inputs.calendar)
        nothing = hold_planned((), (), fixed, (), months)
        width, hours, in_service = np.zeros(months), np.zeros(months), np.zeros(months)
        for key, nodes in self.allotment.nodes.items():
            source = self.source(key)
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


def risk_parameters(member: PreparedProject, inputs: ModelInputs, plan: Scenario) -> RiskParameters:
    """How far things may go from plan, as in the comparison of a project."""
    hours_range = range_of_plan(plan, inputs, member.alone.demand)
    return build_risk_parameters(Risk(), member.alone.assumptions, hours_range)


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


@dataclass(frozen=True)
class SharedView:
    """The units that projects share, counted in physical accelerators, those that do more of the
    work of their users in an hour for more."""

    books: Books
    projects: tuple[ProjectView, ...]

    @cached_property
    def sources(self) -> dict[str, CapacitySource]:
        """Units by key: in place, and started by the plan."""
        assert self.books.shared is not None
        known: dict[str, CapacitySource] = {}
        for project in self.projects:
            for key in sorted(project.allotment.units):
                is_there = project.source(key).existing is not None
                if is_there or key in self.books.shared.units_started:
                    known.setdefault(key, project.source(key))
        return {
            key: replace(s, key=key, capacity=self._measure(key, s)) for key, s in known.items()
        }

    def _measure(self, key: str, source: CapacitySource) -> float:
        weighed = used = 0.0
        for project in self.projects:
            nodes = project.allotment.nodes
            if key in nodes:
                own = float(nodes[key].sum())
                all_nodes = {k: float(row.sum()) for k, row in nodes.items()}
                physical = sum(n * project.source(k).accelerators for k, n in all_nodes.items())
                work = sum(n * project.source(k).capacity for k, n in all_nodes.items())
                weighed += own * project.source(key).capacity * physical / work
                used += own
        return weighed / used if used else source.accelerators

    @property
    def existing(self) -> list[CapacitySource]:
        return [source for source in self.sources.values() if source.existing is not None]

    @cached_property
    def costs(self) -> PlanCosts:
        """What they cost whoever uses them."""
        calendar = self.books.inputs[0].calendar
        months = calendar.months
        units = {k: measure_units(s, calendar) for k, s in self.sources.items() if s.term}
        existing = fixed_sources(self.books.inputs).values()
        fixed, residual = measure_in_place(existing, calendar)
        assert self.books.shared is not None
        cohorts = list_cohorts(self.books.shared.units_started, self.sources, units)
        held = hold_planned(cohorts, self.existing, fixed, residual, months)
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

    @cached_property
    def first_nodes(self) -> dict[str, Floats]:
        """key → [T] units in place and those started in the first month."""
        months = self.books.inputs[0].calendar.months
        assert self.books.shared is not None
        nodes = {}
        for key, source in self.sources.items():
            started = np.zeros(months)
            if key in self.books.shared.units_started:
                started[0] = self.books.shared.units_started[key][0]
            nodes[key] = source.units_in_service(started)
        return nodes

    @cached_property
    def market(self) -> Market:
        """What moves their costs; they have no work of their own."""
        months = self.books.inputs[0].calendar.months
        servers = {}
        for key in self.sources:
            for project in self.projects:
                if source_key(key) in project.inputs.servers.unsure:
                    servers[key] = project.inputs.servers.unsure[source_key(key)]
        return Market(np.zeros(months), np.zeros(months), {}, 1.0, 0.0, servers)

    def drivers(self, drivers: Sequence[PriceDrivers]) -> dict[str, int]:
        """key → row of its price, of the `drivers` of the projects."""
        rows = {k: row for one in reversed(drivers) for k, row in one.of_source.items()}
        named = {**{k: source_key(k) for k in self.sources}}
        named |= {one.key: one.key for one in self.costs.residual}
        return {key: rows[plain] for key, plain in named.items() if plain in rows}


_PLAN = ScenarioKey.HYBRID


def build_range(cost: Floats, books: Books, seed: int, *, holds: bool) -> PortfolioRange:
    """Of [2, N] net present and nominal cost; ends that cents alone part from the plan reach it."""
    lines = sum(len(part.lines) for part in books.parts)
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
