"""Owning: servers to buy and those in service, and what running them costs. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from planner.contract.request.finance import Financing
from planner.contract.validation import (
    DECIMAL_TEXT,
    MAX_MONEY,
    CostRate,
    Entries,
    Money,
    Month,
    Number,
    Price,
    Rate,
    RequestModel,
    Slug,
    Text,
    Trend,
    Whole,
)
from pricing.common.invalid_input import InvalidInput

MAX_MONTHS_LATE = 60


class SellerQuote(RequestModel):
    """A price that a seller asks for the server."""

    unit_price: Annotated[Number, Field(gt=0, le=MAX_MONEY), DECIMAL_TEXT]
    """Price of one server."""
    quoted: Month
    """Month of the quote."""
    seller: Text | None = None
    """Who offers the server at this price."""


class LateDelivery(RequestModel):
    """Months by which a server comes later than planned: `months` with a `probability`, or between
    `p10_months` and `p90_months` in 8 of 10 cases. Its work is rented meanwhile, at the prices of
    the plan."""

    probability: Rate | None = None
    """Chance that it comes late."""
    months: Annotated[Number, Field(gt=0, le=MAX_MONTHS_LATE)] | None = None
    """Months late, if so; in whole months."""
    p10_months: Annotated[Number, Field(ge=0, le=MAX_MONTHS_LATE)] | None = None
    """Months late that nine deliveries in ten reach."""
    p90_months: Annotated[Number, Field(ge=0, le=MAX_MONTHS_LATE)] | None = None
    """Months late that one delivery in ten exceeds."""

    @property
    def certain_months(self) -> float:
        """Months by which it comes late whatever happens; 0 where that is not certain."""
        if self.probability is None:
            return self.p90_months or 0.0 if self.p10_months == self.p90_months else 0.0
        return self.months or 0.0 if self.probability >= 1.0 else 0.0

    def _refusals(self) -> Iterator[InvalidInput]:
        by_chance = ("probability", "months")
        by_range = ("p10_months", "p90_months")
        stated = {name for name in (*by_chance, *by_range) if getattr(self, name) is not None}
        pair = by_range if stated & set(by_range) else by_chance
        for name in pair:
            if name not in stated:
                yield InvalidInput(name, f"is required; give {' and '.join(pair)}")
        for name in sorted(stated - set(pair)):
            yield InvalidInput(name, f"has no meaning with {' and '.join(pair)}")
        low, high = self.p10_months, self.p90_months
        if low is not None and high is not None and low > high:
            yield InvalidInput("p90_months", f"{high:g} is less than p10_months, {low:g}")


class Server(RequestModel):
    """A server to buy: one of the reference list, changed where a field is given, or custom."""

    server: Slug
    """Slug of the reference list, or `custom`."""
    label: Text | None = None
    """Name of a custom server in the answer."""
    unit_price: Annotated[Number, Field(gt=0, le=MAX_MONEY), DECIMAL_TEXT] | None = None
    """Price of one server; absent: the lowest quote of the newest three months."""
    quotes: Annotated[Entries[SellerQuote], Field(max_length=50)] = ()
    """Dated prices that sellers ask: its price lies between them. A `unit_price` without any is
    taken as firm."""
    accelerator: Slug | None = None
    """Accelerator of a custom server, by slug or usual name."""
    accelerator_count: Annotated[Number, Field(gt=0, le=100_000)] | None = None
    """Accelerators of one server."""
    power_kw: Annotated[Number, Field(ge=0, le=100_000)] | None = None
    """Draw at load, which is also the nameplate, kW."""
    typical_power_kw: Annotated[Number, Field(ge=0, le=100_000)] | None = None
    """Average draw while it works, kW; absent: as measured for a reference server, else the draw
    at load. Electricity follows it, colocation the nameplate."""
    idle_power_kw: Annotated[Number, Field(ge=0, le=100_000)] | None = None
    """Draw when idle, kW."""
    running_cost_per_hour: Price | None = None
    """Cost of an hour of use; replaces power, colocation, support and staff."""
    max_units: Annotated[Whole, Field(ge=0, le=1_000_000)] | None = None
    """Most units bought over the horizon."""
    rack_units: Annotated[Number, Field(ge=0, le=1000)] | None = None
    """Height in rack units; required of a custom server where rack units are limited."""
    speed: Annotated[Number, Field(gt=0, le=100), DECIMAL_TEXT] = 1.0
    """Work of one of its accelerators by that of the `accelerator` named, such as 2.5 for one that
    is not out yet."""
    available_from: Month | None = None
    """First month in which it can be ordered."""
    lead_time_months: Annotated[Whole, Field(ge=0, le=120)] | None = None
    """Months from order to service; absent: as `on_prem.lead_time_months` says for all."""
    late_delivery: LateDelivery | None = None
    """By how much it may come later than that; absent: as `on_prem.late_delivery_probability` says
    for all."""
    useful_life_months: Annotated[Whole, Field(ge=1, le=240)] | None = None
    """Months in service; absent: as `on_prem.useful_life_months` says for all."""
    price_trend_per_year: Trend | None = None
    """Change of its price, fraction per year; absent: as `finance.server_price_trend_per_year`
    says for all."""
    financing: Financing | None = None
    """How its price is paid; absent: as `on_prem.financing` says for all."""

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.server == "custom":
            for field in ("unit_price", "accelerator", "accelerator_count"):
                if getattr(self, field) is None and not (field == "unit_price" and self.quotes):
                    yield InvalidInput(field, "is required of a custom server")
            if self.running_cost_per_hour is None and self.power_kw is None:
                yield InvalidInput("power_kw", "is required without running_cost_per_hour")
        load, idle = self.power_kw, self.idle_power_kw
        if load is not None and idle is not None and idle > load:
            yield InvalidInput("idle_power_kw", f"{idle:g} kW is more than {load:g} kW at load")
        typical = self.typical_power_kw
        if load is not None and typical is not None and typical > load:
            yield InvalidInput(
                "typical_power_kw", f"{typical:g} kW is more than {load:g} kW at load"
            )


class OwnedServer(RequestModel):
    """Servers already owned: no capital cost, and their age counts from their purchase."""

    server: Slug
    """Slug of the reference list, or the label (or `custom`) of one under `servers`."""
    units: Annotated[Whole, Field(ge=0, le=1_000_000)] = 1
    """Servers of this kind; 0: none any more."""
    bought: Month | None = None
    """Month of purchase; the useful life counts from it. Without it half of that life is taken as
    over at the start."""
    resale_value: Money | None = None
    """What one of them fetches today, after the cost of the sale; absent: what is left of its price
    at its age by `on_prem.residual_rate`."""


OwnedServers = Annotated[Entries[OwnedServer], Field(max_length=200)]


class OnPrem(RequestModel):
    """Owning: what may be bought and what it costs to keep; absent fields take a default."""

    servers: Annotated[Entries[Server], Field(max_length=50)] | None = None
    """Servers to choose from, one of them once for each way of paying, such as bought or leased;
    absent: reference servers with a fitting accelerator; []: none."""
    electricity_per_kwh: Annotated[Number, Field(ge=0, le=1e6), DECIMAL_TEXT] | None = None
    """Price of a kWh."""
    pue: Annotated[Number, Field(ge=1, le=5), DECIMAL_TEXT] | None = None
    """Power usage effectiveness of the site, at least 1."""
    colocation_per_kw_month: Price | None = None
    """Rent of a kW of nameplate power for a month, electricity left out."""
    support_rate_per_year: Rate | None = None
    """Yearly support as a fraction of the unit price."""
    network_storage_rate: CostRate | None = None
    """Network and storage as a fraction of the unit price, once."""
    install_cost_rate: CostRate | None = None
    """Installation as a fraction of the unit price, once."""
    staff_fte_per_server: Annotated[Number, Field(ge=0, le=1000)] | None = None
    """Full-time equivalents per server."""
    staff_cost_per_year: Money | None = None
    """Cost of a full-time equivalent for a year."""
    spare_rate: Rate | None = None
    """Spare parts as a fraction of the unit price, once."""
    insurance_rate_per_year: Rate | None = None
    """Yearly insurance as a fraction of the unit price."""
    useful_life_months: Annotated[Whole, Field(ge=1, le=240)] | None = None
    """Months in service."""
    residual_rate: Rate | None = None
    """Fraction of its value that a server keeps each year."""
    resale_cost_rate: Rate | None = None
    """What a sale costs as a fraction of what it fetches."""
    lead_time_months: Annotated[Whole, Field(ge=0, le=120)] | None = None
    """Months from order to service."""
    workstation_lead_time_months: Annotated[Whole, Field(ge=0, le=120)] | None = None
    """The same for workstations; absent: as `lead_time_months` says where it is given."""
    late_delivery_probability: Rate | None = None
    """Chance that a server comes later than planned, by `late_delivery_months`. Absent, with these
    absent too: on time where a lead time is given, else with the lead times of dated quotes."""
    late_delivery_months: Annotated[Number, Field(ge=0, le=MAX_MONTHS_LATE)] | None = None
    """Months by which it then comes late."""
    server_price_spread: Rate | None = None
    """Share by which the price of a reference server may at least be lower or higher in 8 of 10
    cases; 0 takes all prices of the reference list as firm."""
    utilisation_ceiling: Annotated[Number, Field(gt=0, le=1), DECIMAL_TEXT] | None = None
    """Most of a month's hours that an owned server works, 0 to 1."""
    financing: Financing = Financing()
    """How the price of servers to buy is paid; absent: at once."""
    already_owned: OwnedServers = ()
    """Servers already in place: no capital cost, their operating cost in every scenario."""
    g_co2e_per_kwh: Annotated[Number, Field(ge=0, le=5000)] | None = None
    """Carbon of the electricity of the owned servers."""


