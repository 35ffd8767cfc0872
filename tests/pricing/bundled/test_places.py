"""Building a catalog: history, places, exchange rates, interruptions, storage."""

from __future__ import annotations

from pathlib import Path

import pytest

from pricing.common.invalid_input import InvalidInput
from tests.pricing.bundled.price_lists import PriceLists, made, outcomes, price
from tools.bundle.rows import RowOutcome


@pytest.fixture
def lists(tmp_path: Path) -> PriceLists:
    return PriceLists(tmp_path)


def test_a_history_keeps_only_the_changes(lists: PriceLists) -> None:
    row = {"region": "us-central1", "machine_type": "g2-standard-4", "month_1y": "511"}
    lists.add(
        "data/history/gcp_prices_history_monthly.csv",
        {**row, "snapshot_date": "2025-01-01", "hour": "0.70"},
        {**row, "snapshot_date": "2025-02-01", "hour": "0.70"},
        {**row, "snapshot_date": "2025-03-01", "hour": "0.72"},
    )
    past = made(lists).past_prices
    assert [(o.purchase_option.value, str(o.price_per_hour), str(o.as_of)) for o in past] == [
        ("committed_use", "0.7", "2025-01-01"),
        ("on_demand", "0.7", "2025-01-01"),
        ("on_demand", "0.72", "2025-03-01"),
    ]


def test_a_history_leaves_windows_out(lists: PriceLists) -> None:
    row = {
        "snapshot_at": "2026-08-01T05:42:48",
        "region": "westeurope",
        "arm_sku_name_inferred": "Standard_NC4as_T4_v3",
        "retail_price_usd": "0.6",
    }
    file = "data/history/azure_prices_history_radar.csv"
    lists.add(file, {**row, "price_model": "on_demand"}, {**row, "price_model": "spot_windows"})
    bundle = made(lists)
    assert [offer.purchase_option for offer in bundle.past_prices] == ["on_demand"]
    assert outcomes(bundle, file) == {RowOutcome.HISTORY: 1, RowOutcome.WINDOWS: 1}


def test_a_local_zone_lies_in_its_city(lists: PriceLists) -> None:
    lists.prices(price("aws", "us-east-1-scl-1", "g4dn.2xlarge", "1.2"))
    place = made(lists).regions["aws", "us-east-1-scl-1"]
    assert (place.city, place.country, place.geography) == ("Santiago", "CL", "south-america")


def test_azure_carbon_by_display_name_reaches_its_region(lists: PriceLists) -> None:
    carbon = {"provider": "azure", "region": "West Europe", "g_co2e_per_kwh": "390"}
    lists.add("data/specs/grid_carbon.csv", {**carbon, "source": "a table", "year": "2023"})
    assert made(lists).regions["azure", "westeurope"].g_co2e_per_kwh == 390


def test_a_region_without_carbon_takes_that_of_its_country(lists: PriceLists) -> None:
    file = "data/specs/regions.csv"
    lists.add(file, {"provider": "gcp", "region": "europe-west4", "country": "NL"})
    carbon = {"provider": "gcp", "region": "europe-west4", "g_co2e_per_kwh": "350"}
    lists.add("data/specs/grid_carbon.csv", {**carbon, "source": "a table", "year": "2024"})
    place = made(lists).regions["azure", "westeurope"]
    assert place.g_co2e_per_kwh == 350
    assert place.carbon_source == "a table, 2024 (as for gcp europe-west4, same country)"
    assert made(lists).regions["aws", "us-east-1"].g_co2e_per_kwh is None


def test_a_priced_region_that_nobody_knows_is_refused(lists: PriceLists) -> None:
    with pytest.raises(InvalidInput, match="us-moon-1 is priced but its place is not known"):
        made(lists.prices(price("aws", "us-moon-1", "g5.xlarge", "1")))


def test_exchange_rates_are_dated_by_the_end_of_their_month(lists: PriceLists) -> None:
    (rate,) = made(lists).exchange_rates
    assert (rate.currency, str(rate.date), str(rate.units_per_usd)) == (
        "CNY",
        "2026-06-30",
        "6.7758",
    )


def test_an_estimated_spot_price_is_no_price(lists: PriceLists) -> None:
    advisor = {"region": "us-east-1", "instance_type": "p5.48xlarge", "ESTIMATED_spot_usd": "9"}
    lists.add("data/prices/aws_spot_advisor.csv", {**advisor, "interruption_freq": "10-15%"})
    bundle = made(lists)
    assert bundle.offers == ()
    assert [(one.low, one.high) for one in bundle.interruptions] == [(0.10, 0.15)]


def test_storage_and_egress_are_told_from_other_services(lists: PriceLists) -> None:
    rest = {"key": "month", "as_of": "2026-07-30", "source": "a list"}
    lists.add(
        "data/prices/gcp_storage_egress.csv",
        {"kind": "bucket", "name": "bucket", "region": "standard/us-central1", "usd": "0.02"}
        | rest,
        {"kind": "network", "name": "traffic", "usd": "0.12"}
        | {**rest, "region": "egress/internet/0-1/us-central1"},
        {"kind": "network", "name": "vpn", "usd": "36.5"}
        | {**rest, "region": "tunnel/us-central1"},
    )
    kinds = [one.kind for one in made(lists).storage_prices if one.provider == "gcp"]
    assert kinds == ["object", "egress"]
