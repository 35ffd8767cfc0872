"""Every quirk of a price-list row: what becomes an offer, at which price, and what does not."""

import copy
import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import Offer
from pricing.providers.aws.rows import MachineLookup, Sku, read_product, read_terms
from tests.pricing.servers.aws_market import BOXES, Market
from tests.pricing.servers.aws_rows import CODES, Row, machine_row, term

DAY = dt.date(2026, 9, 12)
P4D = next(box for box in BOXES if box.name == "p4d.24xlarge")


def row(**attributes: str) -> Row:
    made = copy.deepcopy(machine_row(Market(), P4D, "us-east-1"))
    made["product"]["attributes"] |= attributes
    return made


def read(row: Row) -> list[Offer | SkippedRow]:
    sku = read_product(row["product"], MachineLookup())
    if not isinstance(sku, Sku):
        return [] if sku is None else [sku]
    return [
        found
        for terms in row["terms"].values()
        for found in read_terms(sku, terms, DAY, sold_now=True)
    ]


def hourly(amount: str, currency: str = "USD", unit: str = "Hrs") -> dict[str, Any]:
    return {"6YS6EN2CT7": (unit, currency, amount)}


def with_terms(section: str, *terms: Mapping[str, Any]) -> Row:
    made = row()
    made["terms"] = {section: {f"{n}": one for n, one in enumerate(terms)}}
    return made


def only(row: Row) -> Offer | SkippedRow:
    found = read(row)
    assert len(found) == 1, found
    return found[0]


def reason(row: Row) -> str:
    found = only(row)
    assert isinstance(found, SkippedRow)
    return found.reason


def test_a_plain_row_is_an_offer() -> None:
    offers = read(row())
    on_demand = offers[0]
    assert isinstance(on_demand, Offer)
    assert on_demand.id == "aws:us-east-1:p4d.24xlarge:on_demand"
    assert on_demand.price_per_hour == Decimal("21.957642")
    assert on_demand.accelerator == "nvidia-a100-40gb-sxm"
    assert len(offers) == 1 + len(CODES)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"operatingSystem": "Windows"}, "not Linux"),
        ({"operatingSystem": "RHEL"}, "not Linux"),
        ({"operatingSystem": "Ubuntu Pro"}, "not Linux"),
        ({"tenancy": "Dedicated"}, "not shared tenancy"),
        ({"tenancy": "Host"}, "not shared tenancy"),
        ({"capacitystatus": "UnusedCapacityReservation"}, "reserved capacity, not used"),
        ({"capacitystatus": "AllocatedCapacityReservation"}, "reserved capacity, not used"),
        ({"preInstalledSw": "SQL Std"}, "software preinstalled"),
        ({"licenseModel": "Bring your own license"}, "licence of its own"),
        ({"marketoption": "CapacityBlock"}, "sold by the capacity block"),
        ({"operation": "RunInstances:CB"}, "another operation than plain Linux"),
        ({"operation": "RunInstances:0010"}, "another operation than plain Linux"),
        ({"usagetype": "UnusedBox:p4d.24xlarge"}, "not the use of a machine"),
        ({"usagetype": "EUW1-Reservation:p4d.24xlarge"}, "not the use of a machine"),
        ({"usagetype": "HostBoxUsage:p4d.24xlarge"}, "not the use of a machine"),
    ],
)
def test_what_shares_the_instance_type_is_left_out(
    attributes: dict[str, str], expected: str
) -> None:
    assert reason(row(**attributes)) == expected


def test_bare_metal_is_a_machine() -> None:
    made = row()
    made["product"]["productFamily"] = "Compute Instance (bare metal)"
    assert len(read(made)) == 13


@pytest.mark.parametrize(
    "attributes",
    [
        {"volumeApiName": "gp3", "regionCode": "us-east-1"},
        {"instanceType": "m5.xlarge", "instanceFamily": "General purpose", "gpuMemory": "NA"},
    ],
)
def test_what_has_no_accelerator_is_passed_over(attributes: dict[str, str]) -> None:
    product = {"sku": "X", "productFamily": "Compute Instance", "attributes": attributes}
    assert read_product(product, MachineLookup()) is None


def test_trap_1_a_price_of_0_is_no_price() -> None:
    made = with_terms("OnDemand", term("X", "JRTCKXETXF", hourly("0.0000000000")))
    assert reason(made) == "price is 0"


FIVE_YEARS = {"LeaseContractLength": "5yr", "PurchaseOption": "No Upfront"}