Units = Annotated[Whole, Field(ge=1, le=1_000_000)]


class ExistingCommitment(RequestModel):
    """Reserved machines, a savings plan or committed use already signed: paid to its end, used or
    not, and used first because that costs nothing extra."""

    label: Text
    """Name in the answer, unique."""
    provider: Slug
    """Provider that it is with."""
    region: Slug = "custom"
    """Region, for the prices of data and the carbon of the grid."""
    accelerator: Slug
    """Slug or usual name."""
    accelerator_count: Annotated[Number, Field(gt=0, le=100_000)]
    """Accelerators of one machine."""
    units: Units = 1
    """Machines."""
    price_per_month: Money
    """What one machine is charged each month; what was paid upfront is spent and left out."""
    ends: Month
    """Last month in which it is charged and can be used."""


class LeasedServer(RequestModel):
    """Servers on lease: their rent is owed to its end, and they are operated like owned ones."""

    server: Slug
    """Slug of the reference list, or the label (or `custom`) of one under `on_prem.servers`."""
    units: Units = 1
    """Servers of this kind."""
    rent_per_month: Money
    """Rent of one server."""
    ends: Month
    """Last month of the lease; they go back then."""


class Credit(RequestModel):
    """A credit with a provider that pays its bills until it expires; what is left is lost."""

    label: Text
    """Name in the cost lines."""
    amount: Annotated[Money, Field(gt=0)]
    """What is left of it at the start."""
    provider: Slug
    """Provider whose bills it pays."""
    expires: Month
    """Last month whose bills it pays."""


