"""The scenarios over many simulated outcomes. PURE."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from planner.contract.answer.common import (
    AnswerModel,
    Count,
    HourlyPrice,
    Hours,
    Money,
    Months,
    ScenarioKey,
    Share,
)
from pricing.market.offers import HOURS_PER_MONTH


class Cause(StrEnum):
    """Why an outcome costs another sum than the plan as stated, in the order in which a risk
    allowance is split: each is switched on after those before it, on the same random numbers."""

    HOURS = "hours"
    """Hours, their growth, and when the work begins."""
    END = "project_end"
    """The project's end before the plan's, where that has a chance."""
    DELIVERY = "delivery"
    """Month in which servers arrive."""
    PRICES = "prices"
    """Rents, and what later commitments and servers cost."""
    CAPACITY = "capacity"
    """Interruptions, and spot that is not there."""
    QUOTES = "quotes"
    """What sellers ask for servers."""
    RESALE = "resale"
    """What servers fetch in the end."""


class CostRange(AnswerModel):
    """Net present cost of one scenario over the samples, and its undiscounted total."""

    p10: Money = Field(description="10th percentile of the net present cost.")
    p50: Money = Field(description="Its median.")
    p90: Money = Field(description="Its 90th percentile.")
    mean: Money = Field(description="Its mean, by which plans are chosen.")
    expected: Money | None = Field(
        default=None, description="Expected cost: mean of the undiscounted total."
    )
    total_p10: Money | None = Field(
        default=None, description="10th percentile of the undiscounted total; null if unknown."
    )
    total_p50: Money | None = Field(default=None, description="Its median; null if unknown.")
    total_p90: Money | None = Field(default=None, description="Its 90th percentile; null likewise.")


class RiskAnswer(AnswerModel):
    """Range of each scenario, and how often it is the cheapest."""

    on_demand: CostRange | None = Field(default=None, description="Null where not feasible.")
    cloud: CostRange | None = Field(default=None, description="Null where not feasible.")
    on_prem: CostRange | None = Field(default=None, description="Null where not feasible.")
    hybrid: CostRange | None = Field(default=None, description="Null where not feasible.")
    probability_cheapest: dict[ScenarioKey, Share] = Field(
        default_factory=dict, description="Share of the samples in which each is the cheapest."
    )
    samples: Count = Field(default=0, description="Outcomes simulated.")
    seed: Count = Field(default=0, description="Seed of the simulation.")
    holds: bool = Field(
        default=True,
        description="False where the work is far from every published run, so that no range of "
        "its hours holds.",
    )

    def range_of(self, key: ScenarioKey) -> CostRange | None:
        """The range of one scenario; None where it is not feasible."""
        cost_range: CostRange | None = getattr(self, key.value)
        return cost_range


class PortfolioRange(AnswerModel):
    """The total of a plan, undiscounted, over simulated outcomes, and its net present cost."""

    p10: Money = Field(description="10th percentile of the total.")
    p50: Money = Field(description="Its median.")
    p90: Money = Field(description="Its 90th percentile.")
    present_p10: Money = Field(description="10th percentile of the net present cost.")
    present_p50: Money = Field(description="Its median.")
    present_p90: Money = Field(description="Its 90th percentile.")
    samples: Count = Field(description="Outcomes simulated.")
    seed: Count = Field(description="Seed of the simulation.")
    holds: bool = Field(
        default=True,
        description="False where the work of a project is far from every published run, so that "
        "no range of its hours holds.",
    )


class Driver(AnswerModel):
    """What moves the expected cost of the advised plan, or turns the advice."""

    field: str = Field(description="Figure of the request that sets it.")
    label: str = Field(description="What it is called.")
    unit: str = Field(description="Unit of `value`, `low`, `high` and `turns_at`.")
    value: float | None = Field(
        description="Value now; null where it is not known.", json_schema_extra={"unit": "see unit"}
    )
    low: float = Field(description="Low value.", json_schema_extra={"unit": "see unit"})
    high: float = Field(description="High value.", json_schema_extra={"unit": "see unit"})
    source: str = Field(description="What low and high rest on.")
    expected_at_low: Money = Field(description="Expected cost of the advised plan at `low`.")
    expected_at_high: Money = Field(description="The same at `high`.")
    advice_at_low: str = Field(description="What is advised at `low`.")
    advice_at_high: str = Field(description="What is advised at `high`.")
    turns_at: float | None = Field(
        default=None,
        description="Value nearest to today's at which the advice turns; null where it does not.",
        json_schema_extra={"unit": "see unit"},
    )
    chance: Share | None = Field(
        default=None, description="Chance of that; null where nothing says how likely it is."
    )
    worth_asking: Money | None = Field(
        default=None,
        description="Of a price that is not known the mean of what signing would save, net "
        "present, at the discounts of known families.",
    )
    sentence: str = Field(default="", description="The turn in words; empty where there is none.")

    @property
    def effect(self) -> float:
        return abs(float(self.expected_at_high - self.expected_at_low))


PayingWhen = Literal["from", "up_to", "always", "never"]
"""Uses at which owning costs no more than renting: from a share of the hours on, up to one, at any,
at none."""


def name_paying_use(when: PayingWhen, share: float | None) -> str:
    """The uses in words, the same for every reader.

    >>> name_paying_use("from", 0.3), name_paying_use("up_to", 0.5)
    ('from 219 h of use a month (30%)', 'up to 365 h of use a month (50%)')
    >>> name_paying_use("always", 0.0), name_paying_use("never", None)
    ('at any use', 'never')
    """
    if share is None or when not in ("from", "up_to"):
        return {"always": "at any use", "never": "never"}[when]
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
        "`never` the use that it would take, above what the server can reach, or null."
    )
    over_life: PayingWhen = Field(description="How `utilisation_over_life` is meant.")

    @property
    def use_over_life(self) -> str:
        """Use at which owning costs no more over the useful life, in words."""
        return name_paying_use(self.over_life, self.utilisation_over_life)
