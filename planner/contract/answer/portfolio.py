"""The answer to a portfolio: one plan for all projects, and what each of them pays. PURE."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Literal

from pydantic import Field

from planner.contract.answer.common import (
    AcceleratorHours,
    Accelerators,
    AnswerModel,
    Category,
    Money,
    MonthIndex,
    MonthsOfPlan,
    Share,
)
from planner.contract.answer.comparison import (
    AssumptionRow,
    CatalogRevision,
    InheritedField,
    OfferUsed,
    ServerUsed,
)
from planner.contract.answer.risk import Cause, PortfolioRange
from planner.contract.answer.scenario import CostLine, Purchase
from planner.contract.answer.verdict import DecisionPart

PORTFOLIO_VERSION = 1
"""Version of this answer's form."""


class PortfolioLine(CostLine):
    """One cost of one month, with the project that causes it."""

    project: str = Field(
        description="Project whose rent or hours it pays for; empty for what all share."
    )


class ProjectUse(AnswerModel):
    """What a project uses of one offer or server in one month."""

    month: MonthIndex = Field(description="Month of the plan.")
    project: str = Field(description="Name of the project.")
    source: str = Field(description="Key of the offer or server.")
    shared: bool = Field(description="Whether the machine is one that projects share.")
    accelerator_hours: float = Field(
        description="Hours of its physical accelerators.", json_schema_extra={"unit": "h"}
    )


class ProjectOrder(DecisionPart):
    """One thing to do for all projects or for one of them."""

    project: str = Field(description="Project that it is for; empty for what all share.")


MachineKind = Literal["owned", "committed", "rented"]


class MonthOfMachines(AnswerModel):
    """The machines that are bought, committed to or held, in one month."""

    month: MonthIndex = Field(description="Month of the plan.")
    source: str = Field(description="Key of the offer or server.")
    accelerators: Accelerators = Field(description="Physical accelerators in service.")
    hours_available: float = Field(
        description="Hours that they can deliver.", json_schema_extra={"unit": "h"}
    )
    hours_used: float = Field(
        description="Hours that projects use of them.", json_schema_extra={"unit": "h"}
    )


class Machine(AnswerModel):
    """An offer or server that the plan uses."""

    source: str = Field(description="Key in lines, purchases and uses.")
    label: str = Field(description="What it is called.")
    accelerator: str = Field(description="Slug of its accelerator.")
    kind: MachineKind = Field(description="How it is obtained.")


class ChargeRate(AnswerModel):
    """What an accelerator-hour costs: capital and upfront payments less resale, rent, running costs
    and data, over the hours used; of a project over the plan, on the rate card of a year."""

    project: str = Field(default="", description="Name of the project; empty on the rate card.")
    year: int | None = Field(
        default=None,
        description="Calendar year of the rate card; null for the whole plan.",
        json_schema_extra={"unit": "year"},
    )
    accelerator: str = Field(
        default="", description="Slug of the accelerator on the rate card; empty for all of them."
    )
    kind: MachineKind | Literal["all"] = Field(
        description="How the machines are obtained; `all` for every hour."
    )
    accelerator_hours: float = Field(
        description="Hours of physical accelerators that are used.", json_schema_extra={"unit": "h"}
    )
    cost: Money = Field(
        description="Cost of these hours, undiscounted: idle hours of a machine are paid for by "
        "those who use it; by year what is paid once is spread over the hours of the whole plan, "
        "the rest as it falls due. Rows of `all` sum to the total."
    )
    cost_per_hour: float | None = Field(
        description="Cost over hours; null without hours.",
        json_schema_extra={"unit": "currency per h of one accelerator"},
    )


class SharedPool(AnswerModel):
    """Projects whose jobs take turns on the same accelerators."""

    projects: tuple[str, ...] = Field(description="Names of the projects.")
    by_hour: tuple[str, ...] = Field(
        default=(), description="Those of them whose work changes by the hour and never waits."
    )
    accelerator: str = Field(description="Slug of their reference accelerator.")
    accelerators: Accelerators = Field(
        description="Accelerators that they need together, in the month that needs most."
    )
    accelerators_at_once: Accelerators = Field(
        description="Accelerators that they would need in that month if none waited for another."
    )
    mean_wait_hours: float = Field(
        description="Mean wait of a job, in the month with the longest waits.",
        json_schema_extra={"unit": "h"},
    )
    p90_wait_hours: float = Field(
        description="Wait within which nine in ten jobs start, in the month with the longest "
        "waits.",
        json_schema_extra={"unit": "h"},
    )


