"""From a portfolio request to what each project is planned from, alone and with others. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from planner.comparison.preparation import Preparation
from planner.contract.amounts import count_months
from planner.contract.answer.common import ScenarioKey
from planner.contract.copies import cached_property
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.on_prem import Existing
from planner.contract.request.portfolio import PortfolioProject, PortfolioRequest
from planner.contract.request.workload import AcceleratorHours, Run, Serving
from planner.contract.validation import parse
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.solve import restrict_sources
from planner.costing.run_machines import counts_machines
from planner.costing.scenarios import scenario_options
from planner.costing.solve_by_kind import rent_in_parts
from planner.portfolio.joint_model import JointPart, JointProblem, MovableWork, ProjectProblem
from planner.portfolio.turns import InTurn, TurnPool, find_pools, take_turns
from planner.sizing.demand import Demand, compute_demand
from planner.sizing.runs.served_run import ServingSize
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

Floats = NDArray[np.float64]
_SHARED_FIELDS = (
    "start",
    "horizon_months",
    "currency",
    "custom_offers",
    "price_adjustments",
    "use_catalog",
    "exchange_rates",
    "term_end",
    "finance",
)
"""Fields that a comparison of one project takes from the portfolio as they are."""


Key = tuple[str, tuple[Run, ...]]


@dataclass(frozen=True)
class PreparedProject:
    """One project with what it is planned from."""

    field: str
    """Where it stands in the request."""
    project: PortfolioProject
    alone: Preparation
    """By itself, with what it holds itself."""

    @property
    def name(self) -> str:
        return self.project.name

    @property
    def key(self) -> Key:
        """Its name and its runs, by which the same project laid otherwise is told apart."""
        return self.name, self.alone.demand.runs

    def lay_out(self, alone: Preparation) -> PreparedProject:
        """The same project with its work laid as in another comparison of it."""
        workload = alone.request.workload
        project = self.project.model_copy(update={"workload": workload})
        return PreparedProject(self.field, project, alone)

    def admitted(self, named: frozenset[str]) -> Mapping[str, CapacitySource]:
        """Those of some offers, by id, that it may rent, by key."""
        if named not in self._admitted:
            rentals = (one for one in self.alone.offers.rentals(named) if not one.stands_for)
            self._admitted[named] = {one.key: one for one in rentals if one.offer_id in named}
        return self._admitted[named]

    @cached_property
    def _admitted(self) -> dict[frozenset[str], dict[str, CapacitySource]]:
        return {}

    @cached_property
    def in_turn(self) -> InTurn | None:
        """The project if its jobs may wait for those of others, or work on what it leaves: given
        hours that stay in their months, and a service whose requests by hour are known."""
        project, work, demand = self.project, self.project.workload, self.alone.demand
        if isinstance(work, Serving) and work.requests_by_hour and not project.at_once:
            busy = [
                one.busy_by_hour
                for one in demand.sizes[demand.accelerator]
                if isinstance(one, ServingSize)
            ]
            return InTurn(project, busy[0])
        has_jobs = isinstance(work, AcceleratorHours) and self.movable is None
        profile = np.array(project.week_profile)
        if has_jobs and profile.size:
            return InTurn(project, tuple((profile / profile.mean()).tolist()))
        return InTurn(project) if has_jobs and not project.at_once else None

    @cached_property
    def movable(self) -> MovableWork | None:
        """Its window in months of the plan; None where its hours stay."""
        window, calendar = self.project.window, self.alone.calendar
        if window is None:
            return None
        first = max(calendar.index(window.start), 0)
        last = min(calendar.index(window.deadline) + 1, calendar.months)
        if first >= last:
            raise InvalidInput(f"{self.field}.window", "is outside the months of the plan")
        demand = self.alone.demand
        hours = demand.hours_per_month[first:last]
        highest = float(demand.peak_accelerators[first:last].max(initial=0.0))
        at_once = window.max_accelerators or highest
        if at_once * 730.0 * (last - first) < float(hours.sum()):
            raise InvalidInput(
                f"{self.field}.window.max_accelerators",
                f"{at_once:g} accelerators deliver {at_once * 730 * (last - first):,.0f} h in "
                f"{last - first} months and the work takes {float(hours.sum()):,.0f} h",
            )
        return MovableWork(first, last, at_once) if hours.any() else None


class PortfolioPreparation:
    """The projects of a request, each prepared once, in the order of their names."""

    def __init__(self, request: PortfolioRequest, catalog: Catalog, today: dt.date) -> None:
        self.request, self.catalog, self.today = request, catalog, today
        self.projects = tuple(self._prepare(project) for project in request.included)
        self._inputs: dict[tuple[Key, ...], dict[Key, ModelInputs]] = {}

    def check(self) -> None:
        """Raises `InvalidInput` where the fields of a project do not go together."""
        for prepared in self.projects:
            try:
                prepared.alone.check()
            except InvalidInput as refusal:
                raise refusal.under(prepared.field) from None
            _ = prepared.movable

    def _prepare(self, project: PortfolioProject) -> PreparedProject:
        number = self.request.projects.index(project)
        field = f"projects.{number}"
        try:
            alone = self._preparation(project, [project])
        except InvalidInput as refusal:
            raise refusal.under(field) from None
        return PreparedProject(field, project, alone)

    def _preparation(
        self, project: PortfolioProject, holders: Sequence[PortfolioProject]
    ) -> Preparation:
        request, limits = self.request, self.request.limits
        shared = {name: getattr(request, name) for name in _SHARED_FIELDS}
        together = {name: getattr(limits, name) for name in type(limits).model_fields}
        comparison = parse(
            ComparisonRequest,
            {
                **shared,
                "name": project.name,
                "workload": project.workload,
                "data": project.data,
                "constraints": project.constraints.model_copy(update=together),
                "on_prem": request.on_prem.model_copy(
                    update={"already_owned": tuple(s for h in holders for s in h.already_owned)}
                ),
                "existing": Existing(
                    commitments=tuple(c for h in holders for c in h.commitments),
                    leased_servers=tuple(s for h in holders for s in h.leased_servers),
                ),
            },
        )
        return ProjectPreparation(comparison, self.catalog, self.today, work_start=project.start)

    @cached_property
    def holds(self) -> bool:
        """Whether any project has machines already."""
        return any(
            p.project.already_owned or p.project.commitments or p.project.leased_servers
            for p in self.projects
        )

    def joint(
        self,
        members: Sequence[PreparedProject],
        every: Sequence[PreparedProject] = (),
        may_buy: bool = True,
        joins: bool = False,
    ) -> JointInputs:
        """Some projects together: they share what they hold and whatever `every` project commits
        to, as far as the limits of each admit it."""
        known = tuple(members if self.holds else every or self.projects)
        key = tuple(one.key for one in known)
        if key not in self._inputs:
            holders = [one.project for one in known]
            alone = [
                self._preparation(one.project, holders) if self.holds else one.alone
                for one in known
            ]
            self._inputs[key] = dict(zip(key, _share_commitments(alone), strict=True))
        inputs = [self._inputs[key][one.key] for one in members]
        return JointInputs.of(members, inputs, may_buy, joins)


def _share_commitments(preparations: Sequence[Preparation]) -> tuple[ModelInputs, ...]:
    every: dict[str, CapacitySource] = {}
    for preparation in preparations:
        for rental in preparation.inputs.rentals:
            if rental.is_committed:
                every.setdefault(rental.key, rental)
    extended = []
    for preparation in preparations:
        inputs = preparation.inputs
        known = {rental.key for rental in inputs.rentals}
        named = {
            source.offer_id
            for key, source in every.items()
            if key not in known and source.accelerator in inputs.throughput
        }
        if named:
            others = (r for r in preparation.offers.rentals(named) if r.offer_id in named)
            inputs = replace(inputs, rentals=(*inputs.rentals, *others))
        extended.append(inputs)
    return tuple(extended)


def fixed_sources(inputs: Sequence[ModelInputs]) -> dict[str, CapacitySource]:
    """What is due whatever the plan for machines that all share, each once."""
    fixed: dict[str, CapacitySource] = {}
    for one in inputs:
        for source in one.sources:
            if source.fixed_streams and source.key not in OWN_SOURCES:
                fixed.setdefault(source.key, source)
    return fixed


OWN_SOURCES = frozenset({"data"})
"""Sources with fixed costs that belong to one project: its data at rest."""


def fixed_cash(inputs: Sequence[ModelInputs]) -> Floats:
    """[L] what is due whatever the plan, of machines that are shared and of each project's own."""
    calendar = inputs[0].calendar
    total = np.zeros(calendar.length)
    for source in _all_fixed(inputs):
        total += source.fixed_cash(calendar)
    return total


