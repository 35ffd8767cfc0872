"""The whole answer to a comparison: what page, exports, API, commands and saved rows read. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Generic, Literal, TypeVar

from pydantic import Field

from planner.contract.answer.common import (
    AcceleratorHours,
    Accelerators,
    AnswerModel,
    Count,
    Days,
    Factor,
    Kw,
    Money,
    MonthsOfPlan,
    ScenarioKey,
    Share,
    UnitPrice,
)
from planner.contract.answer.policy import EarlyStop, PolicyAnswer
from planner.contract.answer.risk import BreakEvenRow, Driver, RiskAnswer
from planner.contract.answer.scenario import ScenarioAnswer, ScenarioRecord
from planner.contract.answer.verdict import Alternative, Choice, Recommendation, Verdict
from planner.contract.labels import cloud_title, option_name


class DemandRange(AnswerModel):
    """Factors on the hours: how sure the estimate is."""

    p10: Factor = Field(description="Hours at the 10th percentile over those of the demand.")
    p90: Factor = Field(description="Hours at the 90th percentile over those of the demand.")
    holds: bool = Field(
        default=True, description="False where the work is far from every published run."
    )


class DemandCandidate(AnswerModel):
    """An accelerator that can do the work."""

    accelerator: str = Field(description="Slug of the accelerator.")
    relative_throughput: Factor = Field(
        description="Sustained throughput relative to the reference accelerator."
    )
    min_accelerators: Count = Field(description="Fewest that hold the work at once.")
    notes: tuple[str, ...] = Field(default=(), description="What to know about it.")


class DemandAnswer(AnswerModel):
    """Hours and peak of each month, in reference accelerators."""

    accelerator: str = Field(description="Slug of the reference accelerator.")
    hours_per_month: tuple[AcceleratorHours, ...] = Field(description="Hours of each month.")
    peak_accelerators: tuple[Accelerators, ...] = Field(
        description="Accelerators needed at once in each month."
    )
    total_hours: AcceleratorHours = Field(description="Hours of all months together.")
    total_hours_p10: AcceleratorHours = Field(description="The same at the 10th percentile.")
    total_hours_p90: AcceleratorHours = Field(description="The same at the 90th percentile.")
    highest_peak: Accelerators = Field(description="Highest peak of any month.")
    method: str = Field(description="How the hours were worked out.")
    range: DemandRange = Field(description="How sure the hours are.")
    candidates: tuple[DemandCandidate, ...] = Field(
        default=(), description="Accelerators that may serve it."
    )
    excluded: dict[str, str] = Field(
        default_factory=dict, description="Accelerator → why it cannot do the work."
    )


class PriceAge(AnswerModel):
    """How old one part of a provider's prices is; those that are sold now."""

    part: Literal["on_demand", "spot", "commitments"] = Field(description="Which prices.")
    count: Count = Field(description="Prices.")
    undated: Count = Field(description="Prices whose source carries no date.")
    median_age_days: Days | None = Field(description="Age of the median price.")
    oldest_age_days: Days | None = Field(description="Age of the oldest price.")
    last_confirmed: dt.date | None = Field(description="Day of the newest price.")


class PriceCoverage(AnswerModel):
    """What is known of one accelerator at one provider under one purchase option."""

    accelerator: str = Field(description="Slug of the accelerator.")
    provider: str = Field(description="Provider that has a machine with it.")
    purchase_option: str = Field(description="How it is paid for.")
    state: Literal["priced", "sold_price_unknown", "not_sold", "unknown"] = Field(
        description="Whether it has a price, is sold at a price that is not known, is not sold, or "
        "whether it is sold is not known."
    )
    count: Count = Field(default=0, description="Prices in the places that may be used.")
    oldest: dt.date | None = Field(default=None, description="Day of the oldest dated price.")
    newest: dt.date | None = Field(default=None, description="Day of the newest dated price.")
    undated: Count = Field(default=0, description="Prices whose source carries no date.")
    unknown_terms: tuple[int, ...] = Field(
        default=(),
        description="Terms that the provider sells and of which no price is known.",
        json_schema_extra={"unit": "months"},
    )
    machines: tuple[str, ...] = Field(
        default=(), description="Families of machines without a known price."
    )
    needs_account: bool = Field(
        default=False, description="Whether missing prices are read with an account alone."
    )
    source: str = Field(default="", description="Who says that it is sold, or is not.")


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
        default=(), description="Ages of on demand, spot and commitments; none in older answers."
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
    multiplier: Factor = Field(default=1.0, description="Contract discounts applied to it.")
    as_of: dt.date | None = Field(default=None, description="Day on which the price was seen.")
    source: str = Field(default="", description="Where the price comes from.")
    sku: str = Field(default="", description="The provider's own number for it.")


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