class MinimumSpend(RequestModel):
    """A contract to spend a sum with a provider (EDP, MACC); what is not spent is owed."""

    label: Text
    """Name of the cost line of a shortfall."""
    provider: Slug
    """Provider that it is with."""
    amount: Annotated[Money, Field(gt=0)]
    """Amount due from `first` to `last`; for yearly amounts one entry each."""
    first: Month
    """First month that counts."""
    last: Month
    """Last month that counts; the shortfall is due at its end."""
    spent: Money = 0.0
    """Part of it that is spent before the plan starts."""

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.last < self.first:
            yield InvalidInput("last", f"{self.last:%Y-%m} is before first {self.first:%Y-%m}")
        if self.spent > self.amount:
            yield InvalidInput("spent", f"{self.spent:g} is more than the amount {self.amount:g}")


class Existing(RequestModel):
    """Existing contracts. Servers that are owned belong under `on_prem.already_owned`."""

    commitments: Annotated[Entries[ExistingCommitment], Field(max_length=100)] = ()
    """Reservations, savings plans and committed use that are signed."""
    leased_servers: Annotated[Entries[LeasedServer], Field(max_length=100)] = ()
    """Servers on lease."""
    credits: Annotated[Entries[Credit], Field(max_length=20)] = ()
    """Credits, with the month in which they expire."""
    minimum_spend: Annotated[Entries[MinimumSpend], Field(max_length=20)] = ()
    """Minimum-spend contracts; one discount counts for each provider and month, the highest of its
    entries."""

    def _refusals(self) -> Iterator[InvalidInput]:
        for name in ("commitments", "credits", "minimum_spend"):
            labels = [entry.label for entry in getattr(self, name)]
            for i, label in enumerate(labels):
                if label in labels[:i]:
                    yield InvalidInput(
                        f"{name}.{i}.label", f"{label!r} is given twice; allowed is once"
                    )
