"""What must hold of the catalog that comes with the program."""

import datetime as dt
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

from planner.costing.cost_model import storage_prices
from pricing.bundled import catalog
from pricing.market import accelerators, interruptions
from pricing.market.clouds import CLOUD_PARTITIONS, find_partition
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offer_rows import read_csv
from pricing.market.offers import Offer
from pricing.providers.aws.rows import report_other_partition
from pricing.publish.batch import group_batches, read_expected_offers
from pricing.publish.row_checks import check_each, check_pairs

OFFERS = tuple(catalog.read_offers())
BY_ID = {offer.id: offer for offer in OFFERS}
PAST = tuple(read_csv(catalog.FOLDER / catalog.PAST_PRICES))
REPORT = catalog.read_report()
RETIRED = (
    *("p2.", "p3.", "g2.", "g3.", "g3s."),
    *("Standard_NC6", "Standard_NC12", "Standard_NC24", "Standard_ND6s", "Standard_ND12s"),
    *("Standard_ND24", "Standard_NV6", "Standard_NV12", "Standard_NV24"),
)
STILL_SOLD = ("ads_", "as_T4", "ds_xl", "adms_")
"""Azure names that begin like a retired one and are another series."""


def sold(**wanted: object) -> list[Offer]:
    return [
        offer
        for offer in OFFERS
        if offer.sold_now and all(getattr(offer, name) == value for name, value in wanted.items())
    ]


def test_trap_1_no_price_is_zero_or_less() -> None:
    assert [o.id for o in OFFERS if o.effective_price_per_hour <= 0] == []
    assert [o.id for o in (*OFFERS, *PAST) if o.price_per_hour < 0 or o.upfront < 0] == []


def test_trap_8_every_accelerator_is_known() -> None:
    known = {one.slug for one in accelerators.all_accelerators()}
    assert {offer.accelerator for offer in (*OFFERS, *PAST)} <= known


def test_publishing_would_withhold_nothing() -> None:
    rates = ExchangeRates.of(catalog.read_exchange_rates())
    for batch in group_batches(OFFERS, catalog.ORIGIN):
        valid, withheld = check_each(
            batch.offers,
            provider=batch.provider,
            rates=rates,
            known_regions=frozenset(),
            latest=batch.as_of,
        )
        assert withheld + check_pairs(valid)[1] == []


def test_trap_11_nothing_retired_is_sold() -> None:
    def retired(name: str) -> bool:
        return name.startswith(RETIRED) and not any(part in name for part in STILL_SOLD)

    assert [o.id for o in OFFERS if o.sold_now and retired(o.instance_type)] == []
    assert len([o for o in OFFERS if retired(o.instance_type)]) > 1500, "shown as last known"


def test_the_price_of_p5_is_the_one_after_the_cut() -> None:
    offer = BY_ID["aws:us-east-1:p5.48xlarge:on_demand"]
    assert offer.price_per_hour == Decimal("55.04")
    assert offer.accelerator == "nvidia-h100-80gb-sxm"
    assert offer.sold_now


def test_a_name_of_price_lists_that_no_machine_has_is_not_sold() -> None:
    rows = [offer for offer in OFFERS if offer.instance_type == "Standard_NG32adms_V620"]
    assert rows
    assert not any(offer.sold_now for offer in rows)


@pytest.mark.parametrize(
    ("machine", "count"),
    [
        ("Standard_NV6ads_A10_v5", Fraction(1, 6)),
        ("Standard_NV12ads_A10_v5", Fraction(1, 3)),
        ("Standard_NV4as_v4", Fraction(1, 8)),
        ("Standard_NG8ads_V620_v1", Fraction(1, 4)),
        ("g6f.large", Fraction(1, 8)),
        ("gr6f.4xlarge", Fraction(1, 2)),
        ("g4-standard-6", Fraction(1, 8)),
    ],
)
def test_trap_4_fractions_are_exact(machine: str, count: Fraction) -> None:
    assert {o.accelerator_count for o in OFFERS if o.instance_type == machine} == {count}


