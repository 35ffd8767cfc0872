"""Offer files as streams: any order of keys, any cut of the bytes, nothing from a torn one."""

import gzip
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.ingest.provider import SkippedRow
from pricing.market.machine_types import MachineType
from pricing.market.offers import Offer
from pricing.providers.aws import bulk_files
from pricing.providers.aws.bulk_files import OfferFileError, entries, region_offers
from pricing.providers.aws.rows import MachineLookup, Sku
from tests.pricing.servers.aws_market import PUBLISHED, small
from tests.pricing.servers.aws_rows import all_rows
from tests.pricing.servers.aws_rows import offer_file as file_of
from tests.pricing.servers.aws_rows import plan_file as plans_of

MARKET = small()
DOCUMENT = file_of(all_rows(MARKET), "eu-west-1")


def read(document: dict[str, Any] | bytes, **style: Any) -> dict[str, Offer]:
    data = document if isinstance(document, bytes) else json.dumps(document, **style).encode()
    found = region_offers(io.BytesIO(data), MachineLookup(), "eu-west-1", PUBLISHED.date(), {})
    return {offer.id: offer for offer in found if isinstance(offer, Offer)}


WHOLE = read(DOCUMENT)


def test_words_that_are_keys_elsewhere_do_not_cut() -> None:
    turned = json.loads(json.dumps(DOCUMENT))
    for product in turned["products"].values():
        product["attributes"] |= {
            "a": "terms",
            "b": '"terms" : {',
            "c": "OnDemand",
            "Reserved": "1",
        }
    assert read(turned) == WHOLE


def test_a_key_in_the_wrong_place_is_refused() -> None:
    turned = json.loads(json.dumps(DOCUMENT))
    next(iter(turned["products"].values()))["terms"] = {"OnDemand": {}}
    with pytest.raises(OfferFileError):
        read(turned)


@pytest.mark.parametrize("chunk", [1, 7, 64, 65, 1000])
def test_any_cut_of_the_bytes_gives_the_same(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one_region = file_of(all_rows(MARKET)[:40], "eu-west-1") | {"attributesList": {}}
    monkeypatch.setattr(bulk_files, "CHUNK_BYTES", chunk)
    data = json.dumps(one_region, indent=1).encode()
    by_key = [(section, sku) for section, sku, _ in entries(io.BytesIO(data))]
    expected = [("products", sku) for sku in one_region["products"]]
    for section in ("OnDemand", "Reserved"):
        expected += [(section, sku) for sku in one_region["terms"][section]]
    assert by_key == expected


DATA = json.dumps(DOCUMENT).encode()


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 1, exclude_max=True))
def test_a_torn_file_is_refused(share: float) -> None:
    with pytest.raises(OfferFileError):
        list(entries(io.BytesIO(DATA[: int(len(DATA) * share)])))


def test_a_garbled_compressed_file_is_refused() -> None:
    packed = gzip.compress(DATA, mtime=0)
    middle = len(packed) // 2
    garbled = packed[:middle] + b"\xff" * 64 + packed[middle + 64 :]
    for read_file in (entries, lambda f: bulk_files.plan_rates(f, {}, "x", PUBLISHED.date())):
        with pytest.raises(OfferFileError):
            list(read_file(gzip.GzipFile(fileobj=io.BytesIO(garbled))))


def test_plans_are_joined_by_sku() -> None:
    skus = {o.sku: Sku(o.sku, o.region, machine_of(o)) for o in WHOLE.values()}
    data = json.dumps(plans_of(MARKET, "eu-west-1")).encode()
    rates = list(bulk_files.plan_rates(io.BytesIO(data), skus, "eu-west-1", PUBLISHED.date()))
    sold_so = [box for box in MARKET.boxes if box.plans]
    assert all(isinstance(rate, Offer) for rate in rates)
    assert len(rates) == len(sold_so) * 2 * 2 * 3


def machine_of(offer: Offer) -> MachineType:
    return MachineType(offer.instance_type, offer.accelerator, offer.accelerator_count)


def test_a_rate_of_an_unknown_plan_is_reported() -> None:
    document = plans_of(MARKET, "eu-west-1")
    document["products"] = document["products"][:1]
    skus = {o.sku: Sku(o.sku, o.region, machine_of(o)) for o in WHOLE.values()}
    rates = list(
        bulk_files.plan_rates(
            io.BytesIO(json.dumps(document).encode()), skus, "eu-west-1", PUBLISHED.date()
        )
    )
    assert any(not isinstance(rate, SkippedRow) for rate in rates)
    assert {rate.reason for rate in rates if isinstance(rate, SkippedRow)} == {
        "unknown savings plan"
    }


@pytest.mark.parametrize("document", [{}, [], {"items": []}, {"products": [], "terms": {}}])
def test_a_file_without_plans_is_refused_and_never_read_as_plans_that_are_gone(
    document: object,
) -> None:
    with pytest.raises(OfferFileError, match="no savings plans"):
        list(
            bulk_files.plan_rates(
                io.BytesIO(json.dumps(document).encode()), {}, "eu-west-1", PUBLISHED.date()
            )
        )


class CountedFile(io.BytesIO):
    """Counts the bytes that are read from it."""

    count = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.count += len(data)
        return data


def test_a_plan_file_is_read_once() -> None:
    document = plans_of(MARKET, "eu-west-1")
    skus = {o.sku: Sku(o.sku, o.region, machine_of(o)) for o in WHOLE.values()}
    data = json.dumps(document).encode()
    in_order = CountedFile(data)
    expected = list(bulk_files.plan_rates(in_order, skus, "eu-west-1", PUBLISHED.date()))
    assert expected
    assert in_order.count == len(data)
