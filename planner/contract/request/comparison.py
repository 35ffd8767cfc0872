"""What a team asks to have compared: the comparison request as strict models. PURE.

Shape and range of each value are judged here; what the market and the hardware can do is
judged by `planner.comparison`. Rates are fractions per year, months are written YYYY-MM,
money is in the request's `currency` unless the field's name says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.contract.request.workload import Slug, Workload
from planner.contract.validation import Month, Number, RequestModel, Whole, parse, shown
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption

MAX_HORIZON_MONTHS = 120
MAX_MONEY = 1e12
"""Most that one amount may be, in any currency."""


def _entries(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _purchase_option(value: object) -> object:
    if isinstance(value, str):
        allowed = [option.value for option in PurchaseOption]
        if value not in allowed:
            known = ", ".join(allowed)
            raise ValueError(f"{shown(value)} is not a purchase option; allowed are {known}")
        return PurchaseOption(value)
    return value


def _currency(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"[A-Z]{3}", value):
        raise ValueError(f"{shown(value)} is not a currency code of three capitals, such as EUR")
    return value


Money = Annotated[Number, Field(ge=0, le=MAX_MONEY)]
Price = Annotated[Number, Field(ge=0, le=1e9)]
"""Money for an hour, a kW-month or the like."""
Rate = Annotated[Number, Field(ge=0, le=1)]
Trend = Annotated[Number, Field(ge=-0.9, le=1)]
"""Change per year as a fraction: −0.15 falls by 15 % a year."""
Text = Annotated[str, Field(min_length=1, max_length=200)]
Option = Annotated[PurchaseOption, BeforeValidator(_purchase_option)]
Currency = Annotated[str, BeforeValidator(_currency), Field(pattern=r"^[A-Z]{3}$")]
Names = Annotated[
    tuple[Slug, ...], BeforeValidator(_entries), Field(strict=False, min_length=1, max_length=200)
]
Options = Annotated[
    tuple[Option, ...], BeforeValidator(_entries), Field(strict=False, min_length=1, max_length=20)
]


class Quota(RequestModel):
    """Most accelerators of a kind that a provider lets the team run at once."""

    provider: Slug
    """Provider that sets the quota."""
    region: Slug | None = None
    """Region that it holds in; absent: all regions together."""
    accelerator: Slug
    """Accelerator that it counts, by slug or usual name."""
    max_accelerators: Annotated[Number, Field(ge=0, le=1e8)]
    """Most accelerators at once."""


class Constraints(RequestModel):
    """What an answer must keep to; an absent field limits nothing."""

    providers: Names | None = None
    """Providers that may be used."""
    regions: Names | None = None
    """Regions that may be used, by the provider's code."""
    geographies: Names | None = None
    """Parts of the world that may be used, such as north-america."""
    accelerators: Names | None = None
    """Accelerators that may do the work, by slug or usual name."""
    purchase_options: Options | None = None
    """Ways of paying that may be used."""
    min_accelerator_memory_gib: Annotated[Number, Field(gt=0, le=100_000)] | None = None
    """Least memory of one accelerator, GiB."""
    min_accelerators_per_node: Annotated[Number, Field(gt=0, le=100_000)] | None = None
    """Least accelerators of a node; below 1 admits shares of a card."""
    interconnect: Slug | None = None
    """Fast interconnect that a node must have, such as nvlink."""
    max_spot_share: Rate | None = None
    """Most of each month's hours that may be spot, 0 to 1."""
    quotas: Annotated[
        tuple[Quota, ...], BeforeValidator(_entries), Field(strict=False, max_length=50)
    ] = ()
    """Most accelerators at once, by provider, region and kind."""
    capex_budget: Money | None = None
    """Most capital over the whole horizon."""
    monthly_budget: Money | None = None
    """Most cash in any month, after tax where there is a tax rate."""


