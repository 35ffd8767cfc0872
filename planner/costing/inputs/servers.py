"""The servers of a request: what may be bought, what is already owned, what does not fit. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from planner.contract.labels import LIMIT_TITLES
from planner.contract.request.constraints import Constraints
from planner.contract.request.existing import LeasedServer
from planner.contract.request.rules import ANY
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.assumptions.lead_time import lead_months
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.ownership import build_existing_server_source, build_server_source
from planner.costing.cost_model.server import ServerBatch, ServerToBuy
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.job_nodes import JobNodes, usable_accelerators
from pricing.common.copies import replace
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import find_software
from pricing.market.accelerators import get as accelerator

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
            if nodes.rules.server_software not in (ANY, find_software(server.accelerator)):
                reason = f"{server.accelerator} {_OTHER_WORK}"
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
        was over before the start."""
        yield from self.notes
        for server, batches in self.owned:
            life_months = int(server.assumptions(assumptions)["useful_life_months"])
            for batch in batches:
                if batch.age_months >= life_months:
                    bought = calendar.month(-batch.age_months)
                    yield (
                        f"{batch.units} × {server.label}, bought {bought:%Y-%m}: the useful life "
                        f"of {pluralize(life_months, 'month')} was over before the start; they "
                        "serve nothing and cost nothing here."
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
    """Those of one server, which every change of circumstances asks for again."""
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
