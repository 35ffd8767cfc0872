"""Limits on places hold for every offer of a plan, of the catalog and private ones alike."""

from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.answer.common import ScenarioKey
from planner.portfolio.portfolio import plan_portfolio
from pricing.market.snapshot import Catalog, Region
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import RENT_ALONE, TODAY, offer
from tests.properties import examples

ALONE: dict[str, Any] = {"on_prem": {"servers": []}, "horizon_months": 1}
REGIONS = {
    ("aws", "us-east-1"): Region("north-america", "US"),
    ("aws", "eu-central-1"): Region("europe", "DE"),
    ("gcp", "europe-west3"): Region("europe", "DE"),
    ("aws", "eu-west-1"): Region("europe", "IE"),
    ("aws", "eu-west-2"): Region("europe", "GB"),
    ("gcp", "europe-west6"): Region("europe", "CH"),
    ("aws", "ap-south-1"): Region("asia", "IN"),
}
PRICES = {place: 40 + 7 * i % 10 for i, place in enumerate(REGIONS)}
MARKET = Catalog.of(
    [
        offer(str(price), provider=provider, region=region, instance_type=f"m-{region}")
        for (provider, region), price in PRICES.items()
    ],
    regions=REGIONS,
)
COVERED = {
    "north-america": {"US"},
    "europe": {"DE", "IE", "GB", "CH"},
    "asia": {"IN"},
    "eu": {"DE", "IE"},
    "eea": {"DE", "IE"},
    "uk": {"GB"},
    "switzerland": {"CH"},
}
COUNTRIES = sorted({place.country for place in REGIONS.values()})
CODES = sorted({region for _, region in REGIONS})
DUBLIN = {
    "label": "Dublin deal", "provider": "aws", "region": "eu-west-1", "accelerator": "H100",
    "accelerator_count": 8, "purchase_option": "on_demand", "usd_per_hour": 20,
}  # fmt: skip


def planned(limits: dict[str, Any], **fields: Any) -> Compared:
    stated = {name: names for name, names in limits.items() if names}
    return compared(MARKET, 5840, constraints=stated, **ALONE | fields)


def allowed(limits: dict[str, Any]) -> set[tuple[str, str]]:
    """Worked out from the names alone."""
    wide, countries, codes = (limits.get(n) for n in ("geographies", "countries", "regions"))
    return {
        key
        for key, place in REGIONS.items()
        if not wide or any(place.country in COVERED[name] for name in wide)
        if not countries or place.country in countries
        if not codes or key[1] in codes
    }


@cache
def total(*geographies: str) -> Decimal:
    found = planned({"geographies": geographies})
    rented = found.scenarios[ScenarioKey.ON_DEMAND]
    return rented.total_cost if rented.feasible else Decimal("Infinity")


def places_of(found: Compared) -> set[tuple[str, str]]:
    offers = [rental.offer for rental in found.inputs.rentals]
    return {(one.provider, one.region) for one in offers if one is not None}


NAMES = st.fixed_dictionaries(
    {
        "geographies": st.lists(st.sampled_from(sorted(COVERED)), max_size=3, unique=True),
        "countries": st.lists(st.sampled_from(COUNTRIES), max_size=3, unique=True),
        "regions": st.lists(st.sampled_from(CODES), max_size=4, unique=True),
    }
)


@examples(40, 1000)
@given(NAMES)
def test_every_offer_of_a_plan_is_where_the_names_allow_it(limits: dict[str, Any]) -> None:
    found = planned(limits, custom_offers=[DUBLIN])
    places = allowed(limits)
    rented = found.scenarios[ScenarioKey.ON_DEMAND]
    assert places_of(found) <= places
    assert rented.feasible is bool(places)
    if places:
        prices = {**PRICES, ("aws", "eu-west-1"): 20}
        assert rented.total_cost == 730 * min(prices[place] for place in places)


@pytest.mark.parametrize("one", sorted(COVERED))
def test_a_union_of_places_is_never_dearer_than_each_part(one: str) -> None:
    for other in COVERED:
        parts = min(total(one), total(other))
        assert total(*sorted({one, other})) == parts, (one, other)