class ProjectWriteOff(AnswerModel):
    """Capital and upfront payments of one source by the month that books them."""

    project: str = Field(description="Project whose own it is; empty for what all share.")
    source: str = Field(description="Key of the offer or server.")
    amounts: tuple[Money, ...] = Field(description="What each month books.")


class ProjectShare(AnswerModel):
    """One project: what it would pay alone, what it pays here, and why."""

    name: str = Field(description="Name of the project.")
    priority: int = Field(
        description="1 is served first.", json_schema_extra={"unit": "rank, 1 to 9"}
    )
    waits: bool = Field(description="Whether limits leave no room for it; it then pays nothing.")
    accelerator: str = Field(description="Slug of its reference accelerator.")
    hours: AcceleratorHours = Field(description="Hours that its work takes over the horizon.")
    alone: Money | None = Field(
        description="Net present cost of its own plan; null where it has none."
    )
    alone_total: Money | None = Field(description="Total of its own plan, undiscounted.")
    alone_way: str = Field(description="How it would get its machines by itself.")
    sooner: bool = Field(
        default=False, description="Whether its runs are done sooner here than their deadlines ask."
    )
    alone_sooner: bool = Field(
        default=False, description="Whether its own plan does them sooner than their deadlines ask."
    )
    share: Money | None = Field(
        description="Its part of the net present cost of the plan; null where it waits or where "
        "a project has no plan of its own to measure by."
    )
    fraction: Share | None = Field(
        description="Its part as a fraction of the plan: what to charge it of every bill."
    )
    saving: Money | None = Field(description="What it pays less than alone.")
    without: Money | None = Field(
        default=None,
        description="Net present cost of the plan of the others, in which servers may pay back by "
        "their resale alone; null unless `what_if` is asked.",
    )
    adds: Money | None = Field(
        default=None, description="What the plan costs more than that of the others."
    )
    direct_cost: Money = Field(
        description="Total of its own lines: machines rented for it and hours run for it."
    )
    shared_hours: float = Field(
        description="Hours that it uses of machines that are shared.",
        json_schema_extra={"unit": "h of one accelerator"},
    )
    shared_fraction: Share | None = Field(
        description="The same as a fraction of all hours used of them; null where none are used."
    )
    busy_months: tuple[MonthIndex, ...] = Field(description="Months in which it works.")
    explanation: str = Field(description="Why it pays what it pays, in sentences.")


