"""One rule says which places keep to the limits of a request, whatever asks it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from planner.contract.request.constraints import Constraints
from planner.contract.request.rules import PlaceLimits, describe_conflict, read_place_limits
from pricing.bundled.catalog import bundled_catalog
from pricing.market.places import EU
from pricing.market.snapshot import Region

Places = set[tuple[str, str]]
GEOGRAPHIES = (None, ["europe"], ["eu"], ["uk", "north-america"], ["eu", "asia"], ["europe", "uk"])
COUNTRIES = (None, ["DE"], ["GB", "IN"], ["US", "DE"])
REGIONS = (None, ["eu-central-1"], ["us-east-1", "eu-west-2"])


def admitted(**limits: Any) -> Places:
    regions = bundled_catalog().regions
    places = PlaceLimits(read_place_limits(Constraints(**limits)), regions)
    return {key for key in regions if places.admits(*key)}


def lies_in(place: Region, name: str) -> bool:
    groups = {"eu": EU, "uk": {"GB"}}
    return place.country in groups[name] if name in groups else place.geography == name


@pytest.mark.parametrize("geographies", GEOGRAPHIES)
def test_names_of_one_list_are_alternatives_and_lists_narrow_each_other(geographies: Any) -> None:
    for countries, regions in product(COUNTRIES, REGIONS):
        expected = {
            key
            for key, place in bundled_catalog().regions.items()
            if geographies is None or any(lies_in(place, name) for name in geographies)
            if countries is None or place.country in countries
            if regions is None or key[1] in regions
        }
        limits = {"geographies": geographies, "countries": countries, "regions": regions}
        assert admitted(**limits) == expected, limits


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"geographies": ["eu"], "countries": ["IN"]}, "places (eu) and the choice of countries"),
        (
            {"geographies": ["eu", "asia"], "countries": ["IN"], "regions": ["us-east-1"]},
            "regions (us-east-1) and the choice of places (eu, asia) together",
        ),
        ({"geographies": ["eu"], "countries": ["DE"], "regions": ["eu-central-1"]}, ""),
    ],
)
def test_limits_that_leave_no_place_together_are_named(limits: Any, words: str) -> None:
    regions = bundled_catalog().regions
    clause = describe_conflict(PlaceLimits(read_place_limits(Constraints(**limits)), regions))
    assert words in clause
    assert bool(clause) is bool(words)
