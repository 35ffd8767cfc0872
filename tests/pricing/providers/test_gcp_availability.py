"""Google's machines: which there are, where they are, and what of them is not known."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from pricing.ingest.provider import NotRead
from pricing.market import machine_types
from pricing.providers.gcp import provider as gcp
from pricing.providers.gcp.offers import list_parts
from tests.pricing.providers.gcp_tools import context, fetched, without
from tests.pricing.providers.read_rows import offers, reasons
from tests.pricing.servers.gcp import GcpServer
from tests.pricing.servers.gcp_skus import Sku
from tests.pricing.servers.gcp_truth import truth


@pytest.fixture
def server() -> Iterator[GcpServer]:
    with GcpServer() as running:
        yield running


def test_without_a_project_our_table_says_where_machines_are(server: GcpServer) -> None:
    found = offers(fetched(server.settings))
    assert {key: replace(o, sold_now=True) for key, o in found.items()} == {
        key: replace(o, sold_now=True) for key, o in truth().items()
    }
    sold = {key: o.sold_now for key, o in found.items()}
    assert sold["gcp:us-central1:a2-highgpu-4g:on_demand"], "in our table, gone from the server's"
    assert not sold["gcp:asia-east2:a2-highgpu-1g:on_demand"]


def test_a_machine_newer_than_our_table_comes_from_compute_engine(server: GcpServer) -> None:
    server.scoped["machineTypes"]["zones/us-central1-a"].append(
        {
            "name": "g2-standard-192",
            "guestCpus": 192,
            "memoryMb": 786432,
            "accelerators": [{"guestAcceleratorType": "nvidia-l4", "guestAcceleratorCount": 16}],
        }
    )
    one = offers(fetched(server.settings_with_project))["gcp:us-central1:g2-standard-192:on_demand"]
    assert (one.accelerator, one.accelerator_count) == ("nvidia-l4", Fraction(16))
    parts = 16 * Decimal("0.560004") + 192 * Decimal("0.024988") + 768 * Decimal("0.002927")
    assert one.price_per_hour == parts


NOT_UNDERSTOOD: tuple[tuple[Sku, str], ...] = (
    ({"name": "z9-mega-1g"}, "unknown machine family"),
    (
        {"accelerators": [{"guestAcceleratorType": "nvidia-z9", "guestAcceleratorCount": 1}]},
        "unknown accelerator",
    ),
    ({"memoryMb": 0}, "vCPUs or memory are not known"),
    ({"name": "g4-standard-3"}, "accelerator count not published"),
    ({"name": "a3-highgpu-16g"}, "size of the local disk is not known"),
    (
        {"name": "a3-ultragpu-1g", "bundledLocalSsds": {"partitionCount": 4}},
        "size of the local disk is not known",
    ),
)


def test_trap_8_new_machines_that_are_not_understood_are_reported(server: GcpServer) -> None:
    without(server, "*")
    for place, (changes, _) in enumerate(NOT_UNDERSTOOD):
        row = {
            "name": f"g2-new-{place}",
            "guestCpus": 8,
            "memoryMb": 65536,
            "accelerators": [{"guestAcceleratorType": "nvidia-l4", "guestAcceleratorCount": 1}],
        } | changes
        server.scoped["machineTypes"]["zones/us-central1-a"].append(row)
    rows = fetched(server.settings_with_project)
    expected = Counter(reason for _, reason in NOT_UNDERSTOOD)
    assert {reason: reasons(rows)[reason] for reason in expected} == expected
    assert offers(rows) == truth()


def test_more_cards_than_the_zone_allows_are_not_sold(server: GcpServer) -> None:
    for rows in server.scoped["acceleratorTypes"].values():
        for row in rows:
            row["maximumCardsPerInstance"] = 2
    found = offers(fetched(server.settings_with_project))
    sold = {
        count: found[f"gcp:us-central1:n1-standard-16+{count}xnvidia-tesla-t4:spot"].sold_now
        for count in (1, 2, 4)
    }
    assert sold == {1: True, 2: True, 4: False}


def test_every_attachable_accelerator_has_a_part_of_its_own() -> None:
    assert all(list_parts(machine_type) for machine_type in machine_types.attached_machine_types())
    assert all(
        list_parts(machine_type) for machine_type in machine_types.all_machine_types("gcp").values()
    )


def test_without_accelerator_types_our_table_says_where_they_attach(server: GcpServer) -> None:
    del server.scoped["acceleratorTypes"]
    rows = list(gcp.fetch(context(server.settings_with_project)))
    told = [row for row in rows if isinstance(row, NotRead)]
    assert {part.availability_only for part in told} == {True, False}
    assert all("accelerator types" in part.reason for part in told)
    assert offers([row for row in rows if not isinstance(row, NotRead)]) == truth()
