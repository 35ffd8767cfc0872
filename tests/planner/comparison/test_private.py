"""Private offers keep to their dates and places, as catalog offers do."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.snapshot import Catalog, Region
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

ALONE: dict[str, Any] = {"on_prem": {"servers": []}, "horizon_months": 6}
WEST: dict[str, Any] = {"provider": "aws", "region": "eu-west-1"}


def private(option: str, usd_per_hour: float, label: str = "ours", **fields: Any) -> dict[str, Any]:
    plain = {"label": label, "accelerator": "H100", "accelerator_count": 8}
    return plain | {"purchase_option": option, "usd_per_hour": usd_per_hour} | fields


def units_started(found: Any) -> dict[str, list[int]]:
    starts = found.scenarios[ScenarioKey.CLOUD].units_started
    return {
        key.split("/")[1].split(":")[0]: np.flatnonzero(m).tolist() for key, m in starts.items()
    }


def test_a_dated_commitment_begins_in_its_months_alone() -> None:
    """20 an hour for three months from February; on demand at 60 around them."""
    dates = {"available_from": "2027-02", "available_until": "2027-02"}
    offers = [private("reserved", 20, term_months=3, **dates)]
    found = compared(catalog(offer("60")), 5840, custom_offers=offers, **ALONE)
    assert units_started(found) == {"ours": [1]}
    total = found.scenarios[ScenarioKey.CLOUD].total_cost
    assert total == Decimal(730 * (3 * 20 + 3 * 60))


@pytest.mark.parametrize(("geography", "fits"), [("europe", True), ("north-america", False)])
def test_a_private_offer_in_a_known_region_keeps_to_the_geographies(
    geography: str, fits: bool
) -> None:
    east, west = offer("60"), offer("70", **WEST)
    places = {("aws", "us-east-1"): Region("north-america"), ("aws", "eu-west-1"): Region("europe")}
    prices = Catalog.of([east, west], regions=places)
    offers = [private("on_demand", 10, **WEST)]
    limits = {"geographies": [geography]}
    found = compared(prices, 5840, custom_offers=offers, constraints=limits, **ALONE)
    used = found.scenarios[ScenarioKey.ON_DEMAND].used_hours
    assert any("ours" in key for key in used) is fits


def test_a_share_of_a_card_is_left_out_private_or_not() -> None:
    """Half a card at a tenth of the price: as a fraction in the catalog, unless it is asked for."""
    half = private("on_demand", 1, "half", accelerator_count=0.5)
    found = compared(catalog(offer("60")), 5840, custom_offers=[half], **ALONE)
    used = found.scenarios[ScenarioKey.ON_DEMAND].used_hours
    assert not any("half" in key for key in used)
    assert any(w.startswith("half left out: nodes hold at least one") for w in found.warnings)
    asked = {"min_accelerators_per_node": 0.5}
    found = compared(catalog(offer("60")), 5840, custom_offers=[half], constraints=asked, **ALONE)
    assert any("half" in key for key in found.scenarios[ScenarioKey.ON_DEMAND].used_hours)
    assert not any("left out" in warning for warning in found.warnings)


H100_QUOTA = {"accelerator": "H100", "max_accelerators": 8}


@pytest.mark.parametrize("use_catalog", [True, False])
@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"constraints": {"providers": ["awss"]}}, "constraints.providers: 'awss'.*mean aws"),
        ({"constraints": {"regions": ["mars"]}}, "constraints.regions: 'mars'.*us-east-1"),
        ({"constraints": {"regions": ["us-est-1"]}}, "constraints.regions: .*mean us-east-1"),
        ({"constraints": {"geographies": ["erope"]}}, "constraints.geographies: .*mean europe"),
        (
            {"constraints": {"quotas": [H100_QUOTA | {"provider": "aws", "region": "mars"}]}},
            "constraints.quotas.0.region: 'mars'",
        ),
        (
            {"price_adjustments": [{"provider": "azzure", "multiplier": 0.5}]},
            "price_adjustments.0.provider: 'azzure'.*mean azure",
        ),
        (
            {"price_adjustments": [{"region": "us-est-1", "multiplier": 0.5}]},
            "price_adjustments.0.region: .*mean us-east-1",
        ),
    ],
)
def test_a_name_that_nothing_has_is_refused_with_the_nearest(
    fields: dict[str, Any], refused: str, use_catalog: bool
) -> None:
    """With the catalog or without its prices, wherever the name stands."""
    prices = Catalog.of(
        [offer("60"), offer("70", provider="azure", region="westus3")],
        regions={("aws", "eu-west-1"): Region("europe")},
    )
    offers = [private("on_demand", 10)]
    with pytest.raises(InvalidInput, match=refused):
        compared(prices, use_catalog=use_catalog, custom_offers=offers, **fields, **ALONE)


CHINA = {"provider": "aws", "region": "cn-north-1", "currency": "CNY"}
RATES = ExchangeRates.of(
    [
        ExchangeRate("CNY", dt.date(2026, 6, 1), Decimal("8")),
        ExchangeRate("EUR", dt.date(2026, 6, 1), Decimal("0.5")),
    ]
)


@pytest.mark.parametrize(
    ("currency", "rates", "price", "dated"),
    [
        ("CNY", {}, 80, "2026-06-01"),
        ("CNY", {"CNY": 10}, 80, None),
        ("USD", {"CNY": {"units_per_usd": 10, "as_of": "2026-11"}}, 8, "2026-11-01"),
        ("EUR", {"CNY": 10}, 4, None),
        ("EUR", {"EUR": 0.25}, 2.5, "2026-06-01"),
    ],
)
def test_a_given_rate_converts_native_prices_too(
    currency: str, rates: dict[str, Any], price: float, dated: str | None
) -> None:
    """80 CNY an hour stay 80 CNY whatever the rate, and are as many dollars as it says."""
    prices = Catalog.of([offer("80", **CHINA)], exchange_rates=RATES)  # type: ignore[arg-type]
    answer = compared(
        prices, 5840, currency=currency, exchange_rates=rates, sensitivity=False,
        constraints={"partitions": ["aws-china"]}, **ALONE,
    ).as_dict()  # fmt: skip
    assert float(answer["scenarios"][0]["lines"][0]["unit_price"]) == pytest.approx(price)
    (shown,) = answer["offers"].values()
    assert shown["rate_date"] == dated
    assert float(shown["units_per_usd"]) == (rates and 10 if "CNY" in rates else 8)
    assert shown["multiplier"] == 1.0