def test_every_offer_carries_its_source_and_a_date_that_has_been() -> None:
    assert all(offer.source for offer in OFFERS)
    assert all(o.as_of is None or o.as_of <= dt.date(2026, 10, 31) for o in OFFERS)


def test_most_regions_with_offers_have_a_carbon_figure() -> None:
    regions = catalog.read_regions()
    whole = {key for key, region in regions.items() if " Zone " not in region.name}
    priced = {(o.provider, o.region) for o in OFFERS if o.sold_now} & whole
    known = [key for key in priced if regions[key].g_co2e_per_kwh is not None]
    assert len(known) / len(priced) > 0.9
    assert all(regions[key].carbon_source for key in known)


def test_offers_by_provider_are_those_of_the_report() -> None:
    count = Counter(offer.provider for offer in OFFERS)
    told = {name: found["offers"] for name, found in REPORT["providers"].items()}
    assert count == told
    assert count["aws"] > 3500
    assert count["azure"] > 2500
    assert count["gcp"] > 4500


def test_every_input_row_is_accounted_for() -> None:
    for file, part in REPORT["files"].items():
        assert sum(found["count"] for found in part["outcomes"].values()) == part["rows"], file


def test_past_prices_are_dated_changes() -> None:
    by_id: dict[str, list[Offer]] = defaultdict(list)
    for offer in PAST:
        assert offer.as_of is not None, offer.id
        by_id[offer.id].append(offer)
    for same in by_id.values():
        prices = [offer.price_per_hour for offer in same]
        assert all(a != b for a, b in pairwise(prices)), same[0].id


def test_interruption_bands_become_rates() -> None:
    one = interruptions.find_interruption_band("aws", "us-east-1", "p5.48xlarge")
    assert one is not None
    assert 0 <= one.low < one.high <= 1
    assert one.interruptions_per_month >= 0
    assert interruptions.find_interruption_band("aws", "us-east-1", "p99.large") is None


def test_storage_and_egress_are_known_where_a_source_has_them() -> None:
    tiers = storage_prices.find_rates("gcp", "us-central1", "egress")
    assert [tier.above_gib for tier in tiers] == [0, 1024, 10240]
    assert storage_prices.tiered_cost(tiers, 1024) == pytest.approx(0.12 * 1024)
    assert storage_prices.find_rates("aws", "eu-west-1", "egress"), "the provider's own"
    assert storage_prices.find_rates("azure", "westeurope", "object") == ()


def test_the_catalog_is_small() -> None:
    assert sum(path.stat().st_size for path in catalog.FOLDER.iterdir()) < 2_000_000


def test_all_but_the_commitments_of_one_page_are_dated() -> None:
    undated = [one for one in OFFERS if one.as_of is None]
    assert len(undated) == 22
    assert {(one.accelerator, one.purchase_option.value) for one in undated} == {
        ("nvidia-t4", "committed_use")
    }
    assert all(one.source.startswith("public doc ") for one in undated)


def test_the_global_list_of_aws_says_nothing_of_any_place_in_china() -> None:
    """A first refresh would be quarantined otherwise, for what it could not have read."""
    part = report_other_partition(["us-east-1"])
    assert part is not None
    in_china = {one.region for one in OFFERS if one.region.startswith("cn-")}
    assert in_china <= set(part.regions)


def test_a_first_refresh_is_held_against_the_bundled_offers_of_its_cloud() -> None:
    aws = [one.id for one in OFFERS if one.provider == "aws"]
    assert sorted(one.id for one in read_expected_offers("aws")) == sorted(aws)
    assert read_expected_offers("nimbus") == []


def test_a_smaller_cloud_is_used_only_where_it_is_asked_for() -> None:
    others = {(one.provider, one.region) for one in catalog.read_other_clouds()}
    assert len({provider for provider, _ in others}) == 30
    assert not {find_partition(*place) for place in others} & set(CLOUD_PARTITIONS)
    assert find_partition("a cloud of next year", "anywhere") not in CLOUD_PARTITIONS
