"""What a plan may choose from and what a commitment costs, unless a request says otherwise. PURE.

A plan keeps to what a practitioner would sign: the commercial partition, CUDA unless other
accelerators are named, no spot unless the work is interruptible, commitments to machines that are
also sold on demand, whole machines by the hour, nodes that hold a job; commitments count in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from planner.contract.accelerator_names import find_software
from planner.contract.amounts import decimals_of
from planner.contract.labels import LIMIT_TITLES, join_place
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import Constraints
from pricing.market.clouds import CLOUD_PARTITIONS, COMMERCIAL, all_clouds, find_partition
from pricing.market.offers import PurchaseOption
from pricing.market.place_names import COUNTRY_GROUPS, PARTITIONS_OF
from pricing.market.snapshot import Region

ANY = "any"
SHORTEST_TERM = 12
"""Months of the shortest commitment that the three clouds sell; 2026."""
LARGEST_NODE = 8
"""Accelerators that one node of a larger job holds at least: the 8 of HGX and DGX systems (NVIDIA
HGX H100 datasheet, 2023)."""
MANY_ACCELERATORS = 32
"""Accelerators at once from which a team that does not say otherwise is taken to work on whole
nodes of linked accelerators; an assumption of this project, 2026."""


@dataclass(frozen=True)
class PlanRules:
    """The rules of one request, defaults filled in."""

    term_end: Literal["full", "within"] = "full"
    """Whether a commitment that ends after the horizon counts in full, or may not be made."""
    partitions: tuple[str, ...] = CLOUD_PARTITIONS
    """Parts of the clouds that may be rented in."""
    software: str = ANY
    """Software stack that accelerators must run."""
    server_software: str = ANY
    """The same of the servers to buy that the request does not name itself."""
    interruptible: bool = True
    """Whether the recommendation may rest on machines that can be taken back."""
    whole_nodes: bool = False
    """Whether machines rented by the hour rent whole."""
    consumer_in_datacentre: bool = True
    """Whether consumer cards may stand in servers of a data centre."""
    accelerators_per_job: int = 1
    """Accelerators that one job takes, on nodes that hold it or `LARGEST_NODE` of it."""
    states_job: bool = False
    """Whether the request says so, of 1 too: a run then takes no more of its machines."""
    links_nodes: bool = False
    """Whether accelerators with fast links come in whole nodes of `LARGEST_NODE`."""
    one_accelerator: bool = False
    """Whether a plan keeps to one kind of accelerator, as sized work is one job on one kind."""
    one_machine: bool = False
    """Whether a plan rents one kind of machine, as people who share nothing have one each."""
    smallest_cents: int = 1
    """Hundredths of the currency in the smallest amount that is paid: 100 in one without cents."""
    all_break_even: bool = False
    """Whether every server is held against every way of renting."""
    is_sized: bool = False
    """Whether the hours come from a model or samples rather than from the team."""
    any_node: bool = False
    """Whether jobs may be spread over nodes of any size and interconnect."""

    @property
    def needs_network(self) -> bool:
        """Whether jobs over many nodes need machines with a network for it."""
        return not self.any_node

    def job_size(self, min_accelerators: int) -> int:
        """Accelerators that one job takes where the sizing needs `min_accelerators` of a kind."""
        return max(self.accelerators_per_job, min_accelerators)


def resolve_rules(request: ComparisonRequest) -> PlanRules:
    """The rules in force for a request: what it says, else the defaults.

    >>> from planner.contract.request.comparison import read_request
    >>> hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    >>> rules = resolve_rules(read_request({"workload": hours}))
    >>> rules.term_end, rules.partitions, rules.software, rules.interruptible, rules.whole_nodes
    ('full', ('commercial',), 'cuda', False, True)
    """
    limits, workload, own = request.constraints, request.workload, request.on_prem
    software = workload.software or _implied_software(request)
    # Accelerators that an interconnect asked for joins: those of the peak, up to a node.
    joined = 1 if limits.interconnect is None else max(1, min(workload.given_peak, LARGEST_NODE))
    options = limits.purchase_options or ()
    is_spot_wanted = (limits.max_spot_share or 0.0) > 0 or any(
        o.is_interruptible or o is PurchaseOption.DWS_FLEX_START for o in options
    )
    may_mix = limits.allow_mixed_accelerators
    one_machine = (
        not workload.is_sized
        and workload.accelerators_per_job == 1
        and not may_mix
        and (limits.min_providers or 1) == 1
        and limits.max_provider_share is None
    )
    return PlanRules(
        term_end=request.term_end
        or ("within" if request.horizon_months < SHORTEST_TERM else "full"),
        partitions=limits.partitions or _default_partitions(request),
        software=software,
        server_software=software if own.servers is None else ANY,
        interruptible=is_spot_wanted if workload.interruptible is None else workload.interruptible,
        whole_nodes=not limits.allow_partial_nodes,
        one_accelerator=not may_mix
        and (workload.is_sized or (may_mix is False and not one_machine)),
        one_machine=one_machine,
        smallest_cents=10 ** (2 - decimals_of(request.currency)),
        all_break_even=request.break_even == "all",
        is_sized=workload.is_sized,
        any_node=bool(limits.allow_any_node),
        consumer_in_datacentre=bool(limits.allow_consumer_in_datacentre),
        accelerators_per_job=workload.accelerators_per_job or joined,
        states_job=workload.accelerators_per_job is not None,
        links_nodes=workload.given_peak >= MANY_ACCELERATORS
        and not (workload.accelerators_per_job or limits.min_accelerators_per_node)
        and not (limits.allow_any_node or limits.allow_partial_nodes),
    )


def _default_partitions(request: ComparisonRequest) -> tuple[str, ...]:
    limits = request.constraints
    named = {
        find_partition(provider, name)
        for name in limits.regions or ()
        for provider, cloud in all_clouds().items()
        if len(cloud.partitions) > 1 and cloud.partition("") == COMMERCIAL
    }
    named |= {find_partition(name, "") for name in limits.providers or ()}
    for area in (*(limits.geographies or ()), *(limits.countries or ())):
        named |= {*PARTITIONS_OF.get(area, ())}
    return (COMMERCIAL, *sorted(named - {COMMERCIAL}))


def _implied_software(request: ComparisonRequest) -> str:
    names = [request.workload.accelerator, *(request.constraints.accelerators or ())]
    stacks = {find_software(name) for name in names if name} - {""}
    if len(stacks) > 1:
        return ANY
    return next(iter(stacks), "cuda")


PLACES = ("regions", "geographies", "countries")
"""Fields of `constraints` that limit places."""
NOWHERE = "custom"
"""Provider and region of an offer or a contract that names none."""


@dataclass(frozen=True)
class PlaceLimit:
    """One limit on places: a place that any of its names covers keeps to it."""

    field: str
    """Field of `constraints` that sets it."""
    names: tuple[str, ...]
    """Its names, as a request gives them."""
    geographies: frozenset[str] = frozenset()
    countries: frozenset[str] = frozenset()
    """ISO 3166-1 alpha-2 codes, those of groups of countries too."""
    regions: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """The limit with its value.

        >>> PlaceLimit("countries", ("DE", "FR")).words
        'the choice of countries (DE, FR)'
        """
        return f"{LIMIT_TITLES[self.field]} ({', '.join(self.names)})"

    def admits(self, region: str, place: Region | None) -> bool:
        """Whether a place keeps to it; one that nobody knows is in its region alone.

        >>> europe = PlaceLimit("geographies", ("europe", "uk"), frozenset({"europe"}))
        >>> europe.admits("eu-west-1", Region("europe", "IE")), europe.admits("eu-west-1", None)
        (True, False)
        """
        return region in self.regions or (
            place is not None
            and (place.geography in self.geographies or place.country in self.countries)
        )

    def can_judge(self, region: str, place: Region | None) -> bool:
        """Whether enough is known of a place to say if it keeps to it.

        >>> german = PlaceLimit("countries", ("DE",), countries=frozenset({"DE"}))
        >>> german.can_judge("somewhere", None), german.can_judge("west", Region("europe", "IE"))
        (False, True)
        """
        if self.regions:
            return region != NOWHERE
        return place is not None and (
            self.admits(region, place) or bool(place.country) or not self.countries
        )


@dataclass(frozen=True)
class PlaceLimits:
    """All limits of a request on places, with where the catalog's regions are."""

    limits: tuple[PlaceLimit, ...] = ()
    regions: Mapping[tuple[str, str], Region] = field(default_factory=dict)
    """(provider, region) → where it is."""

    def admits(self, provider: str, region: str) -> bool:
        place = self.regions.get((provider, region))
        return all(limit.admits(region, place) for limit in self.limits)

    def broken_at(self, provider: str, region: str) -> tuple[PlaceLimit, ...]:
        """The limits that a place which somebody states does not keep to, as far as it is known."""
        place = self.regions.get((provider, region))
        return tuple(
            limit
            for limit in self.limits
            if limit.can_judge(region, place) and not limit.admits(region, place)
        )

    def unknown_at(self, provider: str, region: str) -> tuple[PlaceLimit, ...]:
        """The limits of which too little is known of such a place to tell."""
        place = self.regions.get((provider, region))
        return tuple(limit for limit in self.limits if not limit.can_judge(region, place))

    def describe(self, provider: str, region: str) -> str:
        """A place with its country.

        >>> PlaceLimits(regions={("aws", "eu-west-1"): Region("europe", "IE")}).describe(
        ...     "aws", "eu-west-1"
        ... )
        'AWS eu-west-1 (IE)'
        """
        place = self.regions.get((provider, region))
        country = f" ({place.country})" if place and place.country else ""
        return f"{join_place(provider, region)}{country}"

    @property
    def admitted(self) -> list[Region]:
        return [place for key, place in self.regions.items() if self.admits(*key)]

    @property
    def conflict(self) -> tuple[PlaceLimit, ...]:
        """The fewest limits that no region of the catalog keeps to together, each of which some
        region keeps to; none where some keeps to all."""
        for size in range(2, len(self.limits) + 1):
            for some in combinations(self.limits, size):
                if not self._have_place(some) and all(self._have_place([one]) for one in some):
                    return some
        return ()

    def _have_place(self, limits: Sequence[PlaceLimit]) -> bool:
        some = PlaceLimits(tuple(limits), self.regions)
        return any(some.admits(*key) for key in self.regions)


