"""The servers of a request: what may be bought, what is already owned, what does not fit. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from planner.contract.labels import LIMIT_TITLES
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import Constraints
from planner.contract.request.existing import LeasedServer
from planner.contract.request.on_prem import Server
from planner.contract.request.rules import resolve_rules
from planner.costing.assumptions import reference_servers as reference
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.assumptions.defaults import default
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.financing import read_financing
from planner.costing.cost_model.ownership import build_existing_server_source, build_server_source
from planner.costing.cost_model.server import ServerBatch, ServerToBuy
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.dominance import usable_accelerators
from planner.costing.inputs.job_nodes import JobNodes
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get as accelerator
from pricing.market.accelerators import resolve

IDLE_SHARE = 0.15
"""Idle over maximum power of a server whose idle power is not given: 1.0 of 6.667 kW of a DGX
GB200 compute tray (NVIDIA DPS device specifications, 2025)."""

CONSUMER_LICENCE = (
    "consumer cards are owned in workstations only, as their driver licence excludes data centres "
    "(constraints.allow_consumer_in_datacentre lifts it)"
)
"""License for Customer Use of NVIDIA GeForce Software, "No Datacenter Deployment" (NVIDIA, since
2017-12)."""
STANDS_ALONE = (
    "it holds only part of a job, and workstations have no network that joins several of them "
    "(constraints.allow_any_node lifts it)"
)
_LEAST_MEMORY = LIMIT_TITLES["min_accelerator_memory_gib"]
_LEAST_COUNT = LIMIT_TITLES["min_accelerators_per_node"]
_OTHER_WORK = "does not serve this workload"


@dataclass(frozen=True)
class ServerSelection:
    """Servers as the request wants them."""

    to_buy: tuple[ServerToBuy, ...]
    owned: tuple[tuple[ServerToBuy, tuple[ServerBatch, ...]], ...] = ()
    leased: tuple[tuple[LeasedServer, ServerToBuy], ...] = ()
    """Those on lease, with the server that each is."""
    excluded: tuple[str, ...] = ()
    """Why servers that were asked for, or are on the list, do not fit."""

    @property
    def accelerators(self) -> frozenset[str]:
        """Slugs of the accelerators in the servers."""
        return frozenset(
            server.accelerator for server in (*self.to_buy, *(owned for owned, _ in self.owned))
        )

    def build_sources(
        self,
        throughput: Mapping[str, float],
        assumptions: Assumptions,
        calendar: Calendar,
        job_sizes: Mapping[str, int] | None = None,
    ) -> list[CapacitySource]:
        """Servers as sources of accelerator-hours; `throughput` is r by accelerator, which counts
        for the accelerators of a server that its jobs can use."""

        sizes = job_sizes or {}

        def usable_throughput(server: ServerToBuy) -> float:
            count = server.accelerator_count
            usable = float(usable_accelerators(count, sizes.get(server.accelerator, 1)))
            return throughput[server.accelerator] * (usable / count)

        bought = [
            build_server_source(server, usable_throughput(server), assumptions, calendar)
            for server in self.to_buy
            if server.accelerator in throughput
        ]
        return bought + [
            build_existing_server_source(
                server, batches, usable_throughput(server), assumptions, calendar
            )
            for server, batches in self.owned
            if server.accelerator in throughput
        ]

    def filter_fitting(
        self,
        nodes: JobNodes,
        limits: Constraints,
        consumer_in_datacentre: bool = True,
    ) -> ServerSelection:
        """The fleet without the servers that a limit excludes, each with the reason.

        `nodes` are the machines that the work runs on. Without `consumer_in_datacentre` consumer
        cards stand in workstations alone, outside any data centre.
        """
        fitting, excluded = [], list(self.excluded)
        allowed = nodes.min_accelerators
        for server in self.to_buy:
            reason = _exclusion_reason(server, allowed, limits)
            if server.stands_alone and nodes.spreads(server.accelerator, server.accelerator_count):
                reason = reason or STANDS_ALONE
            if not consumer_in_datacentre and holds_consumer_cards(server.accelerator):
                reason = reason or ("" if server.is_workstation else CONSUMER_LICENCE)
                server = replace(server, is_hosted=False)
            if reason:
                excluded.append(f"{server.label}: {reason}")
            else:
                fitting.append(server)
        owned = tuple((s, b) for s, b in self.owned if s.accelerator in allowed)
        excluded += [
            f"{s.label}, already owned: {s.accelerator} {_OTHER_WORK}"
            for s, _ in self.owned
            if s.accelerator not in allowed
        ]
        return ServerSelection(tuple(fitting), owned, self.leased, tuple(excluded))

    def warn_worn_out(self, calendar: Calendar, life_months: int) -> Iterator[str]:
        """Warnings on servers already owned whose useful life was over before the start."""
        for server, batches in self.owned:
            for batch in batches:
                if batch.age_months >= life_months:
                    bought = calendar.month(-batch.age_months)
                    yield (
                        f"{batch.units} × {server.label}, bought {bought:%Y-%m}: the useful life "
                        f"of {life_months} months was over before the start; they serve nothing "
                        "and cost nothing here."
                    )

    def summarize_exclusions(self) -> tuple[str, ...]:
        """The reasons, those that are the same for many servers merged, with their number."""
        others = [reason for reason in self.excluded if _OTHER_WORK not in reason]
        count = len(self.excluded) - len(others)
        short = (f"{count} servers hold an accelerator that {_OTHER_WORK}",) if count else ()
        return (*others, *short)


def holds_consumer_cards(slug: str) -> bool:
    """Whether an accelerator is a consumer card.

    >>> holds_consumer_cards("nvidia-rtx-4090"), holds_consumer_cards("nvidia-l40s")
    (True, False)
    """
    return accelerator(slug).accelerator_class == "consumer"


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
    request: ComparisonRequest, calendar: Calendar, units_per_usd: float, as_used: bool = True
) -> ServerSelection:
    """The servers that the request names, or the whole reference list that is on sale; `as_used`
    tells whether their power is what they draw at work rather than their nameplate."""
    known = _ReferenceList(units_per_usd, as_used)
    named = request.on_prem.servers
    to_buy = known.all_on_sale() if named is None else tuple(_read_named_servers(named, known))
    contract = read_financing(request.on_prem.financing, resolve_rules(request).term_end)
    if contract is not None:
        to_buy = tuple(replace(server, financing=contract) for server in to_buy)
    leased = tuple(
        (one, _find_server(one.server, to_buy, f"existing.leased_servers.{i}.server", known))
        for i, one in enumerate(request.existing.leased_servers)
    )
    owned = tuple(_read_owned_servers(request, to_buy, calendar, known))
    return ServerSelection(to_buy, owned, leased)


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
        source=server.source,
        price_year=server.price_year,
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
    )
    if requested.unit_price is not None:
        server = replace(server, unit_price=requested.unit_price, source="request", price_year=None)
    if requested.accelerator is not None:
        slug = resolve(requested.accelerator, f"{field}.accelerator").slug
        server = replace(server, accelerator=slug)
    if requested.accelerator_count is not None:
        server = replace(server, accelerator_count=requested.accelerator_count)
    return server


def _read_owned_servers(
    request: ComparisonRequest,
    to_buy: Sequence[ServerToBuy],
    calendar: Calendar,
    known: _ReferenceList,
) -> Iterator[tuple[ServerToBuy, tuple[ServerBatch, ...]]]:
    batches: dict[str, list[ServerBatch]] = {}
    servers: dict[str, ServerToBuy] = {}
    for i, requested in enumerate(request.on_prem.already_owned):
        field = f"on_prem.already_owned.{i}"
        server = _find_server(requested.server, to_buy, f"{field}.server", known)
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


def _exclusion_reason(
    server: ServerToBuy, allowed: Mapping[str, float], limits: Constraints
) -> str:
    """Why a server cannot serve, "" if it can."""
    if server.accelerator not in allowed:
        return f"{server.accelerator} {_OTHER_WORK}"
    if server.accelerator_count < allowed[server.accelerator]:
        return f"one job takes {allowed[server.accelerator]:g} accelerators in a node"
    sheet = accelerator(server.accelerator)
    memory, count = limits.min_accelerator_memory_gib, limits.min_accelerators_per_node
    link = limits.interconnect
    if memory is not None and sheet.memory_gib < memory:
        return f"{sheet.memory_gib:g} GiB is less than {_LEAST_MEMORY}"
    if count is not None and server.accelerator_count < count:
        return f"{server.accelerator_count:g} is less than {_LEAST_COUNT}"
    if link is not None and link.lower() not in sheet.interconnect.lower():
        return f"interconnect {sheet.interconnect or 'unknown'} is not {link}"
    return ""
