"""Google Cloud over loopback: what is published equals what is sold, whatever surrounds it."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest

from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.gcp import provider
from tests.pricing.providers.gcp_tools import add, context, fetched, without
from tests.pricing.providers.read_rows import offers, reasons
from tests.pricing.servers.gcp import CLOUD_TPU, COMPUTE_ENGINE, GcpServer
from tests.pricing.servers.gcp_skus import OTHERS, money, priced, sku
from tests.pricing.servers.gcp_truth import US, truth
from tests.properties import one_in

CLOUD_TPUS = ("google-tpu-v2", "google-tpu-v3", "google-tpu-v4")
REASONS = {
    "sole tenancy": "sole tenancy",
    "sole tenancy of n1": "sole tenancy",
    "virtual workstation": "virtual workstation",
    "custom": "custom machine",
    "extended": "custom machine",
    "confidential": "confidential machine",
    "premium": "premium",
    "suspended": "suspended machine",
    "capacity optimized": "capacity optimized",
    "sustained use": "sustained use",
    "placeholder": "placeholder of a reservation",
    "reserved": "placeholder of a reservation",
    "zero": "price is zero",
    "contradiction": "usage type contradicts the description",
    "commitment by usage alone": "usage type contradicts the description",
    "spot by usage alone": "usage type contradicts the description",
    "converted": "converted price, not in US dollars",
    "unit of a month": "unit is not understood",
    "ram by the hour": "unit is not understood",
    "no first tier": "no price from the first unit on",
    "no price": "no price",
    "no region": "no region",
    "unknown accelerator": "unknown accelerator",
    "slice with disk": "slice with local disk",
    "commitment in dollars": "commitment in dollars",
}
PART_MISSING = "a part of the machine has no price"
"""Spot cores of a3-megagpu have no price in the truth: the one machine that is withheld."""


@pytest.fixture
def server() -> Iterator[GcpServer]:
    with GcpServer() as running:
        yield running


@pytest.fixture(scope="module")
def published() -> dict[str, Offer]:
    """What is read of a server that nothing was changed on."""
    with GcpServer() as running:
        return offers(fetched(running.settings_with_project))


def test_the_offers_equal_what_is_sold(server: GcpServer) -> None:
    assert offers(fetched(server.settings_with_project)) == truth()


@pytest.mark.parametrize("name", one_in(3, list(REASONS)))
def test_trap_3_a_sku_that_only_looks_like_a_price_is_left_out(
    server: GcpServer, name: str
) -> None:
    without(server, "*")
    add(server, OTHERS[name])
    rows = fetched(server.settings_with_project)
    assert offers(rows) == truth()
    assert reasons(rows) == {REASONS[name]: 1, PART_MISSING: 1}


def test_trap_3_a_machine_is_the_sum_of_its_parts(published: dict[str, Offer]) -> None:
    found = published
    prices = {key.removeprefix("gcp:us-central1:"): o.price_per_hour for key, o in found.items()}
    assert prices["a2-highgpu-1g:on_demand"] == Decimal("3.673385")
    assert prices["g4-standard-48:on_demand"] == Decimal("4.49993")
    assert prices["a2-ultragpu-1g:on_demand"] == Decimal("5.0687978904")
    assert prices["n1-standard-8+1xnvidia-tesla-t4:on_demand"] == Decimal("0.729998")
    assert prices["a3-highgpu-1g:dws_flex_start"] == Decimal("4.7900047808")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("part", ["Core", "Ram", "SSD"])
def test_trap_3_the_accelerator_without_its_host_is_withheld(server: GcpServer, part: str) -> None:
    gone = {"Core": "A3 Instance Core", "Ram": "A3 Instance Ram", "SSD": "SSD backed Local"}[part]
    keep = [one for one in server.skus[COMPUTE_ENGINE] if gone not in one["description"]]
    server.skus[COMPUTE_ENGINE] = keep
    rows = fetched(server.settings_with_project)
    assert "gcp:us-central1:a3-highgpu-8g:on_demand" not in offers(rows)
    details = [r.detail for r in rows if isinstance(r, SkippedRow) and r.reason == PART_MISSING]
    assert any(text.startswith("a3-highgpu-8g: ") and US in text for text in details)


def test_trap_3_the_words_decide_and_not_the_usage_type(server: GcpServer) -> None:
    usage = {
        one["category"]["usageType"]
        for one in server.skus[COMPUTE_ENGINE]
        if "B200" in one["description"] and "Commitment" not in one["description"]
    }
    assert usage == {"OnDemand"}
    found = offers(fetched(server.settings_with_project))
    b200 = {
        key.removeprefix("gcp:us-central1:a4-highgpu-8g:"): o.price_per_accelerator_hour
        for key, o in found.items()
        if ":a4-highgpu-8g:" in key
    }
    assert b200 == {
        "on_demand": Decimal("16.11"),
        "spot": Decimal("4.9542"),
        "committed_use:12m:no_upfront": Decimal("11.1159"),
        "committed_use:36m:no_upfront": Decimal("7.0884"),
        "dws_flex_start": Decimal("8.055"),
        "dws_calendar_mode": Decimal("11.277"),
    }


@pytest.mark.parametrize(
    ("name", "region", "chips", "price"),
    [
        ("v2-8", US, 4, "4.5"),
        ("v2-32", US, 16, "24"),
        ("v3-8", "europe-west4", 4, "8.8"),
        ("v3-32", "europe-west4", 16, "32"),
        ("v4-8", "us-central2", 4, "12.88"),
        ("v5litepod-1", US, 1, "1.2"),
        ("v5litepod-8", US, 8, "9.6"),
        ("v5p-8", US, 4, "16.8"),
        ("v6e-8", "us-east5", 8, "21.6"),
        ("tpu7x-8", US, 4, "48"),
    ],
)
def test_trap_3_a_tpu_slice_costs_all_its_chips(
    published: dict[str, Offer], name: str, region: str, chips: int, price: str
) -> None:
    one = published[f"gcp:{region}:{name}:on_demand"]
    assert (one.accelerator_count, one.price_per_hour) == (Fraction(chips), Decimal(price))


def test_trap_4_a_fraction_of_a_g4_is_exact_and_has_its_own_price(
    published: dict[str, Offer],
) -> None:
    found = published
    one = found["gcp:us-central1:g4-standard-6:on_demand"]
    assert (one.accelerator_count, one.price_per_hour) == (Fraction(1, 8), Decimal("0.64688"))
    quarter = found["gcp:us-central1:g4-standard-12:dws_flex_start"]
    assert quarter.price_per_hour == Decimal("0.5624925"), "no such price: an eighth of each part"


def test_two_prices_for_one_part_are_none(server: GcpServer) -> None:
    text = "Nvidia Tesla A100 GPU running in Americas"
    add(server, sku(text, "GPU", "h", "OnDemand", "2.5", [US]))
    rows = fetched(server.settings_with_project)
    assert "gcp:us-central1:a2-highgpu-1g:on_demand" not in offers(rows)
    assert reasons(rows)["two prices for one part of the machine"] == 5


def test_trap_7_a_converted_price_is_not_taken(server: GcpServer) -> None:
    for skus in server.skus.values():
        for one in skus:
            for info in one["pricingInfo"]:
                info["pricingExpression"] = {
                    "usageUnit": "h",
                    "tieredRates": [{"startUsageAmount": 0, "unitPrice": money("9", "IDR")}],
                }
    rows = fetched(server.settings_with_project)
    assert offers(rows) == {}
    assert reasons(rows)["converted price, not in US dollars"] > 50


def test_serviceregions_count_and_geotaxonomy_only_in_their_place(server: GcpServer) -> None:
    text = "Nvidia Tesla V100 GPU running in Moon"
    core = [("N1 Predefined Instance Core running in Moon", "h", "0.03"),
            ("N1 Predefined Instance Ram running in Moon", "GiBy.h", "0.004")]  # fmt: skip
    taxonomy = {"type": "REGIONAL", "regions": ["moon-west1"]}
    for description, unit, price in [(text, "h", "2.48"), *core]:
        add(server, sku(description, "GPU", unit, "OnDemand", price, [], geoTaxonomy=taxonomy))
    found = offers(fetched(server.settings_with_project))
    assert {o.region for o in found.values() if "v100" in o.instance_type} == {"moon-west1"}


def test_the_newest_state_and_the_first_tier_of_a_price_count(server: GcpServer) -> None:
    text = "Nvidia Tesla P100 GPU running in Americas"
    tiers = [
        {"startUsageAmount": 1000, "unitPrice": money("0.9")},
        {"startUsageAmount": 0, "unitPrice": money("1.46")},
    ]
    old = [{"startUsageAmount": 0, "unitPrice": money("2.3")}]
    infos = [
        *priced(old, effectiveTime="2021-01-01T00:00:00Z"),
        *priced(tiers, effectiveTime="2026-08-01T00:00:00Z"),
    ]
    add(server, sku(text, "GPU", "h", "OnDemand", "1", [US], pricingInfo=infos))
    one = offers(fetched(server.settings))[
        "gcp:us-central1:n1-highmem-8+1xnvidia-tesla-p100:on_demand"
    ]
    assert one.price_per_hour == Decimal("1.46") + 8 * Decimal("0.031611") + 52 * Decimal(
        "0.004237"
    )


def test_memory_priced_per_gb_is_converted_to_gib(server: GcpServer) -> None:
    for one in server.skus[COMPUTE_ENGINE]:
        if one["description"].startswith("G2 Instance Ram running"):
            one["pricingInfo"][0]["pricingExpression"]["usageUnit"] = "GBy.h"
    one = offers(fetched(server.settings))["gcp:us-central1:g2-standard-4:on_demand"]
    ram = 16 * Decimal("0.002927") * Decimal("1.073741824")
    expected = Decimal("0.560004") + 4 * Decimal("0.024988") + ram
    assert one.price_per_hour == round(expected, 10)


def test_a_run_may_be_limited_to_regions(server: GcpServer) -> None:
    found = offers(fetched(server.settings_with_project, regions=("europe-west4",)))
    assert found == {key: o for key, o in truth().items() if o.region == "europe-west4"}


@pytest.mark.parametrize("catalog", ["missing", "empty"])
def test_older_tpus_that_cannot_be_read_stay_as_they_are_published(
    server: GcpServer, catalog: str
) -> None:
    if catalog == "missing":
        del server.skus[CLOUD_TPU]
    else:
        server.skus[CLOUD_TPU] = []
    rows = list(provider.fetch(context(server.settings_with_project)))
    (unread,) = [row for row in rows if isinstance(row, NotRead)]
    old = [o for o in truth().values() if o.accelerator in CLOUD_TPUS]
    assert {o.instance_type for o in old} <= set(unread.instance_types)
    kept = {k: o for k, o in truth().items() if o not in old}
    assert offers([row for row in rows if isinstance(row, Offer)]) == kept