Scenario_co = TypeVar("Scenario_co", bound=ScenarioRecord, covariant=True)


class PlanRecord(MonthsOfPlan, AnswerModel, Generic[Scenario_co]):
    """What saved plans are read by, in every release: fields may be added, with defaults, and none
    is renamed or dropped. Months count from `start`."""

    name: str = Field(default="", description="Name that the request gives.")
    start: str = Field(description="Month 0, written YYYY-MM.", pattern=r"^\d{4}-\d{2}$")
    horizon_months: int = Field(
        description="Months of the plan.", json_schema_extra={"unit": "months"}
    )
    currency: str = Field(default="USD", description="Currency of every amount (ISO 4217).")
    catalog: tuple[CatalogRevision, ...] = Field(
        default=(), description="Price lists used; none where only private offers were compared."
    )
    assumptions: tuple[AssumptionRow, ...] = Field(
        default=(), description="Every figure that the answer rests on."
    )
    scenarios: tuple[Scenario_co, ...] = Field(description="The four ways to buy.")
    offers: dict[str, OfferUsed] = Field(
        default_factory=dict, description="Offer id → the offer, for every offer mentioned."
    )
    region_names: dict[str, str] = Field(
        default_factory=dict,
        description="Provider and region (`aws:us-east-1`) → what people call the region, for "
        "every offer mentioned.",
    )
    servers: tuple[ServerUsed, ...] = Field(default=(), description="Servers mentioned.")
    recommendation: Choice = Field(description="The cheapest scenario.")
    policy: PolicyAnswer | None = Field(
        default=None,
        description="What to do at later dates; null where nothing is left to decide then.",
    )

    @cached_property
    def by_key(self) -> Mapping[ScenarioKey, Scenario_co]:
        """Scenarios by key."""
        return {scenario.key: scenario for scenario in self.scenarios}

    @cached_property
    def feasible(self) -> tuple[Scenario_co, ...]:
        """Scenarios that have a plan."""
        return tuple(scenario for scenario in self.scenarios if scenario.feasible)

    @property
    def recommended(self) -> Scenario_co | None:
        """The advised scenario."""
        key = self.recommendation.scenario
        return None if key is None else self.by_key.get(key)

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """What each offer and server that the answer mentions is called, by key."""
        servers = {server.key: server.label for server in self.servers}
        return servers | {key: offer.label for key, offer in self.offers.items()}

    def assumption(self, field: str) -> float | int | str | None:
        """The value in use of one assumption; None where the answer has no such row."""
        return next((row.value for row in self.assumptions if row.field == field), None)


SavedPlan = PlanRecord[ScenarioRecord]
"""A plan as it was saved."""


