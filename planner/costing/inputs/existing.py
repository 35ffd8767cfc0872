"""Commitments signed and servers on lease: sources that are paid for whatever the plan. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.months import count_months
from planner.contract.place_limits import PlaceLimits
from planner.contract.request.existing import ExistingCommitment, LeasedServer
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import Stream
from planner.costing.cost_model.ownership import build_existing_server_source
from planner.costing.cost_model.rental import build_charges_beside_rent
from planner.costing.cost_model.server import ServerBatch, ServerToBuy
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar, Term
from planner.costing.inputs.job_nodes import usable_accelerators
from pricing.common.copies import replace
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
        """[L] 1 in the months in which a contract is paid."""
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
    """A source that serves nothing and is paid for."""
    return replace(source, capacity=0.0, term=None, existing=None, max_units=None, hour_charges=())
