"""A scenario as finance reads it: returns against renting, fiscal years, leases and loans. PURE."""

from __future__ import annotations

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Money, Months, ScenarioKey, Share


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
    modified_internal_rate_of_return: Share | None = Field(
        default=None,
        description="The same with savings invested, and spending financed, at the discount rate.",
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
        """Whether anything is leased."""
        return any(year.leases is not None for year in self.fiscal_years)