class ComparisonAnswer(PlanRecord[ScenarioAnswer]):
    """What renting, owning and mixing cost; months count from `start`."""

    tables: ClassVar[tuple[str, ...]] = (
        *("assumptions", "break_even", "catalog", "coverage", "demand", "drivers", "inherited"),
        *("offers", "policy", "region_names", "risk", "servers", "stops"),
    )
    exchange_rate: ExchangeRateUsed | None = Field(
        default=None, description="Rate from US dollars; null for US dollars."
    )
    coverage: tuple[PriceCoverage, ...] = Field(
        default=(),
        description="What the catalog knows of the prices of each accelerator, provider and "
        "purchase option asked for; none in older answers.",
    )
    demand: DemandAnswer = Field(description="Hours and peak of each month.")
    break_even: tuple[BreakEvenRow, ...] = Field(
        default=(), description="When each server pays for itself."
    )
    verdict: Verdict | None = Field(
        default=None, description="What to do and how sure it is; null in older answers."
    )
    cost_per_million_tokens: dict[str, Money] = Field(
        default_factory=dict,
        description="Cost of a million tokens of answers under the advised plan: `expected`, `p10` "
        "and `p90`, without these where its project may end; empty where no model is served.",
    )
    recommendation: Recommendation = Field(description="The cheapest scenario, and why.")
    cheaper_if: tuple[Alternative, ...] = Field(
        default=(),
        description="What would be cheaper if a limit nobody asked for were lifted, or a "
        "budget were higher; where no plan keeps to the limits, which of them lifted alone makes "
        "one possible.",
    )
    risk: RiskAnswer | None = Field(default=None, description="Null where it was not asked for.")
    drivers: tuple[Driver, ...] = Field(
        default=(),
        description="What moves the expected cost and turns the advice, the furthest reaching "
        "first, then prices that are not known.",
    )
    stops: tuple[EarlyStop, ...] = Field(
        default=(), description="The advised plan stopped after every three months."
    )
    warnings: tuple[str, ...] = Field(default=(), description="What to know about the answer.")
    inherited: tuple[InheritedField, ...] = Field(
        default=(), description="What came from the team's settings."
    )

    @property
    def headline(self) -> str:
        """What to do, in a sentence."""
        return self.verdict.headline if self.verdict else self.recommendation.headline

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do, what it costs, why, and what would change it: sentences for readers of
        text."""
        verdict = self.verdict
        if verdict is None:
            return self.recommendation.because
        proof = self.recommendation.because[-1:] if self.recommended else ()
        signed = (verdict.orders, *verdict.due_later, verdict.sizing)
        risks = (verdict.waiting, *verdict.ask_first, *verdict.turns, *proof)
        return tuple(filter(None, (verdict.sentence, *signed, *verdict.reasons, *risks)))


class AnswerSummary(AnswerModel):
    """The recommendation of an answer with its totals; None where nothing is feasible."""

    recommended: ScenarioKey | None = Field(description="The recommended scenario.")
    total_cost: Money | None = Field(description="Its total, undiscounted.")
    net_present_cost: Money | None = Field(description="Its net present cost.")
    currency: str = Field(description="Currency of the amounts (ISO 4217).")
    uses_catalog: bool = Field(
        default=True,
        description="Whether market prices were among those compared; older ones do not say.",
    )


class ShownSection(AnswerModel):
    """A part of the page of a saved plan."""

    title: str = Field(description="Its heading.")
    rows: tuple[tuple[str, str, str], ...] = Field(description="Label, value and unit.")


def summarize_answer(answer: ComparisonAnswer) -> AnswerSummary:
    """The summary of an answer."""
    best = answer.recommended
    return AnswerSummary(
        recommended=best.key if best else None,
        total_cost=best.require_total() if best else None,
        net_present_cost=best.require_present_cost() if best else None,
        currency=answer.currency,
        uses_catalog=bool(answer.catalog),
    )


class ScenarioChange(AnswerModel):
    """The total of one scenario, before and after."""

    scenario: ScenarioKey = Field(description="Which of the four ways to buy.")
    before: Money | None = Field(description="In the saved answer; null if it was not feasible.")
    after: Money | None = Field(description="In the new answer; null if it is not feasible.")
    change: Money | None = Field(description="After less before.")


class PriceMove(AnswerModel):
    """An offer of the saved plans whose price moved or that is gone."""

    offer_id: str = Field(description="Offer of the market.")
    before: UnitPrice = Field(description="Effective price of an hour, in the offer's currency.")
    after: UnitPrice | None = Field(description="The same now; null if it is not listed any more.")


class AlertCause(PriceMove):
    """A price that moved, as an alert names it."""

    currency: str = Field(description="Currency that the provider asks for.")


class RowChange(AnswerModel):
    """A row of a saved plan that is told otherwise today."""

    label: str = Field(description="Label of the row.")
    before: str = Field(description="Value and unit as saved; empty where there was none.")
    after: str = Field(description="Value and unit today; empty where there is none.")


def source_name(source: str, offers: Mapping[str, OfferUsed], labels: Mapping[str, str]) -> str:
    """Where capacity comes from: a machine at a provider, or a server by its name.

    >>> source_name("server:HGX H100, quoted", {}, {})
    'HGX H100, quoted'
    >>> source_name("server:dgx-h100", {}, {"server:dgx-h100": "DGX H100 (8x H100)"})
    'DGX H100 (8x H100)'
    """
    offer = offers.get(source)
    if offer is None:
        return labels.get(source) or source.removeprefix("server:")
    where = f"{cloud_title(offer.provider)} {offer.zone or offer.region}".strip()
    return f"{offer.instance_type} at {where}, {option_name(offer.purchase_option)}"
