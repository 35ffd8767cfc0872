"""Building a catalog from price lists: what is published, what is not, and nothing lost."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import Offer
from tests.pricing.bundled.price_lists import PriceLists, made, outcomes, price
from tools.bundle.rows import RowOutcome

HOSTS = "data/prices/gcp_hosts_n1.csv"
TPU = "data/prices/gcp_tpu.csv"
CHINA = "data/prices/aws_prices_china_cny.csv"


@pytest.fixture
def lists(tmp_path: Path) -> PriceLists:
    return PriceLists(tmp_path)


def only(lists: PriceLists) -> Offer:
    (offer,) = made(lists).offers
    return offer


def test_a_price_becomes_an_offer_with_shape_source_and_date(lists: PriceLists) -> None:
    offer = only(lists.prices(price("aws", "us-east-1", "p5.48xlarge", "55.04")))
    assert offer.id == "aws:us-east-1:p5.48xlarge:on_demand"
    assert (offer.accelerator, offer.accelerator_count) == ("nvidia-h100-80gb-sxm", 8)
    assert offer.price_per_hour == Decimal("55.04")
    assert (offer.source, str(offer.as_of)) == ("a list", "2026-08-01")
    assert offer.sold_now


# What is not for sale -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "region", "machine"),
    [
        ("aws", "us-east-1", "p2.xlarge"),
        ("aws", "us-east-1", "p3.2xlarge"),
        ("aws", "us-east-1", "g3.4xlarge"),
        ("azure", "eastus", "Standard_NC6"),
        ("azure", "eastus", "Standard_ND6s"),
        ("azure", "eastus", "Standard_NV6_Promo"),
    ],
)
def test_trap_11_a_retired_machine_is_shown_and_never_sold(
    lists: PriceLists, provider: str, region: str, machine: str
) -> None:
    bundle = made(lists.prices(price(provider, region, machine, "0.90")))
    assert not bundle.offers[0].sold_now
    assert "retired" in bundle.offers[0].source
    assert outcomes(bundle, f"data/prices/{provider}.csv") == {RowOutcome.RETIRED: 1}


def test_trap_11_a_price_of_2020_is_never_sold(lists: PriceLists) -> None:
    old = price("azure", "eastus", "Standard_NC4as_T4_v3", "0.526", as_of="2020-04-30")
    assert not only(lists.prices(old)).sold_now


def test_trap_2_a_windows_price_is_counted_and_left_out(lists: PriceLists) -> None:
    windows = price("azure", "eastus", "Standard_NC4as_T4_v3", "0.71", operating_system="windows")
    linux = price("azure", "eastus", "Standard_NC4as_T4_v3", "0.526")
    bundle = made(lists.prices(windows, linux))
    assert [str(offer.price_per_hour) for offer in bundle.offers] == ["0.526"]
    assert outcomes(bundle, "data/prices/azure.csv")[RowOutcome.WINDOWS] == 1


def test_trap_2_a_windows_price_listed_as_linux_is_withheld(lists: PriceLists) -> None:
    karpenter = "Azure/karpenter-provider-azure@352646f"
    row = price("azure", "eastus", "Standard_NCC40ads_H100_v5", "8.82", source=karpenter)
    bundle = made(lists.prices(row, price("azure", "eastus", "Standard_NC40ads_H100_v5", "6.98")))
    assert [offer.instance_type for offer in bundle.offers] == ["Standard_NC40ads_H100_v5"]
    assert outcomes(bundle, "data/prices/azure.csv")[RowOutcome.SUSPICIOUS] == 1


@pytest.mark.parametrize(
    ("machine", "outcome"),
    [
        ("NVasv4_Type1", RowOutcome.DEDICATED_HOST),
        ("Standard_NP10s", RowOutcome.NO_ACCELERATOR),
        ("Standard_ND999_X", RowOutcome.UNKNOWN_MACHINE),
        ("NC16dsxlRTX6Kv6", RowOutcome.SUSPICIOUS),
        ("Standard_NV10ads_A10_v5", RowOutcome.FRACTION_UNKNOWN),
    ],
)
def test_trap_8_a_machine_that_cannot_be_told_is_reported_by_name(
    lists: PriceLists, machine: str, outcome: RowOutcome
) -> None:
    lists.prices(price("azure", "eastus", machine, "0.18"))
    bundle = made(lists)
    assert bundle.offers == ()
    found = bundle.audit.report()["data/prices/azure.csv"]["outcomes"]
    assert isinstance(found, dict)
    assert machine in str(found[outcome]["examples"])


def test_trap_3_gcp_is_not_sold_where_the_machine_is_not_offered(lists: PriceLists) -> None:
    lists.add(
        "data/specs/gcp_machine_type_region_availability.csv",
        {
            "region": "africa-south1",
            "machine_type": "a2-highgpu-1g",
            "listed_in_karpenter_2026-08-03": "no",
        },
        {
            "region": "us-central1",
            "machine_type": "a2-highgpu-1g",
            "listed_in_karpenter_2026-08-03": "yes",
        },
    )
    lists.prices(
        price("gcp", "africa-south1", "a2-highgpu-1g", "4.80"),
        price("gcp", "us-central1", "a2-highgpu-1g", "3.67"),
    )
    sold = {offer.region: offer.sold_now for offer in made(lists).offers}
    assert sold == {"africa-south1": False, "us-central1": True}


# Prices in parts ----------------------------------------------------------------------------


def test_all_upfront_is_due_once_and_never_counted_twice(lists: PriceLists) -> None:
    row = price("aws", "us-east-1", "p3.2xlarge", "1.9490867580", "reserved", as_of="2017-11-12")
    terms = {"term_months": "12", "payment_option": "all_upfront", "upfront_usd": "17074"}
    offer = only(lists.prices({**row, **terms}))
    assert (offer.price_per_hour, offer.upfront) == (0, 17074)
    assert round(offer.effective_price_per_hour, 6) == Decimal("1.949087")


def test_trap_7_china_keeps_its_own_currency(lists: PriceLists) -> None:
    row = {"region": "cn-north-1", "instance_type": "g5.xlarge", "source_date": "2025-12-21"}
    lists.add(CHINA, {**row, "price_model": "yrTerm3Savings.allUpfront", "cny_per_hour": "3"})
    offer = only(lists)
    assert (offer.currency, offer.purchase_option, offer.term_months) == ("CNY", "savings_plan", 36)
    assert (offer.price_per_hour, offer.upfront) == (0, 3 * 730 * 36)


def test_of_two_dated_prices_the_newer_counts_and_the_older_is_history(lists: PriceLists) -> None:
    row = {"region": "cn-north-1", "instance_type": "g5.xlarge", "price_model": "on_demand"}
    lists.add(
        CHINA,
        {**row, "cny_per_hour": "7.5", "source_date": "2024-11-06"},
        {**row, "cny_per_hour": "6.7", "source_date": "2025-12-21"},
    )
    bundle = made(lists)
    assert [str(offer.price_per_hour) for offer in bundle.offers] == ["6.7"]
    assert [str(offer.price_per_hour) for offer in bundle.past_prices] == ["7.5"]
    assert outcomes(bundle, CHINA) == {RowOutcome.PUBLISHED: 1, RowOutcome.OLDER: 1}


# GCP: hosts and slices ----------------------------------------------------------------------


def t4(option: str = "on_demand") -> dict[str, str]:
    return price("gcp", "us-central1", "nvidia-tesla-t4", "0.35", option, per="accelerator")


def host(name: str, usd_per_hour: str) -> dict[str, str]:
    return {
        "region": "us-central1",
        "instance_type": name,
        "purchase_option": "on_demand",
        "usd_per_hour": usd_per_hour,
        "as_of": "2026-07-30",
    }


def test_trap_3_an_attached_accelerator_is_priced_with_its_host(lists: PriceLists) -> None:
    lists.prices(t4()).add(HOSTS, host("n1-standard-4", "0.19"), host("n1-standard-8", "0.38"))
    prices = {offer.instance_type: offer.price_per_hour for offer in made(lists).offers}
    assert prices == {
        "n1-standard-4+1xnvidia-tesla-t4": Decimal("0.54"),
        "n1-standard-8+1xnvidia-tesla-t4": Decimal("0.73"),
        "n1-standard-8+2xnvidia-tesla-t4": Decimal("1.08"),
    }


def test_trap_3_an_accelerator_without_its_host_is_withheld(lists: PriceLists) -> None:
    bundle = made(lists.prices(t4("spot")).add(HOSTS, host("n1-standard-4", "0.19")))
    assert bundle.offers == ()
    assert outcomes(bundle, "data/prices/gcp.csv") == {RowOutcome.HOST_UNKNOWN: 1}
    assert outcomes(bundle, HOSTS) == {RowOutcome.HOST_UNUSED: 1}


def test_trap_3_a_tpu_price_per_chip_becomes_the_price_of_the_slice(lists: PriceLists) -> None:
    row = {"region": "us-central1", "tpu": "v5e", "usd_per_hour_on_demand": "1.2"}
    lists.add(TPU, {**row, "basis": "per chip-hour", "source_date": "undated"})
    prices = {offer.instance_type: offer for offer in made(lists).offers}
    assert prices["v5litepod-8"].price_per_hour == Decimal("9.6")
    assert prices["v5litepod-8"].accelerator_count == 8
    assert prices["v5litepod-256"].price_per_accelerator_hour == Decimal("1.2")


def test_trap_3_v3_is_priced_by_eight_cores_not_by_chip(lists: PriceLists) -> None:
    row = {"region": "us-central1", "tpu": "v3-8", "usd_per_hour_on_demand": "8.0"}
    offer = only(lists.add(TPU, {**row, "basis": "whole slice per hour (4 chips / 8 cores)"}))
    assert (offer.accelerator_count, offer.price_per_accelerator_hour) == (4, 2)


# Doubts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("amount", ["", "n/a", "NaN"])
def test_a_price_that_is_no_number_is_refused_with_file_and_line(
    lists: PriceLists, amount: str
) -> None:
    with pytest.raises(InvalidInput, match=r"data/prices/aws\.csv line 2"):
        made(lists.prices(price("aws", "us-east-1", "p5.48xlarge", amount)))
