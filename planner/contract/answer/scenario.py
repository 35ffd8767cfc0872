"""One scenario of an answer: totals, every cost once, purchases and what they serve. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import ClassVar, Literal, Protocol

from pydantic import Field

from planner.contract.answer.common import (
    AcceleratorHours,
    Accelerators,
    AnswerModel,
    Category,
    KgCo2e,
    Kwh,
    Money,
    MonthIndex,
    Months,
    ScenarioKey,
    Share,
    UnitPrice,
)
from pricing.common.tables import group

_RENTING = (ScenarioKey.ON_DEMAND, ScenarioKey.CLOUD)


class Relaxation(AnswerModel):
    """A limit that leaves a scenario without a plan, and the least that would do."""

    field: str = Field(description="Field of the request, such as `constraints.monthly_budget`.")
    current_value: float = Field(
        description="The limit as it is.", json_schema_extra={"unit": "as the request gives it"}
    )
    required_value: float = Field(
        description="The least with which there is a plan, every other limit as it is.",
        json_schema_extra={"unit": "as the request gives it"},
    )
    is_sufficient: bool = Field(
        description="Whether it is enough alone; otherwise together with the others named."
    )
    change: str = Field(description="What to ask for instead, in words.")
    sentence: str = Field(description="Both values in a sentence.")


class _HasRelaxations(Protocol):
    @property
    def relaxations(self) -> tuple[Relaxation, ...]: ...


def least_changes(scenarios: Mapping[ScenarioKey, _HasRelaxations]) -> tuple[Relaxation, ...]:
    """What lets a plan in where there is none: what the widest scenario takes, or less of the same
    limit if that is enough for one that rents alone, which may have costs of its own left out."""
    widest = scenarios[ScenarioKey.HYBRID].relaxations
    if len(widest) != 1 or not widest[0].is_sufficient:
        return widest
    others = (scenarios[key].relaxations for key in _RENTING if key in scenarios)
    known = [one for (one, *more) in filter(None, others) if one.is_sufficient and not more]
    same = [one for one in known if one.field == widest[0].field]
    return (min((*widest, *same), key=lambda one: abs(one.required_value - one.current_value)),)


class LeaseYear(AnswerModel):
    """Leases on the balance sheet (IFRS 16) in one fiscal year."""

    depreciation: Money = Field(
        description="Depreciation of the right of use, evenly over the lease."
    )
    interest: Money = Field(description="Interest on the lease liability.")
    right_of_use: Money = Field(description="Asset at the end of the year.")
    liability: Money = Field(description="Lease liability at the end of the year.")
    cost: Money = Field(
        description="All costs of the year with leases so booked, in place of their payments in "
        "equal parts."
    )


class FiscalYearFinance(AnswerModel):
    """One fiscal year; each column sums to the scenario's total, capital, loan and balances
    aside."""

    fiscal_year: int = Field(
        description="Calendar year in which it ends.", json_schema_extra={"unit": "year"}
    )
    first: str = Field(description="First month, YYYY-MM.", pattern=r"^\d{4}-\d{2}$")
    last: str = Field(description="Last month, YYYY-MM.", pattern=r"^\d{4}-\d{2}$")
    cash: Money = Field(
        description="What is paid in it, loans drawn taken off, as the cash timing and the payment "
        "terms say."
    )
    capital: Money = Field(
        description="Invoices of what is written off: servers, network, spares, installation."
    )
    operating: Money = Field(
        description="Cost of rent, commitments and running, upfront payments spread over their "
        "term."
    )
    depreciation: Money = Field(description="Capital written off.")
    lease: Money = Field(
        description="Payments of leases in equal parts, as ASC 842 books an operating lease."
    )
    interest: Money = Field(description="Interest on loans and hire purchase as it accrues.")
    resale: Money = Field(description="What servers are sold for, negative.")
    tax: Money = Field(description="Tax due on resale less tax saved.")
    cost: Money = Field(description="Cost in the profit and loss: the sum of these.")
    loan: Money = Field(description="Owed to lenders at the end of the year.")
    leases: LeaseYear | None = Field(
        default=None, description="Leases as IFRS 16 books them; null where nothing is leased."
    )


class ScenarioFinance(AnswerModel):
    """A feasible scenario as finance reads it, from the same lines as its total."""

    against: ScenarioKey | None = Field(
        default=None,
        description="The plan that buys and leases nothing, of least net present cost, that the "
        "returns are against; null where this plan is one of those, or there is none.",
    )
    net_present_value: Money | None = Field(
        default=None, description="Net present cost of that plan less this one's."
    )
    internal_rate_of_return: Share | None = Field(
        default=None,
        description="Yearly rate at which both plans are worth the same; null if there is none, "
        "more than one, or no meaningful one.",
    )
    why_no_internal_rate: str = Field(
        default="", description="Why there is no internal rate of return; empty where there is."
    )
    payback_months: Months | None = Field(
        default=None,
        description="Months until what is saved stays above what was spent, each payment counted "
        "over the month from its moment on, resale at the end included; null where it never does.",
    )
    discounted_payback_months: Months | None = Field(
        default=None, description="The same with flows at their present value."
    )
    cost_per_year: Money = Field(description="Total over the years of the plan.")
    fiscal_years: tuple[FiscalYearFinance, ...] = Field(
        default=(), description="Cash and cost of each fiscal year."
    )

    @property
    def has_leases(self) -> bool:
        return any(year.leases is not None for year in self.fiscal_years)


class SourceEnergy(AnswerModel):
    """Energy and carbon of one offer or server over the horizon."""

    source: str = Field(description="Key of the offer or server.")
    kwh: Kwh = Field(description="Energy at the meter.")
    kg_co2e: KgCo2e | None = Field(description="Carbon; null where the grid is not known.")
    g_co2e_per_kwh: float | None = Field(
        description="Carbon of the grid.", json_schema_extra={"unit": "g CO2e/kWh"}
    )
    carbon_source: str = Field(description="Where the figure of the grid comes from.")
    method: str = Field(default="", description="How the energy was worked out.")


class ScenarioEnergy(AnswerModel):
    """Energy and carbon of a scenario; null where a figure is not known, with the reasons."""

    kwh: Kwh | None = Field(description="Energy of the sources whose power is known.")
    kg_co2e: KgCo2e | None = Field(
        description="Carbon of all of it; null unless every power and every grid is known."
    )
    kg_co2e_of_known_grid: KgCo2e | None = Field(
        default=None, description="Carbon of the grids that are known; null where none is."
    )
    why_not: tuple[str, ...] = Field(default=(), description="What is not known, in sentences.")
    kwh_of_unknown_grid: Kwh = Field(default=0.0, description="Energy whose grid is not known.")
    unknown_power: tuple[str, ...] = Field(
        default=(), description="Sources whose power is not known."
    )
    sources: tuple[SourceEnergy, ...] = Field(default=(), description="Source by source.")


class CostLine(AnswerModel):
    """One cost of one month: quantity × unit price = amount, rounded to the cent."""

    month: MonthIndex = Field(
        description="Month in which it falls due; the residual value at the end of the horizon."
    )
    category: Category = Field(description="What it is for.")
    label: str = Field(description="What is paid for, and where.")
    provider: str = Field(description="Provider; empty for what the team owns.")
    region: str = Field(description="Region of the provider.")
    instance_type: str = Field(description="Machine, or server.")
    purchase_option: str = Field(
        description="How the machine is paid for; `owned` for servers, empty for data and tax."
    )
    quantity: float = Field(description="How many units.", json_schema_extra={"unit": "see unit"})
    unit: str = Field(description="What is counted: node-hours, servers, GiB-months …")
    unit_price: UnitPrice = Field(description="Price of one unit.")
    amount: Money = Field(description="Quantity × unit price, to the cent.")
    offer_id: str = Field(description="Offer behind it; empty where there is none.")
    source: str = Field(default="", description="Key of the offer, server or data it belongs to.")


class CapacityRow(AnswerModel):
    """What one source gives in one month."""

    month: MonthIndex = Field(description="Month of the plan.")
    source: str = Field(description="Key of the offer or server.")
    accelerators: Accelerators = Field(
        description="Physical accelerators in service; of rented ones the average at peak."
    )
    hours_available: AcceleratorHours = Field(description="What it could deliver.")
    hours_used: AcceleratorHours = Field(description="What the plan takes from it.")


class Purchase(AnswerModel):
    """Units bought, committed to or reserved in one month: one decision of the plan."""

    month: MonthIndex = Field(description="Month in which it is bought or begins.")
    source: str = Field(description="Key of the offer or server.")
    label: str = Field(default="", description="What it is called in lines and tables.")
    kind: Literal["server", "commitment", "capacity_block"] = Field(
        default="commitment",
        description="A server bought, a commitment, or hours reserved by date.",
    )
    units: float = Field(
        description="Servers, commitments, or node-hours reserved.",
        json_schema_extra={"unit": "see unit"},
    )
    unit: str = Field(default="commitments", description="servers, commitments or node-hours.")
    first: MonthIndex = Field(description="First month in service.")
    last: MonthIndex = Field(description="Last month in service.")
    idle_months: tuple[MonthIndex, ...] = Field(
        default=(),
        description="Months in service and within the plan in which no unit of its source has any "
        "work, paid for all the same.",
    )
    due_at_start: Money | None = Field(
        default=None,
        description="Invoice, upfront payment or reservation due in `month`; before tax.",
    )
    due_per_month: Money | None = Field(
        default=None,
        description="What falls due in every month of the term, at the price and the contract "
        "discount of the first month.",
    )


class SourceCost(AnswerModel):
    """What a scenario pays for one offer or server, all months together."""

    source: str = Field(description="Key of the offer or server.")
    label: str = Field(description="What is paid for.")
    category: Category = Field(description="What it is for.")
    provider: str = Field(description="Provider; empty for what the team owns.")
    region: str = Field(description="Region of the provider.")
    purchase_option: str = Field(description="How it is paid for; `owned` for servers.")
    offer_id: str = Field(description="Offer behind it; empty where there is none.")
    quantity: float = Field(
        description="Units of all months together.", json_schema_extra={"unit": "see unit"}
    )
    unit: str = Field(description="What is counted.")
    lowest_unit_price: UnitPrice = Field(description="Lowest price of one unit in any month.")
    highest_unit_price: UnitPrice = Field(description="Highest price of one unit in any month.")
    amount: Money = Field(description="Sum of its lines.")

    @property
    def is_one_price(self) -> bool:
        return self.lowest_unit_price == self.highest_unit_price


CATEGORIES_OF_SOURCES = frozenset(
    {Category.COMPUTE, Category.COMMITMENT, Category.UPFRONT, Category.CAPEX}
)
"""What is paid for the offers and servers themselves; the rest is what running them costs."""


def sum_by_source(lines: Iterable[CostLine]) -> tuple[SourceCost, ...]:
    """What each offer and server costs altogether, the dearest first."""
    own = (line for line in lines if line.category in CATEGORIES_OF_SOURCES)
    groups = group([((line.source or line.offer_id, line.label), line) for line in own])
    return tuple(sorted(map(_sum, groups.values()), key=lambda row: -row.amount))


def _sum(lines: Sequence[CostLine]) -> SourceCost:
    first, prices = lines[0], [line.unit_price for line in lines]
    return SourceCost(
        source=first.source or first.offer_id or first.label,
        label=first.label,
        category=first.category,
        provider=first.provider,
        region=first.region,
        purchase_option=first.purchase_option,
        offer_id=first.offer_id,
        quantity=sum(line.quantity for line in lines),
        unit=first.unit,
        lowest_unit_price=min(prices),
        highest_unit_price=max(prices),
        amount=sum((line.amount for line in lines), Decimal(0)),
    )


class ScenarioRecord(AnswerModel):
    """What saved plans are read by of one way of getting the work done, in every release: fields
    may be added, with defaults, and none is renamed or dropped."""

    key: ScenarioKey = Field(description="Which of the four ways to buy.")
    feasible: bool = Field(description="Whether a plan meets every limit.")
    allowed: bool = Field(
        default=True,
        description="Whether it may be recommended; false for spot if work is not interruptible.",
    )
    why_not_allowed: str = Field(default="", description="Why it may not be recommended.")
    why_not: tuple[str, ...] = Field(default=(), description="Why there is no plan.")
    total_cost: Money | None = Field(default=None, description="Sum of the lines, undiscounted.")
    net_present_cost: Money | None = Field(
        default=None, description="Lines discounted to the start: what the scenarios are ranked by."
    )
    cash_per_month: tuple[Money, ...] = Field(
        default=(), description="What falls due in each month; then at the end of the horizon."
    )
    write_off: dict[str, tuple[Money, ...]] = Field(
        default_factory=dict,
        description="Capital and upfront payments of each source by the month that books them.",
    )
    lines: tuple[CostLine, ...] = Field(default=(), description="Every cost, once.")
    capacity: tuple[CapacityRow, ...] = Field(
        default=(), description="What each source gives in each month."
    )
    purchases: tuple[Purchase, ...] = Field(
        default=(), description="What is bought, committed to or reserved, in order of months."
    )

    def require_total(self) -> Money:
        assert self.total_cost is not None, f"{self.key} is not feasible"
        return self.total_cost

    def require_present_cost(self) -> Money:
        assert self.net_present_cost is not None, f"{self.key} is not feasible"
        return self.net_present_cost


class ScenarioAnswer(ScenarioRecord):
    """One way of getting the work done; figures are null where it is not feasible."""

    tables: ClassVar[tuple[str, ...]] = (
        *("accrued_per_month", "capacity", "cash_per_month", "cost_by_category"),
        *("costs_by_source", "cumulative_cost", "energy", "finance", "lines", "purchases"),
        "write_off",
    )
    relaxations: tuple[Relaxation, ...] = Field(
        default=(), description="Limits that leave no plan, each with the least that would do."
    )
    within_horizon: Money | None = Field(
        default=None, description="What of the total falls due within the horizon, resale included."
    )
    owed_after: Money | None = Field(
        default=None, description="What of the total falls due after the horizon."
    )
    levelised_cost_per_accelerator_hour: UnitPrice | None = Field(
        default=None,
        description="Net present cost over the discounted reference accelerator-hours served.",
    )
    saving_against_on_demand: Money | None = Field(
        default=None,
        description="Total of renting on demand less this total; null unless both are feasible.",
    )
    cost_by_category: dict[Category, Money] = Field(
        default_factory=dict, description="Sum of the lines of each category."
    )
    accrued_per_month: tuple[Money, ...] = Field(
        default=(), description="Cost as booked: capital and upfront payments written off."
    )
    cumulative_cost: tuple[Money, ...] = Field(
        default=(), description="What has fallen due up to and including each month."
    )
    costs_by_source: tuple[SourceCost, ...] = Field(
        default=(), description="What each offer and server costs altogether, dearest first."
    )
    gap: Share | None = Field(
        default=None,
        description="(cost − bound) / cost: at the prices known no plan is cheaper by a larger "
        "share.",
    )
    bound: Money | None = Field(
        default=None,
        description="At the prices known no plan of this scenario has a lower net present cost.",
    )
    warnings: tuple[str, ...] = Field(default=(), description="What to know about this plan.")
    energy: ScenarioEnergy | None = Field(
        default=None, description="Energy and carbon; null where it is not feasible."
    )
    finance: ScenarioFinance | None = Field(
        default=None,
        description="Returns and fiscal years; null where it is not feasible, and in older "
        "answers.",
    )

    @property
    def buys_or_leases(self) -> bool:
        """Whether it takes servers that are not there yet, bought or on lease."""
        taken = {row.source for row in self.purchases}
        return Category.CAPEX in self.cost_by_category or any(
            line.category is Category.LEASE and line.source in taken for line in self.lines
        )