class CustomOffer(RequestModel):
    """A private or negotiated price; money in US dollars, as its names say."""

    label: Text
    """Name of the offer in the answer; each one once."""
    accelerator: Slug
    """Slug or usual name."""
    accelerator_count: Annotated[Number, Field(gt=0, le=100_000)]
    """Accelerators of one node; below 1 for a share of a card."""
    purchase_option: Option
    """How it is paid for."""
    usd_per_hour: Price
    """US dollars per hour of the whole node."""
    upfront_usd: Money = 0.0
    """US dollars due when a commitment begins."""
    term_months: Annotated[Whole, Field(ge=0, le=120)] | None = None
    """Months of a commitment; required of one, refused for anything else."""
    provider: Slug = "custom"
    """Provider, so that limits on providers hold for it."""
    region: Slug = "custom"
    """Region, so that limits on places and the grid's carbon hold for it."""
    instance_type: Slug | None = None
    """Machine, so that interruptions and quotas hold for it."""
    available_from: Month | None = None
    """First month in which it can be rented (a dated capacity block), or a commitment begun."""
    available_until: Month | None = None
    """Last month in which it can be rented, or a commitment begun."""

    @model_validator(mode="after")
    def _consistent(self) -> CustomOffer:
        for refusal in self._refusals():
            raise refusal
        return self

    def _refusals(self) -> Iterator[InvalidInput]:
        if not self.usd_per_hour and not self.upfront_usd:
            yield InvalidInput(
                "usd_per_hour", "is 0 and nothing is due upfront; leave out an unknown price"
            )
        if self.purchase_option.is_commitment and not self.term_months:
            option = self.purchase_option.value
            yield InvalidInput("term_months", f"is required with purchase_option {option}")
        if self.upfront_usd and not self.purchase_option.is_commitment:
            yield InvalidInput(
                "upfront_usd", "is due when a commitment begins; leave it out for other offers"
            )
        if self.term_months and not self.purchase_option.is_commitment:
            option = self.purchase_option.value
            yield InvalidInput("term_months", f"has no meaning with purchase_option {option}")
        first, last = self.available_from, self.available_until
        if first and last and last < first:
            yield InvalidInput("available_until", f"{last:%Y-%m} is before available_from")


class PriceAdjustment(RequestModel):
    """A contract discount: `multiplier` on every catalog price that matches all that is given.

    Several that match one price multiply each other, in whatever order they stand.
    """

    provider: Slug | None = None
    """Only this provider's prices."""
    family: Slug | None = None
    """Beginning of the instance type up to a mark or digit of size: p5, a3-highgpu, ND96."""
    region: Slug | None = None
    """Only prices of this region."""
    purchase_option: Option | None = None
    """Only prices of this option."""
    multiplier: Annotated[Number, Field(gt=0, le=100)]
    """Factor on the price: 0.9 is 10 % off."""


class Server(RequestModel):
    """A server to buy: one of the reference list, changed where a field is given, or custom."""

    server: Slug
    """Slug of the reference list, or `custom`."""
    label: Text | None = None
    """Name of a custom server in the answer."""
    unit_price: Annotated[Number, Field(gt=0, le=MAX_MONEY)] | None = None
    """Price of one server."""
    accelerator: Slug | None = None
    """Accelerator of a custom server, by slug or usual name."""
    accelerator_count: Annotated[Number, Field(gt=0, le=100_000)] | None = None
    """Accelerators of one server."""
    power_kw: Annotated[Number, Field(ge=0, le=100_000)] | None = None
    """Draw at load, which is also the nameplate, kW."""
    idle_power_kw: Annotated[Number, Field(ge=0, le=100_000)] | None = None
    """Draw when idle, kW."""
    running_cost_per_hour: Price | None = None
    """Cost of an hour of use; replaces power, colocation, support and staff."""
    max_units: Annotated[Whole, Field(ge=0, le=1_000_000)] | None = None
    """Most units bought over the horizon."""

    @model_validator(mode="after")
    def _consistent(self) -> Server:
        for refusal in self._refusals():
            raise refusal
        return self

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.server == "custom":
            for field in ("unit_price", "accelerator", "accelerator_count"):
                if getattr(self, field) is None:
                    yield InvalidInput(field, "is required of a custom server")
            if self.running_cost_per_hour is None and self.power_kw is None:
                yield InvalidInput("power_kw", "is required without running_cost_per_hour")
        load, idle = self.power_kw, self.idle_power_kw
        if load is not None and idle is not None and idle > load:
            yield InvalidInput("idle_power_kw", f"{idle:g} kW is more than {load:g} kW at load")


class OwnedServer(RequestModel):
    """Servers already in place: no capex, and their age goes on."""

    server: Slug
    """Slug of the reference list, or the label (or `custom`) of one under `servers`."""
    units: Annotated[Whole, Field(ge=1, le=1_000_000)]
    """Servers of this kind."""
    bought: Month
    """Month of purchase; the useful life counts from it."""


