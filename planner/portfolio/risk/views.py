"""The plan of each project, and the units that they share, as simulated outcomes see them. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.comparison_steps.hours_range import range_of_plan
from planner.contract.request.risk import Risk
from planner.costing.analysis.in_samples.planned_units import (
    hold_planned,
    list_cohorts,
    measure_units,
)
from planner.costing.analysis.in_samples.samples import Market
from planner.costing.analysis.monte_carlo import RiskParameters, build_risk_parameters
from planner.costing.analysis.plan_costs import PlanCosts, list_priced_sources, measure_beside
from planner.costing.analysis.plan_exposure import measure_fixed_costs, measure_in_place
from planner.costing.analysis.price_drivers import PriceDrivers, find_drivers
from planner.costing.analysis.rent_mix import RentMix
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Floats
from planner.costing.results.scenario_result import Scenario
from planner.portfolio.books import Allotment, Books
from planner.portfolio.joint_inputs import rents_in_parts, source_key
from planner.portfolio.preparation import OWN_SOURCES, PreparedProject, fixed_sources
from pricing.market.offers import HOURS_PER_MONTH


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
        nominal = replace(inputs.calendar, discount_rate_per_year=0.0)
        data = [source for source in inputs.sources if source.key in OWN_SOURCES]
        fixed = np.array([measure_fixed_costs(data, c)[0] for c in (inputs.calendar, nominal)])
        nothing = hold_planned((), (), fixed, (), (), months)
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
    return build_risk_parameters(Risk(), member.alone.assumptions, hours_range, True)


def _as_planned(member: PreparedProject, inputs: ModelInputs, part: Scenario) -> ModelInputs:
    """The inputs with hours that may move in the months in which the plan does them."""
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
        """Accelerators of a node, weighed by the work that its users do on it for each of theirs:
        a_k for units that all do alike."""
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
        held = hold_planned(cohorts, self.existing, fixed, residual, self.market.servers, months)
        none = np.zeros((months, 2))
        nothing = RentMix((), none, np.zeros(months), np.zeros(months), np.zeros(months))
        return PlanCosts(
            fixed=held.fixed,
            residual=held.residual,
            width=held.width,
            hours=held.hours,
            later=held.later,
            unsure=held.unsure,
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
        named |= {key: key for key, _ in self.costs.residual}
        return {key: rows[plain] for key, plain in named.items() if plain in rows}
