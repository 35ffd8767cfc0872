"""Which places keep to the limits of a request. PURE.

A place is allowed if it is in any of `geographies`, be they wide ones or groups of countries, in
any of `countries` and in any of `regions`, of those of the three that a request gives: names of one
list are alternatives, and the lists narrow each other. Nothing else says where a plan may run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from planner.contract.labels import LIMIT_TITLES, join_place
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import Constraints
from pricing.market.places import COUNTRY_GROUPS
from pricing.market.snapshot import Region

PLACE_RULES = 6
"""Edition of the rules from which names of one list are alternatives and lists narrow each other;
before, groups of countries widened `countries` and narrowed wide geographies, and private offers
kept to `regions` and to the names of `geographies` alone."""
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
        """Whether a place keeps to every limit."""
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
        """The catalog's regions that keep to every limit."""
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
    >>> describe_conflict(PlaceLimits(read_place_limits(limits, 6), regions))
    'no region of the catalog keeps to the choice of places (eu) and the choice of countries (IN)
    together: widen one of them or leave it out'
    """
    named = [limit.words for limit in places.conflict]
    if not named:
        return ""
    listed = f"{', '.join(named[:-1])} and {named[-1]}"
    return f"no region of the catalog keeps to {listed} together: widen one of them or leave it out"


def read_place_limits(constraints: Constraints, rules: int) -> tuple[PlaceLimit, ...]:
    """The limits on places under an edition of the rules.

    >>> limits = Constraints(geographies=["north-america", "uk"], countries=["US", "GB"])
    >>> for one in read_place_limits(limits, 6):
    ...     print(one.field, sorted(one.geographies), sorted(one.countries))
    geographies ['north-america'] ['GB']
    countries [] ['GB', 'US']
    """
    if rules < PLACE_RULES:
        return _read_first(constraints)
    return tuple(
        PlaceLimit(name, names, *_read_names(name, names)) for name, names in _stated(constraints)
    )


def limit_places(
    request: ComparisonRequest, regions: Mapping[tuple[str, str], Region]
) -> PlaceLimits:
    """The limits of a request on the catalog's places."""
    return PlaceLimits(read_place_limits(request.constraints, request.rules), regions)


def limit_own_places(
    request: ComparisonRequest, regions: Mapping[tuple[str, str], Region]
) -> PlaceLimits:
    """Those on the places of private offers: the same since `PLACE_RULES`."""
    if request.rules >= PLACE_RULES:
        return limit_places(request, regions)
    return PlaceLimits(_read_first_of_own(request.constraints), regions)


def limit_signed_places(
    request: ComparisonRequest, regions: Mapping[tuple[str, str], Region]
) -> PlaceLimits:
    """Those on the places of commitments that are signed: none before `PLACE_RULES`."""
    return limit_places(request, regions) if request.rules >= PLACE_RULES else PlaceLimits()


def _read_first_of_own(constraints: Constraints) -> tuple[PlaceLimit, ...]:
    return tuple(
        PlaceLimit(name, names, geographies=frozenset(names))
        if name == "geographies"
        else PlaceLimit(name, names, *_read_names(name, names))
        for name, names in _stated(constraints)
        if name != "countries"
    )


def _stated(constraints: Constraints) -> list[tuple[str, tuple[str, ...]]]:
    lists = ((name, getattr(constraints, name)) for name in PLACES)
    return [(name, names) for name, names in lists if names]


def _read_names(
    name: str, names: tuple[str, ...]
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The geographies, countries and regions that names of a field stand for."""
    every, nothing = frozenset(names), frozenset[str]()
    if name == "regions":
        return nothing, nothing, every
    if name == "countries":
        return nothing, every, nothing
    groups = every & COUNTRY_GROUPS.keys()
    return every - groups, nothing.union(*(COUNTRY_GROUPS[group] for group in groups)), nothing


def _read_first(constraints: Constraints) -> tuple[PlaceLimit, ...]:
    """Those of the first editions: wide geographies, and countries united with their groups."""
    limits = []
    if constraints.regions:
        limits.append(
            PlaceLimit("regions", constraints.regions, regions=frozenset(constraints.regions))
        )
    geographies = constraints.geographies or ()
    wide = tuple(name for name in geographies if name not in COUNTRY_GROUPS)
    if wide:
        limits.append(PlaceLimit("geographies", wide, geographies=frozenset(wide)))
    groups = tuple(name for name in geographies if name in COUNTRY_GROUPS)
    named = constraints.countries or ()
    if groups or named:
        countries = frozenset(named).union(*(COUNTRY_GROUPS[group] for group in groups))
        field_ = "countries" if named else "geographies"
        limits.append(PlaceLimit(field_, (*groups, *named), countries=countries))
    return tuple(limits)
