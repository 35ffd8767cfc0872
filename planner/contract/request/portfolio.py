"""What a team asks for all its projects together: the portfolio request. PURE.

Prices, finance and what owning costs are the team's and stand once; each project brings its work,
its own limits and what it holds already. Budgets and quotas hold for all projects together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from planner.contract.amounts import add_months, count_months
from planner.contract.request.comparison import MAX_HORIZON_MONTHS
from planner.contract.request.constraints import (
    Constraints,
    CustomOffer,
    FiscalYearBudget,
    PriceAdjustment,
    Quota,
)
from planner.contract.request.finance import Data, Finance, Rates
from planner.contract.request.on_prem import ExistingCommitment, LeasedServer, OnPrem, OwnedServers
from planner.contract.request.workload import DEFAULT_MONTHS, AcceleratorHours, Workload
from planner.contract.validation import (
    Currency,
    Entries,
    Money,
    Month,
    Number,
    RequestModel,
    Text,
    Whole,
    closest,
    parse,
)
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import HOURS_PER_MONTH

MAX_PROJECTS = 100
DEFAULT_JOB_HOURS, DEFAULT_MAX_WAIT_HOURS = 4.0, 8.0
"""Mean length of a job, h, and the longest wait of nine jobs in ten, a working day: planning
choices, 2026."""
_LIMITS_OF_OTHERS = dict.fromkeys(
    ("quotas", "capex_budget", "capex_by_fiscal_year", "monthly_budget", "total_budget"),
    "holds for all projects together; state it under limits.{}",
) | dict.fromkeys(
    (
        *("capex_months", "max_provider_share", "min_providers", "min_provider_share"),
        *("power_kw", "rack_units"),
    ),
    "is for the plan of one project alone, as projects of a portfolio share machines; leave it out",
)
"""Limits that one project of several cannot have, and what to do with each."""


ALONE_ONLY = {"credits": "credits", "minimum_spend": "minimum spends"}
"""What a joint plan cannot count: what a credit or a minimum spend is worth to a project depends on
what the others spend with its provider, so that its shares would be no division of the plan. By
field, in words."""


def _refuse_existing(data: object, place: str) -> object:
    """Refuses what a comparison has under `existing` and a portfolio states elsewhere or cannot
    count, by name, before it is refused as unknown. `place`: where the rest is stated."""
    if isinstance(data, Mapping):
        for name in ALONE_ONLY:
            if name in data:
                raise InvalidInput(name, _NOT_COUNTED)
        if "existing" in data:
            raise InvalidInput(
                "existing",
                f"commitments and leased servers are stated under {place}; {_NOT_COUNTED}",
            )
    return data


_NOT_COUNTED = (
    "credits and minimum spends cannot be counted in a joint plan: leave them out here, and "
    "compare the project that uses them by itself"
)


class ProjectWindow(RequestModel):
    """Months between which a project's hours may move: the plan does them when machines are
    free."""

    start: Month
    """First month in which the work may be done."""
    deadline: Month
    """Last month in which it may be done."""
    max_accelerators: Annotated[Number, Field(gt=0, le=1e7)] | None = None
    """Most reference accelerators at work at once; absent: the highest peak of the work in these
    months."""

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.deadline < self.start:
            yield InvalidInput(
                "deadline", f"{self.deadline:%Y-%m} is before the start {self.start:%Y-%m}"
            )


class PortfolioProject(RequestModel):
    """One project of the portfolio."""

    name: Text
    """Name of the project, unique."""
    priority: Annotated[Whole, Field(ge=1, le=9)] = 5
    """1 is served first where budgets or quotas do not allow for all projects."""
    included: bool = True
    """Whether it is planned; false leaves it out, to see what the others do without it."""
    workload: Workload
    """What has to be done: known hours, a training, or samples."""
    start: Month | None = None
    """First month of its work, from which hours by month and a run without dates count; absent: the
    first of the plan. Months before the plan are over and count as done."""
    constraints: Constraints = Constraints()
    """Limits of this project alone: places, accelerators, share of spot. Budgets and quotas stand
    under `limits`."""
    window: ProjectWindow | None = None
    """Months between which its hours may move; absent: they stay in their months."""
    at_once: bool = False
    """Whether its peak is kept for it in every month, as with other sized work; false: jobs of
    given hours take turns with those of other projects, and a service of known requests by hour
    leaves them its idle replicas."""
    week_profile: Annotated[Entries[Annotated[Number, Field(ge=0)]], Field(max_length=168)] = ()
    """Relative use in each hour of a day (24 values) or of a week (168, from Monday) by hours that
    wait for nobody, such as serving: jobs of others work on what it leaves by night."""
    job_hours: Annotated[Number, Field(ge=0.01, le=10_000)] = DEFAULT_JOB_HOURS
    """Mean length of a job, h."""
    max_wait_hours: Annotated[Number, Field(ge=0, le=10_000)] = DEFAULT_MAX_WAIT_HOURS
    """h within which nine in ten of its jobs must have started; 8 is a working day."""
    data: Data = Data()
    """Data that it stores in the cloud and transfers out of it."""
    already_owned: OwnedServers = ()
    """Servers that it holds; the plan lets all projects use them."""
    commitments: Annotated[Entries[ExistingCommitment], Field(max_length=100)] = ()
    """Commitments that it has signed; the plan lets all projects use them."""
    leased_servers: Annotated[Entries[LeasedServer], Field(max_length=100)] = ()
    """Servers that it has on lease; the plan lets all projects use them."""

    @model_validator(mode="before")
    @classmethod
    def _without_existing(cls, data: object) -> object:
        return _refuse_existing(data, "commitments and leased_servers of the project")

    def _refusals(self) -> Iterator[InvalidInput]:
        for name, problem in _LIMITS_OF_OTHERS.items():
            if getattr(self.constraints, name) not in (None, ()):
                yield InvalidInput(f"constraints.{name}", problem.format(name))
        profile, work = self.week_profile, self.workload
        if profile and (len(profile) not in (24, 168) or not any(profile)):
            yield InvalidInput("week_profile", "takes 24 or 168 values, not all of them 0")
        if profile and (self.window or not isinstance(work, AcceleratorHours)):
            yield InvalidInput("week_profile", "is for given hours that stay in their months")
        if any(profile) and isinstance(work, AcceleratorHours) and work.peak_accelerators:
            mean = max(work.hours_per_month) / HOURS_PER_MONTH * len(profile) / sum(profile)
            if (busiest := mean * max(profile)) > work.given_peak:
                takes = f"takes {busiest:,.4g} accelerators in its busiest hour"
                peak = f"peak_accelerators is {work.given_peak:,}"
                yield InvalidInput("week_profile", f"{takes}, and {peak}; raise that")
        if self.window and (self.data.storage_gib or self.data.egress_gib_per_month):
            yield InvalidInput(
                "window",
                "hours with data to store or carry out stay in their months, as what the data "
                "costs follows them; leave out the window or the data",
            )


class PortfolioLimits(RequestModel):
    """What all projects together must keep to; an absent field limits nothing."""

    quotas: Annotated[Entries[Quota], Field(max_length=50)] = ()
    """Most accelerators at once, by provider, region and kind."""
    capex_budget: Money | None = None
    """Most capital over the whole horizon."""
    capex_by_fiscal_year: Annotated[Entries[FiscalYearBudget], Field(max_length=20)] = ()
    """Most capital in each fiscal year."""
    monthly_budget: Money | None = None
    """Most cash in any month, after tax where there is a tax rate."""
    total_budget: Money | None = None
    """Most that all payments of the plan together come to, those owed after the horizon too."""


class PortfolioRequest(RequestModel):
    """What a team should own, commit to and rent for all its projects together."""

    name: Annotated[str, Field(max_length=200)] = ""
    """Title of the portfolio."""
    start: Month | None = None
    """Month 0; absent: the month after today."""
    horizon_months: Annotated[Whole, Field(ge=1, le=MAX_HORIZON_MONTHS)] = DEFAULT_MONTHS
    """T, months of the plan."""
    currency: Currency = "USD"
    """Currency of every amount of the request and the answer."""
    projects: Annotated[Entries[PortfolioProject], Field(min_length=1, max_length=MAX_PROJECTS)]
    """The projects; their order changes nothing."""
    limits: PortfolioLimits = PortfolioLimits()
    """Budgets and quotas of all projects together."""
    shares: Literal["shapley", "use"] = "shapley"
    """How the cost is divided: `shapley` by what each project adds to groups of the others (exact
    up to 8 projects, sampled beyond), `use` by the hours that each uses of every machine."""
    what_if: bool = True
    """Whether the answer says what the others would pay without each project."""
    custom_offers: Annotated[Entries[CustomOffer], Field(max_length=1000)] = ()
    """Private or negotiated prices beside those of the catalog."""
    price_adjustments: Annotated[Entries[PriceAdjustment], Field(max_length=100)] = ()
    """Contract discounts on catalog prices."""
    use_catalog: bool = True
    """Whether the published prices of the providers are considered."""
    inherits: bool = True
    """Whether the team's prices, quotes and defaults are added; false if already in it."""
    exchange_rates: Rates = Field(default_factory=dict)
    """Currency code → units per US dollar; replaces the dated rate of the catalog."""
    term_end: Literal["full", "within"] | None = None
    """What counts of a commitment that ends after the horizon; absent: as in
    a comparison."""
    on_prem: OnPrem = OnPrem()
    """Servers to buy and what owning costs; servers already owned stand with their projects."""
    finance: Finance = Finance()
    """Discount rate, trends, depreciation and tax."""

    @model_validator(mode="before")
    @classmethod
    def _without_existing(cls, data: object) -> object:
        return _refuse_existing(data, "projects.0.commitments and projects.0.leased_servers")

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.on_prem.already_owned:
            yield InvalidInput(
                "on_prem.already_owned",
                "servers you already own belong to the project that holds them, under "
                "projects.0.already_owned",
            )
        names = [project.name for project in self.projects]
        for i, name in enumerate(names):
            if name in names[:i]:
                yield InvalidInput(
                    f"projects.{i}.name", f"{name!r} is given twice; once is allowed"
                )
        if not any(project.included for project in self.projects):
            yield InvalidInput("projects", "none is included; include at least one")
        labels = [c.label for project in self.projects for c in project.commitments]
        for label in sorted(set(labels)):
            if labels.count(label) > 1:
                yield InvalidInput(
                    "projects", f"a commitment {label!r} is given twice; allowed is once"
                )
        if self.start is not None:
            yield from self._windows_outside()

    def _windows_outside(self) -> Iterator[InvalidInput]:
        assert self.start is not None
        last = add_months(self.start, self.horizon_months - 1)
        for i, project in enumerate(self.projects):
            window = project.window
            if window is None:
                continue
            if window.start < self.start or count_months(window.deadline, last) < 0:
                yield InvalidInput(
                    f"projects.{i}.window",
                    f"{window.start:%Y-%m} to {window.deadline:%Y-%m} is not within the plan; "
                    f"allowed are months from {self.start:%Y-%m} to {last:%Y-%m}",
                )

    @property
    def included(self) -> tuple[PortfolioProject, ...]:
        chosen = (project for project in self.projects if project.included)
        return tuple(sorted(chosen, key=lambda project: project.name))


def leave_out(request: PortfolioRequest, names: Collection[str]) -> PortfolioRequest:
    """The request without some projects, which are named as they stand there."""
    known = [project.name for project in request.projects]
    for name in names:
        if name not in known:
            raise InvalidInput(
                "without", f"{name!r} is no project of this portfolio{closest(name, known)}"
            )
    if not names:
        return request
    projects = tuple(
        project.model_copy(update={"included": project.included and project.name not in names})
        for project in request.projects
    )
    if not any(project.included for project in projects):
        raise InvalidInput("without", "leaves no project; leave at least one in")
    return request.model_copy(update={"projects": projects})


def read_portfolio(data: object) -> PortfolioRequest:
    """`data` as a portfolio request, or `InvalidInput` naming each field refused.

    >>> hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    >>> read_portfolio({"projects": [{"name": "vision", "workload": hours}]}).horizon_months
    36
    """
    if isinstance(data, PortfolioRequest):
        return data
    if not isinstance(data, Mapping):
        raise InvalidInput("", "a portfolio is an object with projects; see the guide Portfolio")
    return parse(PortfolioRequest, data)