@pytest.mark.parametrize(
    ("kind", "one", "why"),
    [
        *(
            ("OnDemand", term("X", "JRTCKXETXF", hourly(amount)), "unreadable price")
            for amount in ("NaN", "-1", "Infinity", "", "a lot")
        ),
        ("OnDemand", term("X", "JRTCKXETXF", hourly("1", unit="GB-Mo")), "unreadable price"),
        ("OnDemand", term("X", "A429C66SYZ", hourly("0")), "free tier"),
        ("Reserved", term("X", "4NA7Y494T4", hourly("1")), "unknown term"),
        ("Reserved", term("X", "ZZZ", hourly("1"), **FIVE_YEARS), "unknown term"),
    ],
)
def test_a_term_that_is_no_price_by_the_hour_says_why(
    kind: str, one: dict[str, Any], why: str
) -> None:
    assert reason(with_terms(kind, one)) == why


def test_a_higher_tier_is_not_added() -> None:
    one = term("X", "JRTCKXETXF", {"A": ("Hrs", "USD", "5"), "B": ("Hrs", "USD", "4")})
    one["priceDimensions"]["X.JRTCKXETXF.B"]["beginRange"] = "1000"
    offer = only(with_terms("OnDemand", one))
    assert isinstance(offer, Offer)
    assert offer.price_per_hour == 5


@pytest.mark.parametrize(
    ("prices", "currency", "amount"),
    [({"CNY": "7"}, "CNY", 7), ({"CNY": "7", "USD": "5"}, "USD", 5)],
)
def test_dollars_count_where_they_are_stated(
    prices: dict[str, str], currency: str, amount: int
) -> None:
    one = term("X", "JRTCKXETXF", hourly("1"))
    for dimension in one["priceDimensions"].values():
        dimension["pricePerUnit"] = prices
    offer = only(with_terms("OnDemand", one))
    assert isinstance(offer, Offer)
    assert (offer.currency, offer.price_per_hour) == (currency, amount)


@pytest.mark.parametrize(("kind", "code"), CODES.items(), ids=lambda value: str(value))
def test_each_reservation_has_its_own_terms(kind: tuple[int, str, str], code: str) -> None:
    months, offering, payment = kind
    offers = [offer for offer in read(row()) if isinstance(offer, Offer)]
    mine = [offer for offer in offers if f"{months}m:{payment}" in offer.id]
    option = "reserved" if offering == "standard" else "reserved_convertible"
    (offer,) = [one for one in mine if one.purchase_option.value == option]
    price, upfront = Market().reserved(P4D, "us-east-1", months, offering, payment)
    assert (offer.price_per_hour, offer.upfront) == (price, upfront)


@pytest.mark.parametrize(
    ("payment", "parts"),
    [
        ("No Upfront", {"2TG2D8R56U": ("Quantity", "USD", "100")}),
        ("Partial Upfront", {"6YS6EN2CT7": ("Hrs", "USD", "1")}),
        ("Partial Upfront", {"2TG2D8R56U": ("Quantity", "USD", "100")}),
        ("All Upfront", {"6YS6EN2CT7": ("Hrs", "USD", "1")}),
    ],
)
def test_half_a_reservation_is_no_offer(payment: str, parts: dict[str, Any]) -> None:
    made = with_terms(
        "Reserved", term("X", "R", parts, LeaseContractLength="1yr", PurchaseOption=payment)
    )
    assert reason(made) == "half of a reservation's price is missing"


def test_the_price_in_force_counts() -> None:
    old, now, later = (term("X", "JRTCKXETXF", hourly(price)) for price in ("3", "2", "1"))
    old["effectiveDate"] = "2025-01-01T00:00:00Z"
    now["effectiveDate"] = "2026-09-01T00:00:00Z"
    later["effectiveDate"] = "2026-10-01T00:00:00Z"
    offer = only(with_terms("OnDemand", later, now, old))
    assert isinstance(offer, Offer)
    assert offer.price_per_hour == 2


def test_a_new_size_of_a_known_family_takes_its_accelerator() -> None:
    offer = read(row(instanceType="p4d.12xlarge", gpu="4"))[0]
    assert isinstance(offer, Offer)
    assert (offer.accelerator, offer.accelerator_count) == ("nvidia-a100-40gb-sxm", 4)
    assert (offer.vcpus, offer.memory_gib, offer.network_gbps) == (96, 1152, 400)


def test_trap_8_a_new_family_is_reported_by_name() -> None:
    found = only(row(instanceType="p9.48xlarge", gpuMemory="NA"))
    assert found == SkippedRow("unknown accelerator", "p9.48xlarge (GPU instance, 8, NA)")
