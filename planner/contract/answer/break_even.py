"""When owning pays, as the answer gives it. PURE."""

from __future__ import annotations

from pydantic import Field

from planner.contract.answer.common import (
    AnswerModel,
    HourlyPrice,
    Hours,
    Money,
    Months,
    Share,
)


class BreakEvenRow(AnswerModel):
    """One server against the cheapest rent on one set of terms."""

    server: str = Field(description="Slug or label of the server.")
    against: str = Field(description="Id of the offer it is held against.")
    label: str = Field(default="", description="What that offer is called.")
    purchase_option: str = Field(description="How that offer is paid for.")
    term_months: int = Field(
        description="Term of that offer; 0 without one.", json_schema_extra={"unit": "months"}
    )
    rent_per_hour: HourlyPrice = Field(description="Rent of the same capacity for an hour.")
    running_cost_per_hour: HourlyPrice = Field(description="What the server costs per hour of use.")
    hours: Hours | None = Field(
        description="Unit price ÷ (rent − running cost); null: never, renting costs less per hour."
    )
    months_at_full_use: Months | None = Field(description="The same over 730 hours a month.")
    utilisation_over_life: Share | None = Field(
        description="Share of hours in use over the useful life at which owning costs the rent."
    )


class CostCurveSeries(AnswerModel):
    """What one node costs, bought or rented, at each number of hours a month."""

    key: str = Field(description="Key of the offer or server.")
    label: str = Field(description="What it is called.")
    purchase_option: str = Field(default="owned", description="How it is paid for.")
    cost: tuple[Money, ...] = Field(description="Net present cost at each of `hours_per_month`.")


class Crossing(AnswerModel):
    """Hours of use at which two lines of the curve cost the same."""

    one: str = Field(description="Key of one line.")
    other: str = Field(description="Key of the other.")
    hours_per_month: Hours = Field(description="Hours of use a month.")
    cost: Money = Field(description="What both cost there.")


class CostCurve(AnswerModel):
    """Net present cost of a node against its hours of use a month."""

    hours_per_month: tuple[Hours, ...] = Field(default=(), description="Hours of use a month.")
    series: tuple[CostCurveSeries, ...] = Field(
        default=(), description="Owned, and each way to rent."
    )
    crossings: tuple[Crossing, ...] = Field(default=(), description="Where two lines meet.")
