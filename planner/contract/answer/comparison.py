"""The whole answer to a comparison: what page, exports, API, commands and saved rows read. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic import Field

from planner.contract.answer.break_even import BreakEvenRow, CostCurve
from planner.contract.answer.common import (
    Accelerators,
    AnswerModel,
    Days,
    Factor,
    Kw,
    Money,
    ScenarioKey,
    Share,
)
from planner.contract.answer.coverage import PriceAge, PriceCoverage
from planner.contract.answer.demand import DemandAnswer
from planner.contract.answer.explanation import Explanation
from planner.contract.answer.risk import RiskAnswer, RobustPlan
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.answer.sensitivity import DefaultEffect, PriceGrid, SensitivityRow
from planner.contract.answer.verdict import Alternative, Recommendation, Verdict
from planner.contract.months import add_months, month_labels, parse_month

VERSION = 10
"""Version of the answer's form; saved answers of older forms are upgraded when read."""


class ExchangeRateUsed(AnswerModel):
    """The rate by which US dollars became the answer's currency."""

    units_per_usd: str = Field(
        description="Decimal number.", json_schema_extra={"unit": "currency of the answer per USD"}
    )
    as_of: dt.date | None = Field(description="Day of the rate; null where it is not known.")
    source: str = Field(description="Where it comes from; `request` where it was given.")


class CatalogRevision(AnswerModel):
    """State of a provider's prices that the answer used."""

    provider: str = Field(description="Provider.")
    revision: int = Field(
        description="Number of the price list.", json_schema_extra={"unit": "number"}
    )
    as_of: dt.date | None = Field(description="Day of its newest price.")
    oldest_price_as_of: dt.date | None = Field(description="Day of its oldest price.")
    age_days: Days | None = Field(description="Age of its oldest price that is sold now.")
    parts: tuple[PriceAge, ...] = Field(
        default=(),
        description="Ages of on demand, spot and commitments; none in older answers.",
    )


class AssumptionRow(AnswerModel):
    """One figure that the answer rests on."""

    field: str = Field(description="Dotted path in the request.")
    value: float | int | str | None = Field(
        description="The value in use; money as a decimal string.",
        json_schema_extra={"unit": "see unit"},
    )
    unit: str = Field(default="", description="Unit of the value.")
    given: bool = Field(description="Whether the request gives it.")
    source: str = Field(description="`request`, the team's settings, or where the default is from.")


class InheritedField(AnswerModel):
    """A field that the team's settings added to the request."""

    field: str = Field(description="Dotted path in the request.")
    source: str = Field(description="Which setting it comes from.")


class MultiplierChange(AnswerModel):
    """Contract discounts that apply from a month of the plan on."""

    first: str = Field(description="First month of them, YYYY-MM.", pattern=r"^\d{4}-\d{2}$")
    multiplier: Factor = Field(description="Contract discounts on the price of that month.")


