"""The joint problem of some projects, from what each of them is planned from. PURE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.contract.answer.common import ScenarioKey
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import CommitmentOption, PlanProblem
from planner.costing.optimizer.solve import restrict_sources
from planner.costing.run_machines import counts_machines
from planner.costing.scenarios import scenario_options
from planner.costing.solve_by_kind import rent_in_parts
from planner.portfolio.optimizer.problem import JointProblem, ProjectProblem
from planner.portfolio.preparation import PreparedProject, fixed_cash, fixed_cost

OWN_UNIT = " of "
"""Between the key of a source and the project whose own units it stands for."""


@dataclass(frozen=True)
class JointInputs:
    """Some projects together: their inputs, and the problem that they make."""

    members: tuple[PreparedProject, ...]
    inputs: tuple[ModelInputs, ...]
    may_buy: bool = True
    """Whether servers may be bought; those in place serve either way."""
    most_paid: float | None = None
    """Most that all payments may come to, resale left aside; None sets no limit of its own."""
    margin: float = 0.0
    """Share of the price of what is bought that counts towards `most_paid` besides."""

    @cached_property
    def problem(self) -> JointProblem:
        """The joint problem; what is due whatever the plan counts towards its budgets."""
        projects = [
            _limit_payments(
                _project_problem(member, one, self.may_buy), self.most_paid, self.margin
            )
            for member, one in zip(self.members, self.inputs, strict=True)
        ]
        cash, months = fixed_cash(self.inputs), self.inputs[0].calendar.months
        first = projects[0]
        limits = replace(
            first.problem,
            base_cash=cash[:months],
            base_payments=float(np.maximum(cash, 0.0).sum()),
        )
        projects[0] = replace(first, problem=limits)
        return JointProblem(_tell_apart(projects))

    @cached_property
    def base_cost(self) -> float:
        """Net present cost of what is due whatever the plan."""
        return fixed_cost(self.inputs)


def _limit_payments(project: ProjectProblem, most: float | None, margin: float) -> ProjectProblem:
    """A project whose payments, with `margin` of the price of what is bought, come to `most`; a
    budget below that stands as it is."""
    total = project.problem.total_budget
    if most is None or (total is not None and total < most):
        return project
    units = tuple(
        replace(unit, payments=unit.all_payments + margin * unit.capex) if margin else unit
        for unit in project.problem.units
    )
    return replace(project, problem=replace(project.problem, total_budget=most, units=units))


def _project_problem(member: PreparedProject, inputs: ModelInputs, may_buy: bool) -> ProjectProblem:
    keys = inputs.keys(scenario_options(ScenarioKey.HYBRID, inputs.interruptible))
    if not may_buy:
        keys = frozenset(k for k in keys if not _is_to_buy(inputs.by_key[k]))
    problem = restrict_sources(inputs.problem, keys)
    if rents_in_parts(inputs):  # runs take whole machines, for less
        problem = rent_in_parts(problem)
    kinds = {}
    if inputs.one_accelerator:
        kinds = {key: inputs.by_key[key].accelerator for key in keys}
    return ProjectProblem(
        member.name, problem, member.movable, _whole_nodes(inputs, problem), kinds
    )


def rents_in_parts(inputs: ModelInputs) -> bool:
    """Whether a project rents for the hours alone that units leave it."""
    return inputs.rents_the_rest and not counts_machines(inputs)


def _is_to_buy(source: CapacitySource) -> bool:
    return source.is_owned and source.existing is None


def _whole_nodes(inputs: ModelInputs, problem: PlanProblem) -> frozenset[str]:
    """Units of which one job fills a node, so that no second job fits beside it."""
    whole = set()
    for unit in problem.units:
        source = inputs.by_key[unit.key]
        job = inputs.job_sizes.get(source.accelerator, 1)
        if 2 * job > source.accelerators and job > 1:
            whole.add(unit.key)
    return frozenset(whole)


def _tell_apart(projects: Sequence[ProjectProblem]) -> tuple[ProjectProblem, ...]:
    """The projects, with units that cost one more than others as units of its own: a card that
    one project keeps outside the data centre, or a support plan that follows its bill."""
    first: dict[str, CommitmentOption] = {}
    out = []
    for project in projects:
        renamed = {
            unit.key: f"{unit.key}{OWN_UNIT}{project.name}"
            for unit in project.problem.units
            if not _costs_alike(first.setdefault(unit.key, unit), unit)
        }
        out.append(_rename_units(project, renamed) if renamed else project)
    return tuple(out)


def _rename_units(project: ProjectProblem, renamed: Mapping[str, str]) -> ProjectProblem:
    units = tuple(
        replace(unit, key=renamed.get(unit.key, unit.key)) for unit in project.problem.units
    )
    return replace(
        project,
        problem=replace(project.problem, units=units),
        whole_nodes=frozenset(renamed.get(key, key) for key in project.whole_nodes),
        kinds={renamed.get(key, key): kind for key, kind in project.kinds.items()},
    )


def source_key(key: str) -> str:
    """Key of the source behind a unit of a joint problem.

    >>> source_key("server:dgx-h100"), source_key(f"server:dgx-h100{OWN_UNIT}vision")
    ('server:dgx-h100', 'server:dgx-h100')
    """
    return key.partition(OWN_UNIT)[0]


def _costs_alike(one: CommitmentOption, other: CommitmentOption) -> bool:
    same_service = (one.lead_months, one.duration_months, one.hours_per_month) == (
        other.lead_months,
        other.duration_months,
        other.hours_per_month,
    )
    return same_service and bool(np.allclose(one.start_cost, other.start_cost, rtol=1e-9))