Servers = Annotated[
    tuple[Server, ...], BeforeValidator(_entries), Field(strict=False, max_length=50)
]
OwnedServers = Annotated[
    tuple[OwnedServer, ...], BeforeValidator(_entries), Field(strict=False, max_length=200)
]


class OnPrem(RequestModel):
    """Owning: what may be bought and what it costs to keep; absent fields take a default."""

    servers: Servers | None = None
    """None offers the reference servers that hold a fitting accelerator; [] offers none."""
    electricity_per_kwh: Annotated[Number, Field(ge=0, le=1e6)] | None = None
    """Price of a kWh."""
    pue: Annotated[Number, Field(ge=1, le=5)] | None = None
    """Power usage effectiveness of the site, at least 1."""
    colocation_per_kw_month: Price | None = None
    """Rent of a kW of nameplate power for a month, electricity left out."""
    support_rate_per_year: Rate | None = None
    """Yearly support as a fraction of the unit price."""
    network_storage_rate: Annotated[Number, Field(ge=0, le=10)] | None = None
    """Network and storage as a fraction of the unit price, once."""
    install_cost_rate: Annotated[Number, Field(ge=0, le=10)] | None = None
    """Installation as a fraction of the unit price, once."""
    staff_fte_per_server: Annotated[Number, Field(ge=0, le=1000)] | None = None
    """Full-time equivalents per server."""
    staff_cost_per_year: Money | None = None
    """Cost of a full-time equivalent for a year."""
    spare_rate: Rate | None = None
    """Spare parts as a fraction of the unit price, once."""
    useful_life_months: Annotated[Whole, Field(ge=1, le=240)] | None = None
    """Months in service."""
    residual_rate: Rate | None = None
    """Fraction of its value that a server keeps each year."""
    lead_time_months: Annotated[Whole, Field(ge=0, le=120)] | None = None
    """Months from order to service."""
    utilisation_ceiling: Annotated[Number, Field(gt=0, le=1)] | None = None
    """Most of a month's hours that an owned server works, 0 to 1."""
    already_owned: OwnedServers = ()
    """Servers already in place: no capital cost, their operating cost in every scenario."""
    g_co2e_per_kwh: Annotated[Number, Field(ge=0, le=5000)] | None = None
    """Carbon of the electricity of the owned servers."""


class Finance(RequestModel):
    """How time and tax value money; absent fields take a default."""

    discount_rate_per_year: Rate | None = None
    """Discount rate, fraction per year."""
    cloud_price_trend_per_year: Trend | None = None
    """Change of rental prices, fraction per year."""
    electricity_trend_per_year: Trend | None = None
    """Change of the electricity price, fraction per year."""
    depreciation: Literal["straight_line", "macrs_5", "none"] | None = None
    """How capital is depreciated."""
    tax_rate: Annotated[Number, Field(ge=0, lt=1)] | None = None
    """Tax on profits that costs reduce, fraction."""


class Data(RequestModel):
    """Data kept in the cloud and carried out of it, and the size of one checkpoint."""

    storage_gib: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data kept all the time, GiB."""
    egress_gib_per_month: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data carried out of the cloud in a month, GiB."""
    checkpoint_gib: Annotated[Number, Field(ge=0, le=1e9)] | None = None
    """Size of one checkpoint, GiB: sets what an interruption costs."""


class Risk(RequestModel):
    """How far things may go from plan; present (even empty) asks for the risk of each scenario."""

    samples: Annotated[Whole, Field(ge=100, le=1_000_000)] | None = None
    """Outcomes simulated."""
    seed: Annotated[Whole, Field(ge=0, le=2**63 - 1)] | None = None
    """Seed of the draws; the same one gives the same figures."""
    demand_growth_sd: Annotated[Number, Field(ge=0, le=3)] | None = None
    """Standard deviation of the yearly growth of demand, fraction."""
    price_sd: Annotated[Number, Field(ge=0, le=3)] | None = None
    """Standard deviation of the yearly change of rental prices, fraction."""
    spot_interruptions_per_month: Annotated[Number, Field(ge=0, le=10_000)] | None = None
    """Interruptions of a spot machine in a month."""
    slip_months_sd: Annotated[Number, Field(ge=0, le=60)] | None = None
    """Standard deviation of delay, months."""
    residual_sd: Annotated[Number, Field(ge=0, le=3)] | None = None
    """Standard deviation of the logarithm of residual values."""
    tail_weight: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Asks for the plan that is best over the futures: expected cost, plus this many times the
    mean cost of the dearest tenth of them."""
    spot_goodput: Annotated[Number, Field(gt=0, le=1)] | None = None
    """Share of spot hours that is useful at the usual rate of interruptions."""
    checkpoint_save_hours: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Time to save a checkpoint, h."""
    restart_hours: Annotated[Number, Field(ge=0, le=100)] | None = None
    """Time from an interruption to useful work, h."""