class OfferUsed(AnswerModel):
    """An offer that the answer speaks of, with the provider's own price."""

    label: str = Field(description="What it is called in lines and tables.")
    provider: str = Field(description="Provider.")
    region: str = Field(description="Region.")
    zone: str = Field(default="", description="Zone, where the price differs by zone.")
    instance_type: str = Field(description="Machine.")
    accelerator: str = Field(description="Slug of its accelerator.")
    accelerator_count: Accelerators = Field(description="Accelerators of one machine.")
    purchase_option: str = Field(description="How it is paid for.")
    term_months: int | None = Field(
        default=None, description="Term of a commitment.", json_schema_extra={"unit": "months"}
    )
    goodput: Share = Field(default=1.0, description="Useful share of the hours paid for.")
    native_currency: str | None = Field(
        default=None, description="Currency in which the provider asks its price."
    )
    native_price_per_hour: str | None = Field(
        default=None,
        description="What the provider asks for an hour of the machine; decimal number.",
        json_schema_extra={"unit": "native currency per hour"},
    )
    native_upfront: str | None = Field(
        default=None,
        description="What the provider asks upfront; decimal number.",
        json_schema_extra={"unit": "native currency"},
    )
    units_per_usd: str | None = Field(
        default=None,
        description="Exchange rate used for it; decimal number.",
        json_schema_extra={"unit": "native currency per USD"},
    )
    rate_date: dt.date | None = Field(default=None, description="Day of that exchange rate.")
    multiplier: Factor = Field(
        default=1.0, description="Contract discounts applied to it, the highest of the plan."
    )
    multiplier_changes: tuple[MultiplierChange, ...] = Field(
        default=(),
        description="When contract discounts begin or end within the plan, or the term of a "
        "commitment, the first month first: hours and the months of a commitment are at the "
        "discount of their month, an upfront payment at that of the month in which it is due. "
        "Empty where `multiplier` holds throughout.",
    )
    as_of: dt.date | None = Field(default=None, description="Day on which the price was seen.")
    source: str = Field(default="", description="Where the price comes from.")
    sku: str = Field(default="", description="The provider's own number for it.")

    def multiplier_in(self, month: str) -> float:
        """Contract discounts on its price in a month of the plan, written YYYY-MM."""
        until_then = [one.multiplier for one in self.multiplier_changes if one.first <= month]
        return until_then[-1] if until_then else self.multiplier


class ServerUsed(AnswerModel):
    """A server that the answer speaks of."""

    key: str = Field(description="Key in lines and capacity.")
    label: str = Field(description="What it is called.")
    accelerator: str = Field(description="Slug of its accelerator.")
    accelerator_count: Accelerators = Field(description="Accelerators of one server.")
    power_kw: Kw = Field(description="Power at the wall at work, cooling left out.")
    idle_power_kw: Kw = Field(description="Power at the wall when idle.")
    price_source: str = Field(
        default="", description="Where its price comes from; `request` for one's own."
    )
    price_year: int | None = Field(
        default=None, description="Year of that price.", json_schema_extra={"unit": "year"}
    )
    unit_price_p10: Money | None = Field(
        default=None,
        description="Price of one server that one purchase in ten falls below; null if the price "
        "is firm.",
    )
    unit_price_p90: Money | None = Field(
        default=None, description="Price of one server that one purchase in ten exceeds."
    )
    price_quotes: int | None = Field(
        default=None,
        description="Dated quotes that these rest on; 0 where they are assumed.",
        json_schema_extra={"unit": "number"},
    )