@pytest.mark.parametrize(
    ("limits", "countries"),
    [
        ({"geographies": ["eu"], "countries": ["DE"]}, {"DE"}),
        ({"geographies": ["uk"], "countries": ["IN"]}, set()),
        ({"geographies": ["north-america", "eu"]}, {"US", "DE", "IE"}),
        ({"geographies": ["europe", "uk"]}, {"DE", "IE", "GB", "CH"}),
        ({"geographies": ["europe"], "countries": ["DE"]}, {"DE"}),
    ],
)
def test_places_are_added_up_and_kinds_of_limits_narrow_each_other(
    limits: dict[str, Any], countries: set[str]
) -> None:
    cheapest = min(
        (p for key, p in PRICES.items() if REGIONS[key].country in countries), default=None
    )
    rented = planned(limits).scenarios[ScenarioKey.ON_DEMAND]
    assert rented.feasible is (cheapest is not None)
    assert cheapest is None or rented.total_cost == 730 * cheapest


APART = Catalog.of(
    [offer("70", region="us-gov-west-1"), offer("80", region="cn-north-1")],
    regions={
        ("aws", "us-gov-west-1"): Region("us-government", "US"),
        ("aws", "cn-north-1"): Region("china", "CN"),
    },
)


@pytest.mark.parametrize(
    ("limits", "price"),
    [
        ({"geographies": ["us-government"]}, 70),
        ({"geographies": ["china"]}, 80),
        ({"countries": ["CN"]}, 80),
        ({"geographies": ["china"], "partitions": ["commercial"]}, None),
        ({"countries": ["US"]}, None),
    ],
)
def test_a_place_opens_the_part_of_the_cloud_that_it_is_in(
    limits: dict[str, Any], price: int | None
) -> None:
    found = compared(APART, 5840, constraints=limits, **ALONE)
    rented = found.scenarios[ScenarioKey.ON_DEMAND]
    assert rented.feasible is (price is not None)
    assert price is None or rented.total_cost == 730 * price


@pytest.mark.parametrize(
    ("limits", "is_left_out"),
    [
        ({"countries": ["DE"]}, "AWS eu-west-1 (IE) is outside the choice of countries (DE)"),
        ({"regions": ["us-east-1"]}, "is outside the choice of regions (us-east-1)"),
        ({"geographies": ["uk", "asia"]}, "is outside the choice of places (uk, asia)"),
        ({"geographies": ["eu"]}, ""),
        ({"geographies": ["europe"], "countries": ["IE", "DE"]}, ""),
    ],
)
def test_a_private_offer_keeps_to_the_same_rule_and_is_named_where_it_is_left_out(
    limits: dict[str, Any], is_left_out: str
) -> None:
    found = planned(limits, custom_offers=[DUBLIN])
    said = [words for words in found.warnings if words.startswith("Dublin deal left out: ")]
    assert len(said) == bool(is_left_out)
    assert all(is_left_out in words for words in said)
    used = found.scenarios[ScenarioKey.ON_DEMAND].used_hours
    assert any("Dublin" in key for key in used) is not bool(is_left_out)


SIGNED = {
    "label": "Reservation", "provider": "aws", "region": "eu-west-1", "accelerator": "H100",
    "accelerator_count": 8, "price_per_month": 5000, "ends": "2027-01",
}  # fmt: skip


@pytest.mark.parametrize(
    ("limits", "serves"),
    [
        ({"countries": ["DE"]}, False),
        ({"geographies": ["eu"]}, True),
        ({"geographies": ["eu"], "regions": ["us-east-1", "eu-west-1"]}, True),
    ],
)
def test_a_commitment_elsewhere_is_owed_and_serves_nothing(
    limits: dict[str, Any], serves: bool
) -> None:
    found = planned(limits, existing={"commitments": [SIGNED]})
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    rented = min(PRICES[place] for place in allowed(limits))
    assert plan.total_cost == 5000 + (0 if serves else 730 * rented)
    words = (
        "The commitment 'Reservation' is paid for and serves nothing: AWS eu-west-1 (IE) is "
        "outside the choice of countries (DE)."
    )
    assert (words in found.warnings) is not serves


def test_projects_of_a_portfolio_use_what_is_signed_where_each_may_run() -> None:
    """Of two projects of one machine each, the one that may run in Ireland has the commitment."""
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    places = {"home": ["DE"], "free": ["DE", "IE"]}
    projects = [
        {"name": name, "workload": work, "constraints": {"countries": countries}}
        for name, countries in places.items()
    ]
    projects[0]["commitments"] = [SIGNED]
    request = {"projects": projects, "start": "2027-01", "finance": RENT_ALONE} | ALONE
    answer = plan_portfolio(request, MARKET, today=TODAY)
    assert answer.total_cost == 5000 + 730 * min(
        PRICES[place] for place in allowed(projects[0]["constraints"])
    )
    assert any("is paid for and serves nothing" in words for words in answer.warnings)
