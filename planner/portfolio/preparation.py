"""From a portfolio request to what each project is planned from, alone and with others. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.comparison_steps.deadlines.sooner import runs_to_lay
from planner.comparison_steps.preparation import Preparation
from planner.contract.request.attempts import Run
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.existing import Existing
from planner.contract.request.portfolio import PortfolioProject, PortfolioRequest
from planner.contract.validation import parse
from planner.costing.assumptions.assumption import PreviousAssumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.portfolio.optimizer.problem import MovableWork
from planner.portfolio.project_work import ProjectPreparation
from planner.sizing.job_in_peak import refuse_job_above_peak
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
    "rules",
    "finance",
)
"""Fields that a comparison of one project takes from the portfolio as they are."""


WINDOW_EDITION = "projects.window_edition"
MOVED_AS_JOINT = 2.0
"""Edition from which a project alone moves its hours by the same rules as with others."""
SHARES_EDITION = "projects.shares_edition"
AT_MOST_OF_ALL = 2.0
"""Edition from which a group pays at most what is left of the plan if the others leave it."""
ONE_IS_A_GROUP = 3.0
"""Edition, under rules 6, from which one project may buy what a group of several may."""
RUNS_EDITION = "projects.runs_edition"
MAY_BE_SOONER = 2.0
"""Edition, under rules 6, from which runs may be done sooner than their deadlines ask."""
RANGE_EDITION = "projects.range_edition"
RANGE_SAMPLES = "projects.range_samples"
HAS_RANGE = 2.0
"""Edition, under rules 6, from which the total of a plan has a range."""

Key = tuple[str, tuple[Run, ...] | None]


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
        return self.name, getattr(self.project.workload, "runs", None)

    def lay_out(self, alone: Preparation) -> PreparedProject:
        """The same project with its work laid as in another comparison of it."""
        workload = alone.request.workload
        project = self.project.model_copy(update={"workload": workload})
        return PreparedProject(self.field, project, alone)

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

    def __init__(
        self,
        request: PortfolioRequest,
        catalog: Catalog,
        today: dt.date,
        previous_assumptions: PreviousAssumptions,
    ) -> None:
        self.request, self.catalog, self.today = request, catalog, today
        self.previous_assumptions = previous_assumptions
        self.projects = tuple(self._prepare(project) for project in request.included)
        self._inputs: dict[tuple[tuple[Key, ...], ...], tuple[ModelInputs, ...]] = {}
        self._extended: dict[tuple[Key, ...], dict[Key, ModelInputs]] = {}

    @property
    def has_windows(self) -> bool:
        """Whether hours of any project may move."""
        return any(one.movable is not None for one in self.projects)

    @property
    def window_edition(self) -> float:
        """How a project whose hours may move is planned alone."""
        return self._edition(WINDOW_EDITION, MOVED_AS_JOINT)

    @property
    def shares_edition(self) -> float:
        """How the cost of a group, of which shares are made, is worked out."""
        newest = ONE_IS_A_GROUP if self.request.rules >= 6 else AT_MOST_OF_ALL
        return self._edition(SHARES_EDITION, newest)

    @property
    def has_runs(self) -> bool:
        """Whether any project has runs that may be done sooner than their deadlines ask."""
        return any(runs_to_lay(one.alone) for one in self.projects)

    @property
    def runs_edition(self) -> float:
        """Whether runs may be done sooner than their deadlines ask."""
        return self._edition(RUNS_EDITION, MAY_BE_SOONER if self.request.rules >= 6 else 1.0)

    @property
    def range_edition(self) -> float:
        """Whether the total of a plan has a range."""
        return self._edition(RANGE_EDITION, HAS_RANGE if self.request.rules >= 6 else 1.0)

    @property
    def range_samples(self) -> int | None:
        """Outcomes that an answer that is computed again had its range from; None: as many as the
        work allows for."""
        row = self.previous_assumptions.get(RANGE_SAMPLES)
        return None if row is None else int(row.value)

    def states(self, edition: str) -> bool:
        """Whether the answer names an edition: of one that is computed again, whether it did."""
        return not self.previous_assumptions or edition in self.previous_assumptions

    def _edition(self, field: str, newest: float) -> float:
        """The edition of a rule; an answer of before it was said keeps edition 1 when it is
        computed again."""
        row = self.previous_assumptions.get(field)
        if row is not None:
            return float(row.value)
        return 1.0 if self.previous_assumptions else newest

    def check(self) -> None:
        """Raises `InvalidInput` where the fields of a project do not go together."""
        for prepared in self.projects:
            try:
                prepared.alone.check()
                if not self.previous_assumptions:
                    refuse_job_above_peak(prepared.project.workload)
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
        """The comparison of one project that may use what the holders have."""
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
        return ProjectPreparation(
            comparison, self.catalog, self.today, self.previous_assumptions, project.start
        )

    @cached_property
    def holds(self) -> bool:
        """Whether any project has machines already."""
        return any(
            p.project.already_owned or p.project.commitments or p.project.leased_servers
            for p in self.projects
        )

    def inputs(
        self, members: Iterable[PreparedProject], laid: Iterable[PreparedProject] = ()
    ) -> tuple[ModelInputs, ...]:
        """What each of some projects is planned from if they share what they hold and whatever
        any of them commits to, as far as the limits of each admit it. `laid`: projects as they
        are laid otherwise than asked, whose commitments count too."""
        chosen, others = tuple(members), tuple(laid)
        key = tuple(one.key for one in chosen), tuple(one.key for one in others)
        if key not in self._inputs:
            self._inputs[key] = self._joint_inputs(chosen, others)
        return self._inputs[key]

    def _joint_inputs(
        self, members: Sequence[PreparedProject], laid: Sequence[PreparedProject]
    ) -> tuple[ModelInputs, ...]:
        if not self.holds:
            extended = self._with_all_commitments(laid)
            return tuple(extended[member.key] for member in members)
        holders = [member.project for member in members]
        return _share_commitments(
            [self._preparation(member.project, holders) for member in members]
        )

    def _with_all_commitments(self, laid: Sequence[PreparedProject]) -> dict[Key, ModelInputs]:
        """The inputs of each project as asked, and of those laid otherwise."""
        key = tuple(one.key for one in laid)
        if key not in self._extended:
            every = (*self.projects, *laid)
            inputs = _share_commitments([prepared.alone for prepared in every])
            self._extended[key] = dict(zip((one.key for one in every), inputs, strict=True))
        return self._extended[key]


def _share_commitments(preparations: Sequence[Preparation]) -> tuple[ModelInputs, ...]:
    """Inputs in which each project knows the commitments that matter to any other: one that a
    better offer of its own replaces may still be the best to share."""
    every: dict[str, CapacitySource] = {}
    for preparation in preparations:
        for rental in preparation.inputs.rentals:
            if rental.is_committed:
                every.setdefault(rental.key, rental)
    return tuple(_extend(preparation, every) for preparation in preparations)


def _extend(preparation: Preparation, every: dict[str, CapacitySource]) -> ModelInputs:
    inputs = preparation.inputs
    known = {rental.key for rental in inputs.rentals}
    named = {
        source.offer_id
        for key, source in every.items()
        if key not in known and source.accelerator in inputs.throughput
    }
    if not named:
        return inputs
    others = (r for r in preparation.offers.rentals(named) if r.offer_id in named)
    return replace(inputs, rentals=(*inputs.rentals, *others))


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