class PortfolioAnswer(MonthsOfPlan, AnswerModel):
    """What a team should own, commit to and rent for all its projects; months count from
    `start`."""

    tables: ClassVar[tuple[str, ...]] = (
        *("assumptions", "cash_per_month", "catalog", "charge_rates", "cost_by_category"),
        *(
            "in_service",
            "inherited",
            "lines",
            "machines",
            "offers",
            "purchases",
            "rate_card",
            "servers",
        ),
        *("uses", "write_off"),
    )
    version: int = Field(
        default=PORTFOLIO_VERSION,
        description="Form of this answer.",
        json_schema_extra={"unit": "number"},
    )
    name: str = Field(default="", description="Title that the request gives.")
    start: str = Field(description="Month 0, written YYYY-MM.", pattern=r"^\d{4}-\d{2}$")
    horizon_months: int = Field(
        description="Months of the plan.", json_schema_extra={"unit": "months"}
    )
    currency: str = Field(description="Currency of every amount (ISO 4217).")
    feasible: bool = Field(description="Whether a plan serves at least one project.")
    headline: str = Field(description="What to do, in a sentence.")
    orders: tuple[ProjectOrder, ...] = Field(
        default=(), description="What to keep, buy, sign for, reserve and rent, the dearest first."
    )
    why_not: tuple[str, ...] = Field(default=(), description="Why there is no plan, or who waits.")
    net_present_cost: Money | None = Field(
        default=None, description="The plan discounted to the start: what plans are ranked by."
    )
    total_cost: Money | None = Field(default=None, description="Sum of the lines, undiscounted.")
    expected: Money | None = Field(
        default=None,
        description="Expected cost: the mean of the total over the simulated outcomes; null where "
        "none were simulated.",
    )
    standard_error: Money | None = Field(
        default=None, description="Standard error of the expected cost."
    )
    risk_allowance: dict[Cause, Money] = Field(
        default_factory=dict,
        description="What each cause adds to the total as stated, switched on after those before "
        "it: with it they sum to the expected cost.",
    )
    range: PortfolioRange | None = Field(default=None, description="Range of the total.")
    why_no_range: str = Field(default="", description="Why there is no range; empty with one.")
    gap: Share | None = Field(
        default=None,
        description="No plan is cheaper by a larger fraction, which is proven; where runs may be "
        "done sooner than their deadlines ask, of the plans that do the work in the same months.",
    )
    apart: Money | None = Field(
        default=None,
        description="Net present cost of the plans of all projects apart; null where one has none.",
    )
    apart_total: Money | None = Field(default=None, description="Their total, undiscounted.")
    saving: Money | None = Field(
        default=None, description="What the plan costs less than planning apart, net present."
    )
    saving_fraction: Share | None = Field(
        default=None, description="The same as a fraction of planning apart."
    )
    shares_method: Literal["shapley", "shapley_sampled", "use"] | None = Field(
        default=None, description="How the shares were worked out; null without shares."
    )
    shares_orders: int = Field(
        default=0,
        description="Orders of joining that were sampled; 0 where the shares are exact.",
        json_schema_extra={"unit": "number"},
    )
    shares_error: Share = Field(
        default=0.0,
        description="Half-width of the 95 % interval of the least certain share, over the mean.",
    )
    projects: tuple[ProjectShare, ...] = Field(description="Every project, by name.")
    charge_rates: tuple[ChargeRate, ...] = Field(
        default=(),
        description="What an accelerator-hour costs each project, by how machines are obtained; "
        "rows of `all` sum to the total, to a cent each.",
    )
    rate_card: tuple[ChargeRate, ...] = Field(
        default=(),
        description="What an accelerator-hour costs in each year, by machines and how they are "
        "obtained: what to charge next year.",
    )
    pools: tuple[SharedPool, ...] = Field(
        default=(), description="Projects that take turns, and how long their jobs wait."
    )
    machines: tuple[Machine, ...] = Field(
        default=(), description="Offers and servers that the plan uses."
    )
    purchases: tuple[Purchase, ...] = Field(
        default=(), description="What is bought and committed to, by month."
    )
    next_order: Purchase | None = Field(
        default=None, description="The first server to order; null where none is bought."
    )
    capital_to_approve: Money | None = Field(
        default=None,
        description="All invoices of the month of the first order: servers, network, spares, "
        "installation; null where no server is bought.",
    )
    obligation_to_sign: Money | None = Field(
        default=None,
        description="All payments of the commitments and leases that begin in the first month of "
        "any, upfront ones too; null where none is signed.",
    )
    resale: Money | None = Field(
        default=None,
        description="What servers are assumed to fetch at the end, after the tax on it, taken off "
        "every total; null where none is sold.",
    )
    in_service: tuple[MonthOfMachines, ...] = Field(
        default=(), description="Machines held in each month, and how far they are used."
    )
    uses: tuple[ProjectUse, ...] = Field(
        default=(), description="What each project uses of each machine, by month."
    )
    utilisation: Share | None = Field(
        default=None,
        description="Hours used of machines held over the hours they can deliver, in months of "
        "service; null where none is held.",
    )
    cost_by_category: dict[Category, Money] = Field(
        default_factory=dict, description="Sum of the lines of each category."
    )
    cash_per_month: tuple[Money, ...] = Field(
        default=(), description="What falls due in each month; then at the end of the horizon."
    )
    lines: tuple[PortfolioLine, ...] = Field(default=(), description="Every cost, once.")
    write_off: tuple[ProjectWriteOff, ...] = Field(
        default=(), description="Capital and upfront payments by the month that books them."
    )
    offers: dict[str, OfferUsed] = Field(
        default_factory=dict, description="Offer id → the offer, for every offer used."
    )
    servers: tuple[ServerUsed, ...] = Field(default=(), description="Servers used.")
    cost_of_waiting: Money | None = Field(
        default=None,
        description="Net present cost that serving those who wait too would add without limits; "
        "null where none waits.",
    )
    catalog: tuple[CatalogRevision, ...] = Field(default=(), description="Price lists used.")
    assumptions: tuple[AssumptionRow, ...] = Field(
        default=(), description="Figures that the answer rests on, the same for all projects."
    )
    inherited: tuple[InheritedField, ...] = Field(
        default=(), description="What came from the team's settings."
    )
    warnings: tuple[str, ...] = Field(default=(), description="What to know about the answer.")

    @property
    def is_laid_anew(self) -> bool:
        """Whether work was planned in other months than asked too, so that a proof holds for the
        months that it has here."""
        return any(one.sooner or one.alone_sooner for one in self.projects)

    @cached_property
    def labels(self) -> dict[str, str]:
        """What each offer and server is called, by key."""
        return {machine.source: machine.label for machine in self.machines}

    def project(self, name: str) -> ProjectShare | None:
        """A project by its name; None where it is not part of the plan."""
        return next((one for one in self.projects if one.name == name), None)
