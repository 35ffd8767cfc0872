"""When owning pays, as the answer gives it. PURE."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from planner.contract.answer.common import (
    AnswerModel,
    HourlyPrice,
    Hours,
    Money,
    Months,
    Share,
)
from pricing.market.offers import HOURS_PER_MONTH

PayingWhen = Literal["from", "up_to", "always", "never", ""]
"""Uses at which owning costs no more than renting: from a share of the hours on, up to one, at any,
at none; empty where it is not known."""
PAYING_WHEN = get_args(PayingWhen)


def name_paying_use(when: PayingWhen, share: float | None) -> str:
    """The uses in words, the same for every reader.

    >>> name_paying_use("from", 0.3), name_paying_use("up_to", 0.5)
    ('from 219 h of use a month (30%)', 'up to 365 h of use a month (50%)')
    >>> name_paying_use("always", 0.0), name_paying_use("never", None), name_paying_use("", None)
    ('at any use', 'never', 'not known')
    """
    if share is None or when not in ("from", "up_to"):
        return {"always": "at any use", "never": "never"}.get(when, "not known")
    at = f"{share * float(HOURS_PER_MONTH):,.0f} h of use a month ({share:.0%})"
    return f"up to {at}" if when == "up_to" else f"from {at}"


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
        description="Share of hours in use over the useful life from which (`up_to`: up to which) "
        "owning costs no more than the rent; what is committed is paid for used or not. With "
        "`never` the use that it would take, above what the server can reach, or null. Under "
        "rules 1 to 5 a commitment counts as if it were paid for by the hour of use."
    )
    over_life: PayingWhen = Field(
        default="", description="How `utilisation_over_life` is meant; empty under rules 1 to 5."
    )
    utilisation_within_plan: Share | None = Field(
        default=None,
        description="The same over the months of the plan in which a server bought at the start "
        "serves, its resale counted: the crossing of the cost curve.",
    )
    within_plan: PayingWhen = Field(
        default="",
        description="How `utilisation_within_plan` is meant; empty under rules 1 to 5 and for a "
        "server that cannot be bought at the start.",
    )

    @property
    def use_over_life(self) -> str:
        """Use at which owning costs no more over the useful life, in words."""
        if self.over_life:
            return name_paying_use(self.over_life, self.utilisation_over_life)
        share = self.utilisation_over_life
        return "never" if share is None else f"{share:.0%} of its hours"

    @property
    def use_within_plan(self) -> str:
        """The same within the plan; empty in answers of older rules."""
        if not self.within_plan:
            return "cannot be bought at the start" if self.over_life else ""
        return name_paying_use(self.within_plan, self.utilisation_within_plan)


class CostCurveSeries(AnswerModel):
    """What one node costs, bought or rented, at each number of hours a month."""

    key: str = Field(description="Key of the offer or server.")
    label: str = Field(description="What it is called.")
    purchase_option: str = Field(default="owned", description="How it is paid for.")
    cost: tuple[Money, ...] = Field(description="Net present cost at each of `hours_per_month`.")
    owning_pays: PayingWhen = Field(
        default="",
        description="Uses at which the server of the curve costs no more than this rent.",
    )
    owning_pays_at: Share | None = Field(
        default=None, description="Share of the hours that `owning_pays` speaks of."
    )


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
