"""The books of a joint plan: what the shared machines cost, and what each project costs by itself.

PURE. Each part goes through the same ledger as a plan of one project; parts add up to the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import ScenarioKey
from planner.contract.copies import cached_property
from planner.costing.budgets_in_books import (
    MONTHLY,
    ROUNDS,
    Amounts,
    Budgets,
    ease_budgets,
    list_excess,
    lower_rooms,
    rounding_of_month,
)
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import Floats, Plan, PlanProblem
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.ledger import build_ledger
from planner.costing.results.scenario_result import Scenario
from planner.portfolio.joint_model import JointPlan, JointProblem, ProjectUse, solve_joint
from planner.portfolio.preparation import OWN_SOURCES, JointInputs, PreparedProject, fixed_sources
from planner.portfolio.turns import TurnPool

HOUR_DIGITS = 6
"""Digits to which node-hours are booked."""


@dataclass(frozen=True)
class Books:
    """The costs of a joint plan by whose they are."""

    members: tuple[PreparedProject, ...]
    inputs: tuple[ModelInputs, ...]
    """What each of them is planned from."""
    shared: Scenario | None
    """What is bought, committed to and held for all together; None where each plans apart."""
    own: tuple[tuple[Scenario, ...], ...]
    """Rent and the hours run on shared machines, of each project; its whole plan apart."""
    allotted: tuple[Mapping[str, Floats], ...] = ()
    """key → [T] nodes of the shared machines that each has in a month; none where each plans
    apart."""
    apart: tuple[Books, ...] = ()
    """The plans of projects apart that these are put together from."""
    pools: tuple[TurnPool, ...] = ()
    """Those of the projects that take turns on accelerators."""

    @property
    def parts_of(self) -> list[tuple[str, Scenario]]:
        """Every part with the project whose own it is, "" for what all share."""
        shared = [] if self.shared is None else [("", self.shared)]
        owners = zip(self.members, self.own, strict=True)
        return shared + [(member.name, part) for member, parts in owners for part in parts]

    @property
    def parts(self) -> tuple[Scenario, ...]:
        return tuple(part for _, part in self.parts_of)

    @cached_property
    def net_present_cost(self) -> Decimal:
        return sum((part.net_present_cost for part in self.parts), Decimal("0.00"))

    @cached_property
    def whole(self) -> Scenario:
        """All parts as one plan: its lines, and the units that are started, by whomever."""
        started: dict[str, NDArray[np.int64]] = {}
        for part in self.parts:
            for key, row in part.units_started.items():
                started[key] = started.get(key, 0) + row
        return Scenario(
            ScenarioKey.HYBRID,
            feasible=True,
            lines=tuple(line for part in self.parts for line in part.lines),
            calendar=self.inputs[0].calendar,
            units_started=started,
        )

    @property
    def total_cost(self) -> Decimal:
        """Undiscounted."""
        return self.whole.total_cost


def write_books(joint: JointInputs, plan: JointPlan) -> Books:
    """The books of a plan."""
    uses = plan.uses
    own = tuple((_own(inputs, use),) for inputs, use in zip(joint.inputs, uses, strict=True))
    allotted = tuple(use.shares for use in uses)
    shared = _shared(joint, plan)
    return Books(joint.members, joint.inputs, shared, own, allotted, pools=joint.pools)


def _shared(joint: JointInputs, plan: JointPlan) -> Scenario:
    sources = fixed_sources(joint.inputs)
    for key in plan.units_started:
        sources[key] = next(one.by_key[key] for one in joint.inputs if key in one.by_key)
    return _book(joint.inputs[0], dict(plan.units_started), {}, sources)


def _own(inputs: ModelInputs, use: ProjectUse) -> Scenario:
    hours = {
        k: np.round(row, HOUR_DIGITS) for k, row in (use.used_hours | use.rented_hours).items()
    }
    sources = {
        key: source if key in OWN_SOURCES else replace(source, fixed_streams=())
        for key, source in inputs.by_key.items()
        if key in hours or key in OWN_SOURCES
    }
    return _book(inputs, {}, hours, sources)


def _book(
    inputs: ModelInputs,
    started: dict[str, NDArray[np.int64]],
    hours: dict[str, Floats],
    sources: dict[str, CapacitySource],
) -> Scenario:
    plan = Plan(True, 0.0, 0.0, units_started=started)
    ledger = build_ledger(plan, sources, hours, inputs.calendar)
    return Scenario(
        ScenarioKey.HYBRID,
        feasible=True,
        lines=ledger.lines,
        accrued=ledger.accrued,
        entries=ledger.entries,
        present=ledger.present,
        write_off=ledger.write_off,
        calendar=inputs.calendar,
        served_hours=inputs.hours,
        units_started=started,
        used_hours=hours,
    )


@dataclass(frozen=True)
class JointBudgets:
    """The budgets of all projects together, by the name that the optimiser has for each."""

    joint: JointInputs

    def search(self, work: WorkMeter) -> tuple[Books | None, float]:
        """The books of the cheapest plan whose lines keep to the budgets, and what no plan costs
        less than."""
        rooms, bound = self._rounding, np.inf
        for _ in range(ROUNDS if self.stated else 1):
            plan = solve_joint(self.eased(rooms), work=work)
            bound = plan.bound + self.joint.base_cost
            if not np.isfinite(plan.cost):
                return None, bound
            books = write_books(self.joint, plan)
            excess = self.excess(books)
            if not excess:
                return books, bound
            rooms = lower_rooms(rooms, excess, self._rounding)
        return None, bound

    @cached_property
    def stated(self) -> Amounts:
        """Budget → what the request gives."""
        return Budgets(self.joint.inputs[0], self._limits).stated

    @property
    def _limits(self) -> PlanProblem:
        return self.joint.problem.limits

    @cached_property
    def _rounding(self) -> Amounts:
        inputs = self.joint.inputs
        month = rounding_of_month(inputs[0]) + sum(map(rounding_of_month, inputs))
        length = inputs[0].calendar.length
        return {name: month if name == MONTHLY else month * length for name in self.stated}

    def eased(self, rooms: Amounts | None = None) -> JointProblem:
        """The joint problem with so much added to each budget; as much as lines may be rounded by
        where nothing is said."""
        problem = self.joint.problem
        if not self.stated:
            return problem
        limits = ease_budgets(self._limits, self._rounding if rooms is None else rooms)
        first = replace(problem.projects[0], problem=limits)
        return replace(problem, projects=(first, *problem.projects[1:]))

    def excess(self, books: Books) -> dict[str, float]:
        """Budget → by how much the lines of a plan are over it, those that are."""
        return list_excess(books.whole, self._limits, self.stated)