def fixed_cost(inputs: Sequence[ModelInputs]) -> float:
    """The same net present, less what it costs less for being paid later."""
    calendar = inputs[0].calendar
    shift = sum(source.fixed_shift(calendar) for source in _all_fixed(inputs))
    return float(fixed_cash(inputs) @ calendar.discount) + shift


def _all_fixed(inputs: Sequence[ModelInputs]) -> list[CapacitySource]:
    own = [s for one in inputs for s in one.sources if s.key in OWN_SOURCES]
    return [*fixed_sources(inputs).values(), *own]


MOST_MONTHS_OVER = 120
"""Months that a project may have begun before the plan."""


@dataclass(frozen=True)
class ProjectPreparation(Preparation):
    """The comparison of one project whose work may begin before or after the plan does."""

    work_start: dt.date | None = None
    """First month of its work; None for that of the plan."""
    shares_quotas: ClassVar[bool] = True

    def size_work(self, wanted: Sequence[str] | None) -> Demand:
        """Demand in the months of the plan, of work laid out over its own."""
        if self.work_start is None:
            return super().size_work(wanted)
        calendar = self.calendar
        over = count_months(self.work_start, calendar.start)
        if over > MOST_MONTHS_OVER:
            raise InvalidInput(
                "start",
                f"{self.work_start:%Y-%m} is {over} months before the plan; allowed are "
                f"{MOST_MONTHS_OVER}",
            )
        months = calendar.months + over
        if months < 1:
            raise InvalidInput("start", f"{self.work_start:%Y-%m} is after the plan; leave it out")
        work = self.request.workload
        demand = compute_demand(work, self.work_start, months, wanted, self.certainty)
        hours = _shift_row(demand.hours_per_month, over)
        if not hours.any():
            raise InvalidInput("workload", "is over before the plan begins; leave the project out")
        peak = _shift_row(demand.peak_accelerators, over)
        runs = tuple(_shift_row(np.array(demand.runs_at_once), over).tolist())
        return replace(
            demand,
            hours_per_month=hours,
            peak_accelerators=peak,
            runs_at_once=runs if demand.runs_at_once else (),
        )