class ExchangeRate(RequestModel):
    """Units of a currency for one US dollar, and the day that it was so."""

    units_per_usd: Annotated[Number, Field(ge=1e-6, le=1e7)]
    """Units of the currency for one US dollar."""
    as_of: Month | None = None
    """Month of the rate."""


def _rate(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {"units_per_usd": value} if is_number else value


Rates = dict[Currency, Annotated[ExchangeRate, BeforeValidator(_rate)]]


class ComparisonRequest(RequestModel):
    """Everything a comparison is asked for; the same for page, API and command line."""

    name: Annotated[str, Field(max_length=200)] = ""
    """Title of the comparison."""
    start: Month | None = None
    """Month 0; absent: the month after today."""
    horizon_months: Annotated[Whole, Field(ge=1, le=MAX_HORIZON_MONTHS)] = 36
    """T, months of the plan."""
    currency: Currency = "USD"
    """Currency of every amount of the request and the answer."""
    workload: Workload
    """What has to be done: known hours, a training, or samples."""
    constraints: Constraints = Constraints()
    """Limits; an absent one limits nothing."""
    custom_offers: Annotated[
        tuple[CustomOffer, ...], BeforeValidator(_entries), Field(strict=False, max_length=1000)
    ] = ()
    """Private or negotiated prices beside those of the catalog."""
    price_adjustments: Annotated[
        tuple[PriceAdjustment, ...], BeforeValidator(_entries), Field(strict=False, max_length=100)
    ] = ()
    """Contract discounts on catalog prices."""
    use_catalog: bool = True
    """Whether the published prices of the providers are considered."""
    inherits: bool = True
    """Whether the team's prices, quotes and defaults are added; false where they are in already."""
    exchange_rates: Rates = Field(default_factory=dict)
    """Currency code → units per US dollar; replaces the dated rate of the catalog."""
    term_end: Literal["prorate", "full"] = "prorate"
    """Of a commitment that ends after the horizon: its share within, or all of it."""
    on_prem: OnPrem = OnPrem()
    """Servers to buy, servers already owned, and what owning costs."""
    finance: Finance = Finance()
    """Discount rate, trends, depreciation and tax."""
    data: Data = Data()
    """Data kept in the cloud and carried out of it."""
    risk: Risk | None = None
    """How far things may go from plan; absent: no simulation."""
    sensitivity: bool = True
    """Whether the answer says what moves it."""
    explain: bool = False
    """Whether the answer says what limits cost and where the advice turns: takes some seconds."""

    @model_validator(mode="before")
    @classmethod
    def _absent_sections(cls, data: Any) -> Any:
        """A section given as null counts as absent, as an empty form field does."""
        sections = ("constraints", "on_prem", "finance", "data")
        if isinstance(data, Mapping):
            return {k: v for k, v in data.items() if v is not None or k not in sections}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> ComparisonRequest:
        if not self.use_catalog and not self.custom_offers:
            raise InvalidInput(
                "use_catalog", "is false and there are no custom_offers; give one of them"
            )
        dollar = self.exchange_rates.get("USD")
        if dollar is not None and dollar.units_per_usd != 1:
            raise InvalidInput(
                "exchange_rates.USD", f"{dollar.units_per_usd:g} dollars in a dollar; allowed is 1"
            )
        labels = [offer.label for offer in self.custom_offers]
        for i, label in enumerate(labels):
            if label in labels[:i]:
                raise InvalidInput(
                    f"custom_offers.{i}.label", f"{label!r} is given twice; allowed is once"
                )
        return self


def read_request(data: object) -> ComparisonRequest:
    """`data` as a request, or `InvalidInput` naming each field refused.

    >>> hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    >>> read_request({"workload": hours}).horizon_months
    36
    >>> read_request({"workload": hours, "horizon_months": 200})
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: horizon_months: 200 is not allowed; must be at
        most 120
    """
    if not isinstance(data, Mapping):
        raise InvalidInput("", "a request is an object of fields; see the README for an example")
    return parse(ComparisonRequest, data)
