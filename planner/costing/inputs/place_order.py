"""Of equal prices the place that people would choose: near, then large, then by name. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import asin, cos, inf, radians, sin, sqrt

import numpy as np

from planner.contract.request.comparison import ComparisonRequest
from planner.costing.assumptions.assumptions import Assumptions
from pricing.market.offer_table import OfferTable
from pricing.market.snapshot import Catalog, Region

Place = tuple[str, str]
"""Provider and region."""
NEAR_AND_LARGE = 2
"""Of the order among equal prices; 1 is by name."""
EARTH_RADIUS_KM = 6371.0


@dataclass(frozen=True)
class PlaceOrder:
    """How the places of one request rank among equal prices."""

    regions: Mapping[Place, Region]
    offers: OfferTable
    home: Place | None = None
    """Where the data lives; ("", "") for one's own premises, whose place nobody states."""
    country: str = ""
    """Country of the team."""

    def distance_km(self, place: Place) -> float:
        """To the data, else to the team; 0 where neither has a known place, ∞ where this one has
        none."""
        if place == self.home:
            return 0.0
        if self._centre is None:
            return 0.0
        at = _coordinates(self.regions.get(place))
        return inf if at is None else great_circle_km(self._centre, at)

    def size(self, place: Place) -> int:
        """Prices that the region has in the catalog: large and old regions sell the most."""
        code = self._codes.get(place[1])
        return 0 if code is None else int(self._counts[code])

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.offers.region.names)}

    @cached_property
    def _counts(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        return np.bincount(self.offers.region.codes, minlength=len(self.offers.region.names))

    @cached_property
    def _centre(self) -> tuple[float, float] | None:
        """Latitude and longitude of the data, else the middle of the regions in the country."""
        if self.home is not None:
            known = _coordinates(self.regions.get(self.home))
            if known is not None:
                return known
        inside = [_coordinates(one) for one in self.regions.values() if one.country == self.country]
        places = [at for at in inside if at is not None] if self.country else []
        if not places:
            return None
        latitude, longitude = np.mean(np.array(places), axis=0).tolist()
        return latitude, longitude


def read_place_order(
    request: ComparisonRequest, catalog: Catalog, assumptions: Assumptions
) -> PlaceOrder | None:
    """That of a request; None where names alone decide."""
    if assumptions["place_order"] < NEAR_AND_LARGE:
        return None
    home = request.data.home
    return PlaceOrder(
        catalog.regions,
        catalog.offers,
        None if home is None else home.place,
        request.constraints.near_country or "",
    )


def _coordinates(region: Region | None) -> tuple[float, float] | None:
    if region is None or region.latitude is None or region.longitude is None:
        return None
    return region.latitude, region.longitude


def great_circle_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Distance of two points given by latitude and longitude in degrees, by the haversine formula.

    >>> round(great_circle_km((50.11, 8.68), (53.35, -6.26)))
    1088
    """
    (first, west), (second, east) = ((radians(a), radians(b)) for a, b in (one, other))
    across = sin((second - first) / 2) ** 2
    along = cos(first) * cos(second) * sin((east - west) / 2) ** 2
    return 2.0 * EARTH_RADIUS_KM * asin(sqrt(across + along))
