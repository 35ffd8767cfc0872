"""Owning: servers to buy and those in service, and what running them costs. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from planner.contract.request.fields import (
    MAX_MONEY,
    CostRate,
    Money,
    Price,
    Rate,
    Text,
    Trend,
    entries,
)
from planner.contract.request.financing import Financing
from planner.contract.request.purchase_risk import MAX_MONTHS_LATE, LateDelivery, SellerQuote
from planner.contract.request.workload import Slug
from planner.contract.validation import DECIMAL_TEXT, Month, Number, RequestModel, Whole
from pricing.common.invalid_input import InvalidInput


class Server(RequestModel):
    """A server to buy: one of the reference list, changed where a field is given, or custom."""

    server: Slug
    """Slug of the reference list, or `custom`."""
    label: Text | None = None
    """Name of a custom server in the answer."""
    unit_price: Annotated[Number, Field(gt=0, le=MAX_MONEY), DECIMAL_TEXT] | None = None
    """Price of one server; absent: the lowest quote of the newest three months."""
    quotes: Annotated[
        tuple[SellerQuote, ...], BeforeValidator(entries), Field(strict=False, max_length=50)
    ] = ()
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
    site: Text | None = None
    """Site where it is put; absent: any of `constraints.sites`."""
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

    @model_validator(mode="after")
    def _consistent(self) -> Server:
        for refusal in self._refusals():
            raise refusal
        return self

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
    units: Annotated[Whole, Field(ge=1, le=1_000_000)] = 1
    """Servers of this kind."""
    bought: Month | None = None
    """Month of purchase; the useful life counts from it. Without it half of that life is taken as
    over at the start."""
    site: Text | None = None
    """Site where they stand; required where `constraints.sites` has several."""


Servers = Annotated[
    tuple[Server, ...], BeforeValidator(entries), Field(strict=False, max_length=50)
]
OwnedServers = Annotated[
    tuple[OwnedServer, ...], BeforeValidator(entries), Field(strict=False, max_length=200)
]


class OnPrem(RequestModel):
    """Owning: what may be bought and what it costs to keep; absent fields take a default."""

    servers: Servers | None = None
    """Servers to choose from; absent: reference servers with a fitting accelerator; []: none."""
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
    count_on_resale: bool | None = None
    """Whether servers may be advised that pay back only with their resale; absent: if a
    `residual_rate` is given."""
    payback_margin: Rate | None = None
    """Share of the price of what is bought, network, spares and installation included, that it must
    save against renting before its resale, 0 to 1; absent: as the rules say."""
    lead_time_months: Annotated[Whole, Field(ge=0, le=120)] | None = None
    """Months from order to service."""
    workstation_lead_time_months: Annotated[Whole, Field(ge=0, le=120)] | None = None
    """The same for workstations; absent: as `lead_time_months` says where it is given."""
    late_delivery_probability: Rate | None = None
    """Chance that a server comes later than planned; absent: as published for servers whose lead
    time is not given, none for others."""
    late_delivery_months: Annotated[Number, Field(ge=0, le=MAX_MONTHS_LATE)] | None = None
    """Months by which it then comes late."""
    server_price_spread: Rate | None = None
    """Share by which the price of a reference server with fewer than two dated quotes may be lower
    or higher in 8 of 10 cases; 0 takes all prices of the reference list as firm."""
    utilisation_ceiling: Annotated[Number, Field(gt=0, le=1), DECIMAL_TEXT] | None = None
    """Most of a month's hours that an owned server works, 0 to 1."""
    financing: Financing = Financing()
    """How the price of servers to buy is paid; absent: at once."""
    already_owned: OwnedServers = ()
    """Servers already in place: no capital cost, their operating cost in every scenario."""
    g_co2e_per_kwh: Annotated[Number, Field(ge=0, le=5000)] | None = None
    """Carbon of the electricity of the owned servers."""