def _shift_row(row: NDArray[np.float64], over: int) -> NDArray[np.float64]:
    """
    >>> _shift_row(np.array([1.0, 2.0, 3.0]), 1).tolist(), _shift_row(np.array([1.0]), -2).tolist()
    ([2.0, 3.0], [0.0, 0.0, 1.0])
    """
    return row[over:] if over >= 0 else np.concatenate([np.zeros(-over), row])


@dataclass(frozen=True)
class JointInputs:
    """Some projects together: their inputs, and the problem that they make."""

    members: tuple[PreparedProject, ...]
    inputs: tuple[ModelInputs, ...]
    may_buy: bool = True
    """Whether servers may be bought; those in place serve either way."""
    pools: tuple[TurnPool, ...] = ()
    """Those of them that take turns on accelerators."""

    @classmethod
    def of(
        cls,
        members: Sequence[PreparedProject],
        inputs: Sequence[ModelInputs],
        may_buy: bool,
        joins: bool,
    ) -> JointInputs:
        """Projects with what each is planned from by itself, taking turns where they may; `joins`:
        whether who may use more machines joins those who may use some of them."""
        pools = find_pools([member.in_turn for member in members], inputs, joins)
        in_turn = take_turns(pools, inputs, lambda place, named: members[place].admitted(named))
        return cls(tuple(members), in_turn, may_buy, pools)

    @cached_property
    def problem(self) -> JointProblem:
        """The joint problem; what is due whatever the plan counts towards its budgets."""
        projects = [
            _project_problem(member, one, self.may_buy)
            for member, one in zip(self.members, self.inputs, strict=True)
        ]
        cash, months = fixed_cash(self.inputs), self.inputs[0].calendar.months
        first = projects[0]
        limits = replace(
            first.problem, base_cash=cash[:months], base_payments=float(np.maximum(cash, 0.0).sum())
        )
        projects[0] = replace(first, problem=limits)
        in_turn = tuple(self._take_out(projects))
        return JointProblem(tuple(projects), in_turn)

    def _take_out(self, projects: list[ProjectProblem]) -> Iterator[JointPart]:
        for pool in self.pools:
            if len({projects[place].choices for place in pool.places}) > 1:
                continue
            first, months = pool.places[0], pool.in_turn
            hours, peak = pool.hours.sum(axis=0) * months, pool.accelerators * months
            inputs = replace(self.inputs[first], hours=hours, peak=peak)
            part = _project_problem(self.members[first], inputs, self.may_buy)
            yield JointPart(part, dict(zip(pool.places, pool.shares, strict=True)))
            for place in pool.places:
                own = projects[place].problem
                projects[place] = projects[place].with_work(own.hours * ~months, own.peak * ~months)

    @cached_property
    def base_cost(self) -> float:
        """Net present cost of what is due whatever the plan."""
        return fixed_cost(self.inputs)


def _project_problem(member: PreparedProject, inputs: ModelInputs, may_buy: bool) -> ProjectProblem:
    keys = inputs.keys(scenario_options(ScenarioKey.HYBRID, inputs.interruptible))
    if not may_buy:
        owned = (source for source in inputs.sources if source.is_owned)
        keys -= {source.key for source in owned if source.existing is None}
    problem = restrict_sources(inputs.problem, keys)
    if rents_in_parts(inputs):  # runs take whole machines, for less
        problem = rent_in_parts(problem)
    kinds = {}
    if inputs.one_accelerator:
        kinds = {key: inputs.by_key[key].accelerator for key in keys}
    whole = set()
    for unit in problem.units:
        source = inputs.by_key[unit.key]
        job = inputs.job_sizes.get(source.accelerator, 1)
        if 2 * job > source.accelerators and job > 1:
            whole.add(unit.key)
    return ProjectProblem(member.name, problem, member.movable, frozenset(whole), kinds)


def rents_in_parts(inputs: ModelInputs) -> bool:
    """Whether a project rents for the hours alone that units leave it."""
    return inputs.fills_machines and not counts_machines(inputs)
