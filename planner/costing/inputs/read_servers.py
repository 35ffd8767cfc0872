"""From the servers of a request to those that may be bought and those in place. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.contract.months import count_months
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import Constraints
from planner.contract.request.existing import LeasedServer
from planner.contract.request.on_prem import Server
from planner.contract.request.rules import resolve_rules
from planner.costing.assumptions import reference_servers as reference
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.assumptions.defaults import default
from planner.costing.cost_model.financing import read_financing
from planner.costing.cost_model.server import ServerBatch, ServerToBuy
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.server_risks import ServerRisks
from planner.costing.inputs.servers import ServerSelection
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import resolve

IDLE_SHARE = 0.15
"""Idle over maximum power of a server whose idle power is not given: 1.0 of 6.667 kW of a DGX
GB200 compute tray (NVIDIA DPS device specifications, 2025)."""


MONTHS_OPEN = 3
"""Months in which quotes of several sellers compete; advice of this project, 2026."""


@dataclass(frozen=True)
class _ReferenceList:
    """The reference servers as servers to buy."""

    units_per_usd: float
    as_used: bool
    """Whether power is what a server draws at work and idle, not its nameplate."""

    def all_on_sale(self) -> tuple[ServerToBuy, ...]:
        return tuple(self._read(s) for s in reference.all_servers() if s.on_sale)

    def get(self, slug: str, field: str) -> ServerToBuy:
        """The server with this slug; `InvalidInput` on `field` if there is none."""
        return self._read(reference.get(slug, field))

    def _read(self, server: reference.Server) -> ServerToBuy:
        bought = _from_reference(server, self.units_per_usd)
        if not self.as_used:
            return bought
        typical, idle = server.typical_power_kw, server.measured_idle_power_kw
        idle = bought.idle_power_kw if idle is None else idle
        if typical is None:
            typical = max(idle, server.power_kw * default("server_power_load_fraction").value)
        return replace(bought, typical_power_kw=typical, idle_power_kw=idle)


def select_servers(
    request: ComparisonRequest,
    calendar: Calendar,
    units_per_usd: float,
    assumptions: Assumptions,
) -> ServerSelection:
    """The servers that the request names, or the whole reference list that is on sale. Their power
    is what they draw at work rather than their nameplate where the assumptions are level."""
    known = _ReferenceList(units_per_usd, assumptions.is_level)
    named = request.on_prem.servers
    risks = ServerRisks(assumptions, units_per_usd)
    to_buy = known.all_on_sale() if named is None else tuple(_read_named_servers(named, known))
    term_end = resolve_rules(request).term_end
    contract = read_financing(request.on_prem.financing, term_end)
    requested: Sequence[Server | None] = named or [None] * len(to_buy)
    own = [None if one is None else one.financing for one in requested]
    to_buy = tuple(
        risks.add(
            replace(
                server, financing=contract if terms is None else read_financing(terms, term_end)
            ),
            one,
        )
        for server, terms, one in zip(to_buy, own, requested, strict=True)
    )
    sites = _Sites(request.constraints)
    leased = tuple(_read_leased_servers(request, to_buy, known, sites))
    owned = tuple(_read_owned_servers(request, to_buy, known, sites, calendar, assumptions))
    if named is not None:
        sites.check_units(to_buy)
    return ServerSelection(tuple(sites.spread(to_buy)), owned, leased)


@dataclass(frozen=True)
class _Sites:
    """Where servers stand, as far as limits on room ask for it."""

    limits: Constraints

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(limit.site for limit in self.limits.sites)

    @property
    def limits_height(self) -> bool:
        of_sites = any(limit.rack_units is not None for limit in self.limits.sites)
        return of_sites or self.limits.rack_units is not None

    def spread(self, servers: Sequence[ServerToBuy]) -> Iterator[ServerToBuy]:
        """Each server at its site; one that names none at every site that has limits."""
        for server in servers:
            if server.site or not self.names:
                yield server
            elif len(self.names) == 1:
                yield replace(server, site=self.names[0])
            else:
                yield from (at_site(server, name) for name in self.names)

    def check_units(self, servers: Sequence[ServerToBuy]) -> None:
        """Raise `InvalidInput` where a server lacks what limits on room need."""
        for i, server in enumerate(servers):
            field = f"on_prem.servers.{i}"
            if self.limits_height and server.rack_units is None:
                raise InvalidInput(
                    f"{field}.rack_units", "is required of a server where rack units are limited"
                )
            if server.max_units is not None and not server.site and len(self.names) > 1:
                raise InvalidInput(
                    f"{field}.site",
                    "is required with max_units where several sites have limits; allowed are "
                    + ", ".join(self.names),
                )

    def place(self, server: ServerToBuy, site: str | None, field: str) -> ServerToBuy:
        """A server in place at its site. Raises `InvalidInput` where it could be any of several."""
        if site is None and len(self.names) > 1:
            raise InvalidInput(
                f"{field}.site",
                f"is required where several sites have limits; allowed are {', '.join(self.names)}",
            )
        if self.limits_height and server.rack_units is None:
            raise InvalidInput(
                f"{field}.server",
                f"the height of {server.label} is not known; describe it under on_prem.servers "
                "with its rack_units",
            )
        if site is None:
            return replace(server, site=self.names[0] if self.names else "")
        return at_site(server, site) if len(self.names) > 1 else replace(server, site=site)


def at_site(server: ServerToBuy, site: str) -> ServerToBuy:
    """A server of its own kind for each of several sites."""
    return replace(
        server, slug=f"{server.slug} at {site}", label=f"{server.label}, {site}", site=site
    )


def _from_reference(server: reference.Server, units_per_usd: float) -> ServerToBuy:
    return ServerToBuy(
        slug=server.slug,
        label=server.name,
        accelerator=server.accelerator,
        accelerator_count=float(server.accelerator_count),
        unit_price=server.unit_price_usd * units_per_usd,
        power_kw=server.power_kw,
        idle_power_kw=server.idle_power_kw,
        is_workstation=server.server_class == "workstation",
        comes_from_stock=server.server_class == "workstation",
        stands_alone=server.server_class == "workstation",
        reference=server.slug,
        source=server.source,
        price_year=server.price_year,
        rack_units=float(server.rack_units),
    )


def _read_named_servers(servers: Sequence[Server], known: _ReferenceList) -> Iterator[ServerToBuy]:
    seen: set[str] = set()
    for i, requested in enumerate(servers):
        server = _read_server(requested, f"on_prem.servers.{i}", known)
        if server.slug in seen:
            hint = (
                "give it a label of its own" if requested.server == "custom" else "allowed is once"
            )
            raise InvalidInput(
                f"on_prem.servers.{i}.server", f"{server.slug!r} is given twice; {hint}"
            )
        seen.add(server.slug)
        yield server


def _read_server(requested: Server, field: str, known: _ReferenceList) -> ServerToBuy:
    if requested.server == "custom":
        base = ServerToBuy(
            slug=requested.label or "custom",
            label=requested.label or "Custom server",
            is_workstation=True,
            accelerator="",
            accelerator_count=0.0,
            unit_price=0.0,
            power_kw=0.0,
            idle_power_kw=0.0,
        )
    else:
        base = known.get(requested.server, f"{field}.server")
        if requested.label:
            base = replace(base, label=requested.label)
    return _apply_overrides(base, requested, field)


def _apply_overrides(base: ServerToBuy, requested: Server, field: str) -> ServerToBuy:
    """`base` with every field that the request gives."""
    power, idle, typical = base.power_kw, base.idle_power_kw, base.typical_power_kw
    if requested.power_kw is not None:
        power, idle, typical = requested.power_kw, requested.power_kw * IDLE_SHARE, None
    if requested.typical_power_kw is not None:
        typical = requested.typical_power_kw
    if requested.idle_power_kw is not None:
        idle = requested.idle_power_kw
        if idle > power and requested.running_cost_per_hour is None:
            raise InvalidInput(
                f"{field}.idle_power_kw", f"{idle:g} kW is more than the {power:g} kW at load"
            )
    if typical is not None:
        if typical > power and requested.running_cost_per_hour is None:
            raise InvalidInput(
                f"{field}.typical_power_kw",
                f"{typical:g} kW is more than the {power:g} kW at load",
            )
        # A reference server whose idle power alone is given draws at least that at work.
        typical = max(typical, idle)
    server = replace(
        base,
        power_kw=power,
        idle_power_kw=idle,
        typical_power_kw=typical,
        running_cost_per_hour=requested.running_cost_per_hour,
        max_units=requested.max_units,
        rack_units=base.rack_units if requested.rack_units is None else requested.rack_units,
        site=requested.site or "",
        own_figures=tuple(_own_figures(requested)),
    )
    price = _stated_price(requested)
    if price is not None:
        server = replace(server, unit_price=price, source="request", price_year=None)
    if requested.accelerator is not None:
        slug = resolve(requested.accelerator, f"{field}.accelerator").slug
        server = replace(server, accelerator=slug)
    if requested.accelerator_count is not None:
        server = replace(server, accelerator_count=requested.accelerator_count)
    return server


def _stated_price(requested: Server) -> float | None:
    """What the request says that a server costs: its price, else the lowest of its quotes of the
    months in which the newest of them is good."""
    if requested.unit_price is not None or not requested.quotes:
        return requested.unit_price
    newest = max(quote.quoted for quote in requested.quotes)
    open_quotes = (
        quote for quote in requested.quotes if count_months(quote.quoted, newest) < MONTHS_OPEN
    )
    return min(quote.unit_price for quote in open_quotes)


def _own_figures(requested: Server) -> Iterator[tuple[str, float]]:
    """Assumptions of all servers that a request states for one."""
    life, trend = requested.useful_life_months, requested.price_trend_per_year
    terms = requested.financing
    interest = None if terms is None else terms.interest_rate_per_year
    stated = (
        ("lead_time_months", requested.lead_time_months),
        ("workstation_lead_time_months", requested.lead_time_months),
        ("useful_life_months", life),
        ("server_price_trend_per_year", trend),
        ("interest_rate_per_year", interest),
    )
    yield from ((name, float(value)) for name, value in stated if value is not None)


def _read_leased_servers(
    request: ComparisonRequest,
    to_buy: Sequence[ServerToBuy],
    known: _ReferenceList,
    sites: _Sites,
) -> Iterator[tuple[LeasedServer, ServerToBuy]]:
    for i, one in enumerate(request.existing.leased_servers):
        field = f"existing.leased_servers.{i}"
        yield (
            one,
            sites.place(
                _find_server(one.server, to_buy, f"{field}.server", known), one.site, field
            ),
        )


def _read_owned_servers(
    request: ComparisonRequest,
    to_buy: Sequence[ServerToBuy],
    known: _ReferenceList,
    sites: _Sites,
    calendar: Calendar,
    assumptions: Assumptions,
) -> Iterator[tuple[ServerToBuy, tuple[ServerBatch, ...]]]:
    batches: dict[str, list[ServerBatch]] = {}
    servers: dict[str, ServerToBuy] = {}
    for i, requested in enumerate(request.on_prem.already_owned):
        field = f"on_prem.already_owned.{i}"
        kind = _find_server(requested.server, to_buy, f"{field}.server", known)
        server = sites.place(kind, requested.site, field)
        if requested.bought is None:
            age = int(server.assumptions(assumptions)["useful_life_months"]) // 2
        else:
            age = -calendar.index(requested.bought)
        if age < 0:
            raise InvalidInput(
                f"{field}.bought",
                f"{requested.bought:%Y-%m} is after the start {calendar.start:%Y-%m}; "
                f"allowed is {calendar.start:%Y-%m} or earlier",
            )
        servers[server.slug] = server
        batches.setdefault(server.slug, []).append(ServerBatch(requested.units, age))
    for slug in sorted(batches):
        yield servers[slug], tuple(batches[slug])


def _find_server(
    name: str, to_buy: Sequence[ServerToBuy], field: str, known: _ReferenceList
) -> ServerToBuy:
    for server in to_buy:
        if name in (server.slug, server.label):
            return server
    return known.get(name, field)
