"""Limits on who supplies the machines and on the sites where owned ones stand. PURE.

Each is a group of sources with a quota of the optimiser: kW of nameplate power and rack units of
servers in service, and reference accelerators of each provider as a share of the month's work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from planner.contract.request.constraints import MIN_PROVIDER_SHARE, Constraints, SiteLimit
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.server import ServerToBuy
from planner.costing.optimizer.problem import (
    CommitmentOption,
    LeastGroups,
    PlanProblem,
    Quota,
    RentalOption,
)

OWN_SERVERS = "own servers"
"""Group of the servers that the team owns or has on lease."""
_ROOM = ("power_kw", "rack_units")
Option = TypeVar("Option", RentalOption, CommitmentOption)


@dataclass(frozen=True)
class SupplyLimits:
    """What providers and sites may supply; nothing is limited by default."""

    max_provider_share: float | None = None
    min_providers: int = 1
    min_provider_share: float = MIN_PROVIDER_SHARE
    room: tuple[tuple[str, str, float], ...] = ()
    """Field of each limit on room, the site it holds for ("" for all), and its amount."""

    @classmethod
    def read(cls, limits: Constraints) -> SupplyLimits:
        """Those of a request."""
        return cls(
            limits.max_provider_share,
            limits.min_providers or 1,
            limits.min_provider_share or MIN_PROVIDER_SHARE,
            tuple(_read_room(limits)),
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
            sizes = dict(self._room_taken(servers.get(option.key)))
            if self.tells_providers_apart:
                sizes[_supplier(sources[option.key])] = option.capacity
            return sizes

        rentals = tuple(_join(one, sizes_of(one)) for one in problem.rental_options)
        units = tuple(_join(one, sizes_of(one)) for one in problem.units)
        quotas = tuple(Quota(field, amount) for field, _, amount in self.room)
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

    def _room_taken(self, server: ServerToBuy | None) -> Iterator[tuple[str, float]]:
        """What one server takes of each limit on room."""
        for field, site, _ in self.room if server is not None else ():
            assert server is not None
            if site in ("", server.site):
                by_power = field.endswith(_ROOM[0])
                yield field, server.power_kw if by_power else server.rack_units or 0.0


NO_LIMITS = SupplyLimits()
"""Nothing is limited."""


def _read_room(limits: Constraints) -> Iterator[tuple[str, str, float]]:
    parts: list[tuple[str, str, Constraints | SiteLimit]] = [("constraints", "", limits)]
    parts += [(f"constraints.sites.{i}", one.site, one) for i, one in enumerate(limits.sites)]
    for path, site, part in parts:
        for name in _ROOM:
            amount = getattr(part, name)
            if amount is not None:
                yield f"{path}.{name}", site, float(amount)


def _supplier(source: CapacitySource) -> str:
    return OWN_SERVERS if source.is_owned else f"provider {source.provider}"


def _join(option: Option, sizes: Mapping[str, float]) -> Option:
    return replace(
        option,
        limit_groups=(*(g for g in option.limit_groups if g not in sizes), *sizes),
        limit_sizes={**option.limit_sizes, **sizes},
    )