def describe_conflict(places: PlaceLimits) -> str:
    """That limits leave no place together, as a clause; empty where they leave some.

    >>> regions = {("aws", "west"): Region("europe", "IE"), ("aws", "south"): Region("asia", "IN")}
    >>> limits = Constraints(geographies=["eu"], countries=["IN"])
    >>> describe_conflict(PlaceLimits(read_place_limits(limits), regions))
    'no region of the catalog keeps to the choice of places (eu) and the choice of countries (IN)
    together: widen one of them or leave it out'
    """
    named = [limit.words for limit in places.conflict]
    if not named:
        return ""
    listed = f"{', '.join(named[:-1])} and {named[-1]}"
    return f"no region of the catalog keeps to {listed} together: widen one of them or leave it out"


def read_place_limits(constraints: Constraints) -> tuple[PlaceLimit, ...]:
    """The limits on places.

    >>> limits = Constraints(geographies=["north-america", "uk"], countries=["US", "GB"])
    >>> for one in read_place_limits(limits):
    ...     print(one.field, sorted(one.geographies), sorted(one.countries))
    geographies ['north-america'] ['GB']
    countries [] ['GB', 'US']
    """
    lists = ((name, getattr(constraints, name)) for name in PLACES)
    return tuple(
        PlaceLimit(name, names, *_read_names(name, names)) for name, names in lists if names
    )


def limit_places(
    request: ComparisonRequest, regions: Mapping[tuple[str, str], Region]
) -> PlaceLimits:
    return PlaceLimits(read_place_limits(request.constraints), regions)


def _read_names(
    name: str, names: tuple[str, ...]
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    every, nothing = frozenset(names), frozenset[str]()
    if name == "regions":
        return nothing, nothing, every
    if name == "countries":
        return nothing, every, nothing
    groups = every & COUNTRY_GROUPS.keys()
    return every - groups, nothing.union(*(COUNTRY_GROUPS[group] for group in groups)), nothing
