"""The servers of a request: what may be bought, what is already owned, what does not fit. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from planner.contract.accelerator_names import find_software
from planner.contract.amounts import count_months, number_month
from planner.contract.copies import cached_property, replace
from planner.contract.labels import LIMIT_TITLES
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import Constraints
from planner.contract.request.finance import Financing as RequestedFinancing
from planner.contract.request.on_prem import LeasedServer, OnPrem, Server
from planner.contract.request.rules import ANY, PlanRules, resolve_rules
from planner.costing.assumptions import reference_servers as reference
from planner.costing.assumptions.assumptions import LEAD_TIMES, Assumptions, default, lead_months
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.ownership import (
    DatedPrice,
    DeliveryRisk,
    PriceRange,
    ServerBatch,
    ServerToBuy,
    build_existing_server_source,
    build_server_source,
    range_of_quotes,
    read_financing,
)
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.job_nodes import JobNodes, usable_accelerators
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market.accelerators import get as accelerator
from pricing.market.accelerators import resolve

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
MOST_NAMED = 3
"""Servers of one kind of contract that a sentence names."""
_OTHER_WORK = "does not serve this workload"
SERVES_NOBODY = (
    "workstations: a service for others runs in racks, with their power, network and hands "
    "(name a workstation in on_prem.servers to count it)"
)


@dataclass(frozen=True)
class ServerSelection:
    """Servers as the request wants them."""

    to_buy: tuple[ServerToBuy, ...]
    owned: tuple[tuple[ServerToBuy, tuple[ServerBatch, ...]], ...] = ()
    leased: tuple[tuple[LeasedServer, ServerToBuy], ...] = ()
    """Those on lease, with the server that each is."""
    excluded: tuple[str, ...] = ()
    """Why servers that were asked for, or are on the list, do not fit."""
    notes: tuple[str, ...] = ()
    """What to know of servers left out whose terms the request could change."""

    @property
    def by_key(self) -> dict[str, ServerToBuy]:
        """Each server by the key of its source."""
        bought = {f"server:{server.slug}": server for server in self.to_buy}
        owned = {f"owned:{server.slug}": server for server, _ in self.owned}
        leased = {f"leased:{i}:{one.slug}": one for i, (_, one) in enumerate(self.leased)}
        return bought | owned | leased

    @cached_property
    def unsure(self) -> dict[str, ServerToBuy]:
        """Servers to buy whose price or delivery may be another than planned, by the key of their
        source."""
        servers = {f"server:{server.slug}": server for server in self.to_buy}
        return {key: one for key, one in servers.items() if one.price_range or one.delivery}

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
            usable = _usable_accelerators(count, sizes.get(server.accelerator, 1))
            return throughput[server.accelerator] * server.speed * (usable / count)

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
        self, nodes: JobNodes, limits: Constraints, consumer_in_datacentre: bool = True
    ) -> ServerSelection:
        """The fleet without the servers that a limit excludes, each with the reason.

        `nodes` are the machines that the work runs on. Without `consumer_in_datacentre` consumer
        cards stand in workstations alone, outside any data centre.
        """
        fitting, excluded = [], list(self.excluded)
        allowed = nodes.min_accelerators
        for server in self.to_buy:
            reason = _exclusion_reason(server, allowed, limits)
            if nodes.rules.server_software not in (ANY, find_software(server.accelerator)):
                reason = f"{server.accelerator} {_OTHER_WORK}"
            if server.stands_alone and nodes.spreads(server.accelerator, server.accelerator_count):
                reason = reason or STANDS_ALONE
            if not consumer_in_datacentre and holds_consumer_cards(server.accelerator):
                reason = reason or ("" if server.is_workstation else CONSUMER_LICENCE)
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
        return ServerSelection(tuple(fitting), owned, self.leased, tuple(excluded), self.notes)

    def without_long_leases(self, calendar: Calendar, assumptions: Assumptions) -> ServerSelection:
        """The fleet without servers whose lease would not end within the plan, where it must."""
        too_long: dict[tuple[int, int], list[ServerToBuy]] = {}
        for server in self.to_buy:
            lead = lead_months(
                server.assumptions(assumptions), comes_from_stock=server.comes_from_stock
            )
            terms = server.financing
            if terms is None or not terms.is_lease or terms.term_end != "within":
                continue
            if lead + terms.months > calendar.months:
                too_long.setdefault((terms.months, lead), []).append(server)
        notes = tuple(
            _describe_long_lease([server.label for server in servers], *terms, calendar.months)
            for terms, servers in too_long.items()
        )
        left_out = [server for servers in too_long.values() for server in servers]
        return replace(
            self,
            to_buy=tuple(server for server in self.to_buy if server not in left_out),
            excluded=(*self.excluded, *notes),
            notes=(*self.notes, *notes),
        )

    def warnings(self, calendar: Calendar, assumptions: Assumptions) -> Iterator[str]:
        """Warnings on servers whose lease is too long, and on those already owned whose useful life
        is over before the plan is."""
        yield from self.notes
        for server, batches in self.owned:
            life_months = int(server.assumptions(assumptions)["useful_life_months"])
            for batch in batches:
                left = life_months - batch.age_months
                if left < calendar.months:
                    over = f"is over in {calendar.month(left):%B %Y}"
                    yield (
                        f"{batch.units} × {server.label}: the useful life of "
                        f"{pluralize(life_months, 'month')} "
                        f"{over if left > 0 else 'was over before the start'}; after it they serve "
                        "nothing and cost nothing here. If they work longer, give "
                        "on_prem.useful_life_months."
                    )

    def summarize_exclusions(self) -> tuple[str, ...]:
        """The reasons, those that are the same for many servers merged, with their number."""
        others = [reason for reason in self.excluded if _OTHER_WORK not in reason]
        count = len(self.excluded) - len(others)
        hold = f"{pluralize(count, 'server')} {'holds' if count == 1 else 'hold'}"
        short = (f"{hold} an accelerator that {_OTHER_WORK}",) if count else ()
        return (*others, *short)


@lru_cache(maxsize=256)
def _usable_accelerators(count: float, job_size: float) -> float:
    return float(usable_accelerators(count, job_size))


def holds_consumer_cards(slug: str) -> bool:
    """Whether an accelerator is a consumer card.

    >>> holds_consumer_cards("nvidia-rtx-4090"), holds_consumer_cards("nvidia-l40s")
    (True, False)
    """
    return accelerator(slug).accelerator_class == "consumer"


def _describe_long_lease(labels: Sequence[str], length: int, lead: int, months: int) -> str:
    """That servers cannot be leased within the plan, and what would let them.

    >>> _describe_long_lease(["Box"], 36, 0, 24)[:53]
    'The lease of Box runs 36 months, so it does not end w'
    >>> _describe_long_lease(["Box", "Other"], 36, 2, 24)[:70]
    'The lease of 2 servers (Box, Other) runs 36 months and begins 2 months'
    """
    some = ", ".join(labels[:MOST_NAMED]) + (" …" if len(labels) > MOST_NAMED else "")
    whose = some if len(labels) == 1 else f"{len(labels)} servers ({some})"
    wait = f" and begins {pluralize(lead, 'month')} after it is signed" if lead else ""
    shorter = f"a lease of at most {pluralize(months - lead, 'month')}, " if lead < months else ""
    return (
        f"The lease of {whose} runs {pluralize(length, 'month')}{wait}, so it does not end within "
        f'the plan of {pluralize(months, "month")}, as term_end "within" asks: take {shorter}a '
        f'plan of {length + lead} months or more, or term_end "full".'
    )


def _exclusion_reason(
    server: ServerToBuy, allowed: Mapping[str, float], limits: Constraints
) -> str:
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


IDLE_SHARE = 0.15
"""Idle over maximum power of a server whose idle power is not given: 1.0 of 6.667 kW of a DGX
GB200 compute tray (NVIDIA DPS device specifications, 2025)."""


MONTHS_OPEN = 3
"""Months in which quotes of several sellers compete; advice of this project, 2026."""


@dataclass(frozen=True)
class _ReferenceList:
    units_per_usd: float
    rules: PlanRules

    def is_at_desk(self, accelerator: str) -> bool:
        return holds_consumer_cards(accelerator) and not self.rules.consumer_in_datacentre

    def all_on_sale(self) -> tuple[ServerToBuy, ...]:
        return tuple(self._read(s) for s in reference.all_servers() if s.on_sale)

    def get(self, slug: str, field: str) -> ServerToBuy:
        return self._read(reference.get(slug, field))

    def _read(self, server: reference.Server) -> ServerToBuy:
        bought = ServerToBuy(
            slug=server.slug,
            label=server.name,
            accelerator=server.accelerator,
            accelerator_count=float(server.accelerator_count),
            unit_price=server.unit_price_usd * self.units_per_usd,
            power_kw=server.power_kw,
            idle_power_kw=server.idle_power_kw,
            is_workstation=server.server_class == "workstation",
            comes_from_stock=server.server_class == "workstation",
            stands_alone=server.server_class == "workstation",
            is_at_desk=server.server_class == "workstation" or self.is_at_desk(server.accelerator),
            reference=server.slug,
            source=server.source,
            price_year=server.price_year,
            rack_units=float(server.rack_units),
        )
        typical, idle = server.typical_power_kw, server.measured_idle_power_kw
        idle = bought.idle_power_kw if idle is None else idle
        if typical is None:
            typical = max(idle, server.power_kw * default("server_power_load_fraction").value)
        return replace(bought, typical_power_kw=typical, idle_power_kw=idle)


def select_servers(
    request: ComparisonRequest, calendar: Calendar, units_per_usd: float, assumptions: Assumptions
) -> ServerSelection:
    """The servers that the request names, or the whole reference list that is on sale. Their power
    is what they draw at work rather than their nameplate."""
    rules = resolve_rules(request)
    known = _ReferenceList(units_per_usd, rules)
    named = request.on_prem.servers
    risks = ServerRisks(assumptions, units_per_usd)
    excluded: tuple[str, ...] = ()
    if named is not None:
        to_buy = tuple(_read_named_servers(request.on_prem, known))
    else:
        to_buy = known.all_on_sale()
        if request.workload.kind == "serving":
            to_buy = tuple(server for server in to_buy if not server.is_workstation)
            excluded = (SERVES_NOBODY,)
    term_end = rules.term_end
    contract = read_financing(request.on_prem.financing, term_end)
    requested: Sequence[Server | None] = named or [None] * len(to_buy)
    own = [None if one is None else one.financing for one in requested]
    to_buy = tuple(
        risks.add(
            replace(
                server,
                financing=contract if terms is None else read_financing(terms, term_end),
                is_at_desk=server.is_at_desk or known.is_at_desk(server.accelerator),
                speed=1.0 if one is None else one.speed,
                order_months=_order_months(
                    request, calendar, one, (request.on_prem.financing if terms is None else terms)
                ),
            ),
            one,
        )
        for server, terms, one in zip(to_buy, own, requested, strict=True)
    )
    leased = [
        (one, _find_server(one.server, to_buy, f"existing.leased_servers.{i}.server", known))
        for i, one in enumerate(request.existing.leased_servers)
    ]
    owned = tuple(_read_owned_servers(request, to_buy, known, calendar, assumptions))
    _check_heights(request, to_buy)
    return ServerSelection(to_buy, owned, tuple(leased), excluded)


def _order_months(
    request: ComparisonRequest,
    calendar: Calendar,
    server: Server | None,
    contract: RequestedFinancing,
) -> tuple[int, ...] | None:
    months = range(calendar.months)
    if server is not None and server.available_from is not None:
        months = range(max(0, calendar.index(server.available_from)), calendar.months)
    named = [calendar.index(month) for month in request.constraints.capex_months]
    if not named or contract.method == "lease":
        return None if months.start == 0 else tuple(months)
    if not any(0 <= month < calendar.months for month in named):
        last = calendar.month(calendar.months - 1)
        raise InvalidInput(
            "constraints.capex_months",
            f"names no month from {calendar.start:%Y-%m} to {last:%Y-%m}; name one",
        )
    return tuple(month for month in months if month in named)


def _check_heights(request: ComparisonRequest, to_buy: Sequence[ServerToBuy]) -> None:
    if request.constraints.rack_units is None:
        return
    for i, server in enumerate(to_buy if request.on_prem.servers is not None else ()):
        if server.rack_units is None:
            field = f"on_prem.servers.{i}.rack_units"
            raise InvalidInput(field, "is required of a server where rack units are limited")


def _read_named_servers(own: OnPrem, known: _ReferenceList) -> Iterator[ServerToBuy]:
    seen: dict[str, RequestedFinancing] = {}
    for i, requested in enumerate(own.servers or ()):
        field = f"on_prem.servers.{i}"
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
        server = _apply_overrides(base, requested, field)
        if server.slug in seen:
            paid, first = _describe_payment(requested.financing or own.financing), server.slug
            server = replace(server, slug=f"{first} {paid}", label=f"{server.label} ({paid})")
            if server.slug in seen or paid == _describe_payment(seen[first]):
                other = "a label or " if requested.server == "custom" else ""
                raise InvalidInput(
                    f"on_prem.servers.{i}.server",
                    f"{first!r} is given twice; give it {other}financing of its own",
                )
        seen[server.slug] = requested.financing or own.financing
        yield server


def _describe_payment(terms: RequestedFinancing) -> str:
    method = terms.method.replace("_", " ")
    return f"{method} of {pluralize(terms.months, 'month')}" if terms.months else method


def _apply_overrides(base: ServerToBuy, requested: Server, field: str) -> ServerToBuy:
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
                f"{field}.typical_power_kw", f"{typical:g} kW is more than the {power:g} kW at load"
            )
        # A reference server whose idle power alone is given draws at least that at work.
        typical = max(typical, idle)
    terms = requested.financing
    stated = {
        "lead_time_months": requested.lead_time_months,
        "workstation_lead_time_months": requested.lead_time_months,
        "useful_life_months": requested.useful_life_months,
        "server_price_trend_per_year": requested.price_trend_per_year,
        "interest_rate_per_year": None if terms is None else terms.interest_rate_per_year,
    }
    server = replace(
        base,
        power_kw=power,
        idle_power_kw=idle,
        typical_power_kw=typical,
        running_cost_per_hour=requested.running_cost_per_hour,
        max_units=requested.max_units,
        rack_units=base.rack_units if requested.rack_units is None else requested.rack_units,
        own_figures=tuple((k, float(v)) for k, v in stated.items() if v is not None),
    )
    newest = max((one.quoted for one in requested.quotes), default=None)
    still_open = [
        one.unit_price
        for one in requested.quotes
        if newest and count_months(one.quoted, newest) < MONTHS_OPEN
    ]
    price = min(still_open, default=None) if requested.unit_price is None else requested.unit_price
    if price is not None:
        server = replace(server, unit_price=price, source="request", price_year=None)
    if requested.accelerator is not None:
        slug = resolve(requested.accelerator, f"{field}.accelerator").slug
        server = replace(server, accelerator=slug)
    if requested.accelerator_count is not None:
        server = replace(server, accelerator_count=requested.accelerator_count)
    return server


def _read_owned_servers(
    request: ComparisonRequest,
    to_buy: Sequence[ServerToBuy],
    known: _ReferenceList,
    calendar: Calendar,
    assumptions: Assumptions,
) -> Iterator[tuple[ServerToBuy, tuple[ServerBatch, ...]]]:
    batches: dict[str, list[ServerBatch]] = {}
    servers: dict[str, ServerToBuy] = {}
    for i, requested in enumerate(request.on_prem.already_owned):
        field = f"on_prem.already_owned.{i}"
        server = _find_server(requested.server, to_buy, f"{field}.server", known)
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
        if requested.units:
            batch = ServerBatch(requested.units, age, requested.resale_value, i)
            batches.setdefault(server.slug, []).append(batch)
    for slug in sorted(batches):
        yield servers[slug], tuple(batches[slug])


def _find_server(
    name: str, to_buy: Sequence[ServerToBuy], field: str, known: _ReferenceList
) -> ServerToBuy:
    for server in to_buy:
        if name in (server.slug, server.label):
            return server
    return known.get(name, field)


@dataclass(frozen=True)
class ServerRisks:
    """The risks that a request states, and those that are assumed where it does not."""

    assumptions: Assumptions
    units_per_usd: float

    def add(self, server: ServerToBuy, requested: Server | None) -> ServerToBuy:
        """A server with the range of its price and of its delivery; `requested` is what the
        request says of it."""
        delivery = self._delivery(server, requested)
        server = replace(server, price_range=self._price_range(server, requested))
        months = 0 if delivery is None else delivery.certain_months
        if months:
            return self._wait_longer(server, months)
        return replace(server, delivery=delivery)

    def _wait_longer(self, server: ServerToBuy, months: int) -> ServerToBuy:
        own = server.assumptions(self.assumptions)
        lead = float(lead_months(own, comes_from_stock=server.comes_from_stock) + months)
        figures = dict(server.own_figures) | dict.fromkeys(LEAD_TIMES, lead)
        return replace(
            server, own_figures=tuple(figures.items()), certain_delay_months=months, delivery=None
        )

    def _price_range(self, server: ServerToBuy, requested: Server | None) -> PriceRange | None:
        if requested is not None and requested.quotes:
            own = [
                DatedPrice(one.unit_price, number_month(one.quoted.year, one.quoted.month))
                for one in requested.quotes
            ]
            return range_of_quotes(server.unit_price, own)
        spread = self.assumptions["server_price_spread"]
        if server.source == "request" or not spread:
            return None
        known = reference.get(server.reference).quotes if server.reference else ()
        seen = [DatedPrice(one.unit_price_usd * self.units_per_usd, one.months) for one in known]
        quoted = range_of_quotes(server.unit_price, seen) or PriceRange(1.0, 1.0)
        return PriceRange(
            min(quoted.low, 1.0 - spread), max(quoted.high, 1.0 + spread), quoted.quotes
        )

    def _delivery(self, server: ServerToBuy, requested: Server | None) -> DeliveryRisk | None:
        own = None if requested is None else requested.late_delivery
        if own is not None:
            if own.months is not None:
                return DeliveryRisk(own.months, own.probability)
            return DeliveryRisk(own.p90_months or 0.0, least_months=own.p10_months or 0.0)
        is_stated = self.assumptions.is_from_request
        is_agreed = is_stated("lead_time_months") or (
            requested is not None and requested.lead_time_months is not None
        )
        if is_stated("late_delivery_probability") or is_stated("late_delivery_months"):
            chance = self.assumptions["late_delivery_probability"]
            months = self.assumptions["late_delivery_months"]
            return DeliveryRisk(months, chance) if chance and months else None
        if is_agreed or server.comes_from_stock:
            return None
        return DeliveryRisk.quoted(lead_months(self.assumptions, comes_from_stock=False))