class ComparisonAnswer(AnswerModel):
    """What renting, owning and mixing cost; months count from `start`."""

    version: int = Field(
        default=VERSION, description="Form of this answer.", json_schema_extra={"unit": "number"}
    )
    name: str = Field(default="", description="Name that the request gives.")
    start: str = Field(description="Month 0, written YYYY-MM.", pattern=r"^\d{4}-\d{2}$")
    horizon_months: int = Field(
        description="Months of the plan.", json_schema_extra={"unit": "months"}
    )
    currency: str = Field(default="USD", description="Currency of every amount (ISO 4217).")
    exchange_rate: ExchangeRateUsed | None = Field(
        default=None, description="Rate from US dollars; null for US dollars."
    )
    catalog: tuple[CatalogRevision, ...] = Field(
        default=(), description="Price lists used; none where only private offers were compared."
    )
    coverage: tuple[PriceCoverage, ...] = Field(
        default=(),
        description="What the catalog knows of the prices of each accelerator, provider and "
        "purchase option asked for; none in older answers.",
    )
    assumptions: tuple[AssumptionRow, ...] = Field(
        default=(), description="Every figure that the answer rests on."
    )
    demand: DemandAnswer = Field(description="Hours and peak of each month.")
    scenarios: tuple[ScenarioAnswer, ...] = Field(description="The six ways to buy.")
    break_even: tuple[BreakEvenRow, ...] = Field(
        default=(), description="When each server pays for itself."
    )
    cost_curve: CostCurve = Field(
        default_factory=CostCurve, description="Cost of a node against its hours of use."
    )
    verdict: Verdict | None = Field(
        default=None,
        description="What to do and how sure it is; null in older answers.",
    )
    recommendation: Recommendation = Field(description="The cheapest scenario, and why.")
    cheaper_if: tuple[Alternative, ...] = Field(
        default=(),
        description="What would be cheaper if a limit nobody asked for were lifted, or a "
        "budget were higher; where no plan keeps to the limits, which of them lifted alone makes "
        "one possible.",
    )
    offers: dict[str, OfferUsed] = Field(
        default_factory=dict, description="Offer id → the offer, for every offer mentioned."
    )
    region_names: dict[str, str] = Field(
        default_factory=dict,
        description="Provider and region (`aws:us-east-1`) → what people call the region, for "
        "every offer mentioned.",
    )
    servers: tuple[ServerUsed, ...] = Field(default=(), description="Servers mentioned.")
    explanation: Explanation | None = Field(
        default=None, description="Why the cheapest plan is as it is; null where none is feasible."
    )
    risk: RiskAnswer | None = Field(default=None, description="Null where it was not asked for.")
    robust_plan: RobustPlan | None = Field(
        default=None, description="Null unless the request gives `risk.cvar_weight`."
    )
    sensitivity: tuple[SensitivityRow, ...] = Field(
        default=(), description="What moves the advised total, the strongest first."
    )
    default_effects: tuple[DefaultEffect, ...] = Field(
        default=(),
        description="What each default does to owning less renting, the strongest first; none "
        "without servers, without a rented plan, or with `sensitivity: false`.",
    )
    price_grid: PriceGrid | None = Field(
        default=None, description="Owning against renting; null where one of them is missing."
    )
    warnings: tuple[str, ...] = Field(default=(), description="What to know about the answer.")
    inherited: tuple[InheritedField, ...] = Field(
        default=(), description="What came from the team's settings."
    )

    # What readers look up ---------------------------------------------------------------------

    @cached_property
    def by_key(self) -> Mapping[ScenarioKey, ScenarioAnswer]:
        """Scenarios by key."""
        return {scenario.key: scenario for scenario in self.scenarios}

    @cached_property
    def feasible(self) -> tuple[ScenarioAnswer, ...]:
        """Scenarios that have a plan."""
        return tuple(scenario for scenario in self.scenarios if scenario.feasible)

    @property
    def headline(self) -> str:
        """What to do, in a sentence."""
        return self.verdict.headline if self.verdict else self.recommendation.headline

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do, what it costs, why, and what would change it: sentences for readers of
        text."""
        if self.verdict is None:
            return self.recommendation.because
        turns = (turn.sentence for turn in self.verdict.switch_points)
        risks = [self.verdict.contested] if self.verdict.contested else []
        if self.verdict.late_delivery is not None:
            risks.append(self.verdict.late_delivery.sentence)
        proof = self.recommendation.because[-1:] if self.recommended else ()
        return (self.verdict.sentence, *self.verdict.reasons, *risks, *turns, *proof)

    @property
    def recommended(self) -> ScenarioAnswer | None:
        """The advised scenario."""
        key = self.recommendation.scenario
        return None if key is None else self.by_key.get(key)

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """What each offer and server that the answer mentions is called, by key."""
        curve = {line.key: line.label for line in self.cost_curve.series}
        servers = {server.key: server.label for server in self.servers}
        return curve | servers | {key: offer.label for key, offer in self.offers.items()}

    @cached_property
    def first_month(self) -> dt.date:
        """First day of month 0."""
        return parse_month(self.start)

    def month(self, index: int) -> dt.date:
        """First day of month `index` of the plan."""
        return add_months(self.first_month, index)

    @property
    def months(self) -> list[str]:
        """The months of the horizon, written YYYY-MM."""
        return month_labels(self.first_month, self.horizon_months)

    def assumption(self, field: str) -> float | int | str | None:
        """The value in use of one assumption; None where the answer has no such row."""
        return next((row.value for row in self.assumptions if row.field == field), None)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return self.model_dump(mode="json")
