"""Commitments signed and servers on lease: sources that are paid for whatever the plan. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import count_months
from planner.contract.answer.common import Category
from planner.contract.copies import replace
from planner.contract.request.constraints import Constraints
from planner.contract.request.on_prem import ExistingCommitment, LeasedServer
from planner.contract.request.rules import PlaceLimits
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import Stream
from planner.costing.cost_model.ownership import (
    ServerBatch,
    ServerToBuy,
    build_existing_server_source,
)
from planner.costing.cost_model.rental import build_charges_beside_rent
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar, Term
from planner.costing.inputs.job_nodes import usable_accelerators
from planner.costing.optimizer.problem import (
    CommitmentOption,
    LeastGroups,
    PlanProblem,
    Quota,
    RentalOption,
)
from pricing.market.accelerators import resolve
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption

Floats = NDArray[np.float64]
SIGNED = "signed"
"""Machine of a contract, whose own is not known: its label is shown instead."""
SOURCE = "request"


@dataclass(frozen=True)
class ExistingContracts:
    """What is signed, with the hardware that it stands for."""

    commitments: tuple[ExistingCommitment, ...] = ()
    leases: tuple[tuple[LeasedServer, ServerToBuy], ...] = ()
    ends: tuple[dt.date, ...] = ()
    """Last month of each contract."""
    term_end: str = "full"
    """What counts of what is owed after the horizon: all of it, or nothing."""
    places: PlaceLimits = field(default_factory=PlaceLimits)
    """The limits on places that commitments serve in."""

    @property
    def accelerators(self) -> frozenset[str]:
        """Slugs of the accelerators that are there."""
        committed = {_slug(i, one) for i, one in enumerate(self.commitments)}
        return frozenset(committed | {server.accelerator for _, server in self.leases})

    def build_sources(
        self,
        throughput: Mapping[str, float],
        assumptions: Assumptions,
        calendar: Calendar,
        job_sizes: Mapping[str, int],
        data: CloudData,
        hours: Floats,
    ) -> Iterator[CapacitySource]:
        """Sources whose payments are due whatever the plan; of an accelerator that does not do the
        work, or in a place that may not be used, the payments alone."""
        for i, one in enumerate(self.commitments):
            slug = _slug(i, one)
            source = self._commitment(one, slug, assumptions, calendar)
            if slug in throughput and not self.places.broken_at(one.provider, one.region):
                usable = float(usable_accelerators(one.accelerator_count, job_sizes.get(slug, 1)))
                source = replace(source, capacity=throughput[slug] * usable)
                beside = build_charges_beside_rent(source, assumptions, calendar, hours, data)
                yield replace(source, hour_charges=beside)
            else:
                yield _payments_alone(source)
        for number, (lease, server) in enumerate(self.leases):
            yield self._lease(lease, server, number, throughput, assumptions, calendar, job_sizes)

    def last_month(self, start: dt.date) -> int:
        """Months from `start` to the end of the last contract."""
        return max((count_months(start, month) + 1 for month in self.ends), default=0)

    def _commitment(
        self, one: ExistingCommitment, slug: str, assumptions: Assumptions, calendar: Calendar
    ) -> CapacitySource:
        offer = Offer(
            provider=one.provider,
            region=one.region,
            instance_type=SIGNED,
            accelerator=slug,
            accelerator_count=Fraction(str(one.accelerator_count)).limit_denominator(1000),
            purchase_option=PurchaseOption.RESERVED,
            price_per_hour=Decimal(0),
            zone=one.label,
            term_months=max(1, calendar.index(one.ends) + 1),
            source=SOURCE,
        )
        charged = self._months(calendar, calendar.index(one.ends) + 1)
        price = one.price_per_month / HOURS_PER_MONTH
        bill = Stream(
            Category.COMMITMENT,
            one.label,
            "node-hours",
            one.units * HOURS_PER_MONTH * charged,
            np.full(calendar.length, price),
        )
        rate = assumptions["cloud_support_rate"]
        support = Stream(
            Category.SUPPORT,
            f"Support plan: {one.label}",
            "of the bill",
            one.units * one.price_per_month * charged,
            np.full(calendar.length, rate),
        )
        existing = _in_service(one.units, calendar, calendar.index(one.ends) + 1)
        return CapacitySource(
            key=offer.id,
            label=one.label,
            purchase_option=PurchaseOption.RESERVED,
            accelerator=slug,
            accelerators=float(one.accelerator_count),
            capacity=float(one.accelerator_count),
            instance_type=SIGNED,
            offer=offer,
            price_per_hour=price,
            term=Term(calendar.months, calendar.length, 0, max(1, calendar.months)),
            max_units=0,
            existing=existing,
            fixed_streams=(bill, support) if rate else (bill,),
        )

    def _lease(
        self,
        lease: LeasedServer,
        server: ServerToBuy,
        number: int,
        throughput: Mapping[str, float],
        assumptions: Assumptions,
        calendar: Calendar,
        job_sizes: Mapping[str, int],
    ) -> CapacitySource:
        count, slug = server.accelerator_count, server.accelerator
        usable = float(usable_accelerators(count, job_sizes.get(slug, 1))) / count
        ends = calendar.index(lease.ends) + 1
        life = int(server.assumptions(assumptions)["useful_life_months"])
        batch = ServerBatch(lease.units, life - min(max(ends, 0), calendar.months))
        source = build_existing_server_source(
            server, (batch,), throughput.get(slug, 1.0) * usable, assumptions, calendar
        )
        streams = [s for s in source.fixed_streams if s.category is not Category.RESIDUAL]
        rent = Stream(
            Category.LEASE,
            f"Lease: {server.label}",
            "server-months",
            lease.units * self._months(calendar, ends),
            np.full(calendar.length, float(lease.rent_per_month)),
        )
        source = replace(
            source,
            key=f"leased:{number}:{server.slug}",
            label=f"{server.label}, on lease",
            existing=_in_service(lease.units, calendar, ends),
            fixed_streams=(rent, *streams),
        )
        return source if slug in throughput else _payments_alone(source)

    def _months(self, calendar: Calendar, ends: int) -> Floats:
        last = calendar.length if self.term_end == "full" else calendar.months
        return np.asarray(np.arange(calendar.length) < min(max(ends, 0), last), dtype=np.float64)


def warn_of_places(commitments: Iterable[ExistingCommitment], places: PlaceLimits) -> Iterator[str]:
    """Which commitments may not serve where they are, and which limits cannot judge one."""
    for one in commitments:
        place = one.provider, one.region
        for limit in places.broken_at(*place):
            yield (
                f"The commitment {one.label!r} is paid for and serves nothing: "
                f"{places.describe(*place)} is outside {limit.words}."
            )
        for limit in places.unknown_at(*place):
            words = limit.words
            yield (
                f"{words[0].upper()}{words[1:]} does not bind the commitment {one.label!r}, whose "
                "place is not known."
            )


def _slug(number: int, one: ExistingCommitment) -> str:
    return resolve(one.accelerator, f"existing.commitments.{number}.accelerator").slug


def _in_service(units: int, calendar: Calendar, ends: int) -> NDArray[np.int64]:
    return np.where(np.arange(calendar.months) < ends, units, 0).astype(np.int64)


def _payments_alone(source: CapacitySource) -> CapacitySource:
    return replace(source, capacity=0.0, term=None, existing=None, max_units=None, hour_charges=())


OWN_SERVERS = "own servers"
"""Group of the servers that the team owns or has on lease."""
_ROOM = ("power_kw", "rack_units")
Option = TypeVar("Option", RentalOption, CommitmentOption)


@dataclass(frozen=True)
class SupplyLimits:
    """What providers may supply and own servers have room for; by default nothing is limited."""

    max_provider_share: float | None = None
    min_providers: int = 1
    min_provider_share: float = 0.0
    room: tuple[tuple[str, float], ...] = ()
    """Each limit on the room of own servers, and its amount."""

    @classmethod
    def read(cls, limits: Constraints) -> SupplyLimits:
        """Those of a request."""
        stated = ((name, getattr(limits, name)) for name in _ROOM)
        share = limits.max_provider_share
        return cls(
            None if share == 1.0 else share,
            limits.min_providers or 1,
            limits.least_provider_share,
            tuple((f"constraints.{name}", float(x)) for name, x in stated if x is not None),
        )

    @property
    def tells_providers_apart(self) -> bool:
        """Whether it matters which provider does the work."""
        return self.max_provider_share is not None or self.min_providers > 1

    def apply(
        self,
        problem: PlanProblem,
        sources: Mapping[str, CapacitySource],
        servers: Mapping[str, ServerToBuy],
    ) -> PlanProblem:
        """The problem under these limits; `servers` are those behind the sources, by key."""
        if not self.room and not self.tells_providers_apart:
            return problem

        def sizes_of(option: RentalOption | CommitmentOption) -> dict[str, float]:
            server, sizes = servers.get(option.key), dict[str, float]()
            for limit, _ in self.room:
                if server is not None:
                    by_power = limit.endswith(_ROOM[0])
                    sizes[limit] = server.power_kw if by_power else server.rack_units or 0.0
            if self.tells_providers_apart:
                sizes[_supplier(sources[option.key])] = option.capacity
            return sizes

        rentals = tuple(_join(one, sizes_of(one)) for one in problem.rental_options)
        units = tuple(_join(one, sizes_of(one)) for one in problem.units)
        quotas = tuple(Quota(field, amount) for field, amount in self.room)
        suppliers: Sequence[str] = ()
        if self.tells_providers_apart:
            keys = [one.key for one in rentals] + [one.key for one in units]
            suppliers = sorted({_supplier(sources[key]) for key in keys})
        share = self.max_provider_share or float("inf")
        quotas += tuple(
            Quota(name, float("inf") if name == OWN_SERVERS else share, is_share=True)
            for name in suppliers
        )
        least = LeastGroups(tuple(suppliers), self.min_providers, self.min_provider_share)
        return replace(
            problem,
            rental_options=rentals,
            units=units,
            quotas=(*problem.quotas, *quotas),
            least_groups=least if self.min_providers > 1 else None,
        )


NO_LIMITS = SupplyLimits()
"""Nothing is limited."""


def _supplier(source: CapacitySource) -> str:
    return OWN_SERVERS if source.is_owned else f"provider {source.provider}"


def _join(option: Option, sizes: Mapping[str, float]) -> Option:
    return replace(
        option,
        limit_groups=(*(g for g in option.limit_groups if g not in sizes), *sizes),
        limit_sizes={**option.limit_sizes, **sizes},
    )
