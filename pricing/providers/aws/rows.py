"""One product of the price list and its terms → offers. The same rows come from GetProducts
and from the bulk files.

Only Linux on a shared machine, paid by use, becomes an offer. All else that AWS lists under the
same instance type is left out with its reason: Windows and other systems, licences brought
along, preinstalled software, dedicated tenancy and hosts, reserved but unused capacity, and the
$0 rows of Capacity Blocks, whose price is paid elsewhere.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws.machines import Machine, MachineLookup, looks_accelerated, network_gbps
from pricing.providers.aws.regions import region_code, region_currency

SOURCE = "AWS price list (AmazonEC2)"

_MACHINE_FAMILIES = ("Compute Instance", "Compute Instance (bare metal)")
_REQUIRED_ATTRIBUTES = (
    ("operatingSystem", "Linux", "not Linux"),
    ("tenancy", "Shared", "not shared tenancy"),
    ("capacitystatus", "Used", "reserved capacity, not used"),
    ("preInstalledSw", "NA", "software preinstalled"),
    ("licenseModel", "No License required", "licence of its own"),
    ("marketoption", "OnDemand", "sold by the capacity block"),
    ("operation", "RunInstances", "another operation than plain Linux"),
)
"""Attribute, the value that becomes an offer, why another one does not."""

_TERM_CODES = {
    "HU7G6KETJZ": (12, "standard", "partial_upfront"),
    "6QCMYABX3D": (12, "standard", "all_upfront"),
    "4NA7Y494T4": (12, "standard", "no_upfront"),
    "VJWZNREJX2": (12, "convertible", "all_upfront"),
    "7NE97W5U4E": (12, "convertible", "no_upfront"),
    "CUZHX8X6JH": (12, "convertible", "partial_upfront"),
    "38NPMPTW36": (36, "standard", "partial_upfront"),
    "BPH4J8HBKS": (36, "standard", "no_upfront"),
    "NQ3QZPMQV9": (36, "standard", "all_upfront"),
    "Z2E3P23VKM": (36, "convertible", "no_upfront"),
    "R5XV2EPZQZ": (36, "convertible", "partial_upfront"),
    "MZU6U2429S": (36, "convertible", "all_upfront"),
}
"""Reservations by `offerTermCode`, for a row that lacks its `termAttributes`."""
_OPTIONS = {
    "standard": PurchaseOption.RESERVED,
    "convertible": PurchaseOption.RESERVED_CONVERTIBLE,
}
_FREE_TIER = "A429C66SYZ"


@dataclass(frozen=True, slots=True)
class Sku:
    """A product that becomes offers."""

    sku: str
    region: str
    machine: Machine


@dataclass(frozen=True, slots=True)
class Terms:
    """How a term is paid."""

    option: PurchaseOption
    months: int = 0
    payment: str = ""


def read_product(
    product: Mapping[str, Any], machines: MachineLookup, region: str = ""
) -> Sku | SkippedRow | None:
    """The product as a SKU, why it is none, or None for what has no accelerator at all.

    `region` is the region of its file, for rows of before 2020 without a code.
    """
    attributes = product.get("attributes", {})
    instance_type = attributes.get("instanceType", "")
    if not instance_type:
        return None
    machine = machines.find(instance_type, attributes)
    if machine is None and not looks_accelerated(attributes):
        return None
    skipped = _check_product(product.get("productFamily", ""), instance_type, attributes)
    if skipped is not None:
        return skipped
    if machine is None:
        return SkippedRow("no deep-learning accelerator", instance_type)
    if isinstance(machine, SkippedRow):
        return machine
    code = region_code(attributes) or region
    if not code:
        return SkippedRow("unknown region", attributes.get("location", ""))
    return Sku(product["sku"], code, _fill_from_attributes(machine, attributes))


def read_terms(
    sku: Sku, term_rows: Mapping[str, Any], as_of: dt.date, sold_now: bool
) -> Iterator[Offer | SkippedRow]:
    """One offer for each way to pay, from the term in force on the day of the list."""
    rows_by_terms: dict[Terms, list[Mapping[str, Any]]] = {}
    for term in term_rows.values():
        terms = _parse_terms(term)
        if term.get("offerTermCode") == _FREE_TIER:
            yield SkippedRow("free tier", sku.sku)
        elif terms is None:
            yield SkippedRow("unknown term", f"{sku.sku} {term.get('offerTermCode', '')}")
        else:
            rows_by_terms.setdefault(terms, []).append(term)
    for terms, term_group in rows_by_terms.items():
        yield _build_offer(sku, terms, _select_current(term_group, as_of), as_of, sold_now)


@lru_cache(maxsize=8192)
def _make_skipped(reason: str, detail: str) -> SkippedRow:
    """One object for all rows of its kind: a region's file leaves out tens of thousands."""
    return SkippedRow(reason, detail)


def _check_product(
    family: str, instance_type: str, attributes: Mapping[str, str]
) -> SkippedRow | None:
    if family and family not in _MACHINE_FAMILIES:
        return _make_skipped(f"not a machine but a {family.lower()}", instance_type)
    for name, required_value, reason in _REQUIRED_ATTRIBUTES:
        value = attributes.get(name) or required_value
        if value != required_value:
            return _make_skipped(reason, f"{instance_type} {value}")
    usage = attributes.get("usagetype") or "BoxUsage"
    if "BoxUsage" not in usage or "HostBoxUsage" in usage:
        return _make_skipped("not the use of a machine", usage)
    return None


def _fill_from_attributes(machine: Machine, attributes: Mapping[str, str]) -> Machine:
    """The machine completed with what only the price list knows."""
    if machine.vcpus is not None and machine.memory_gib is not None:
        return machine
    memory, _, unit = attributes.get("memory", "").replace(",", "").partition(" ")
    return Machine(
        machine.instance_type,
        machine.accelerator,
        machine.count,
        machine.vcpus or _parse_float(attributes.get("vcpu", "")),
        machine.memory_gib or (_parse_float(memory) if unit.strip() == "GiB" else None),
        machine.network_gbps or network_gbps(attributes.get("networkPerformance", "")),
        machine.capacity_blocks,
        machine.retired,
    )


def _parse_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _select_current(candidates: list[Mapping[str, Any]], day: dt.date) -> Mapping[str, Any]:
    """The latest that has begun, else the first that will."""
    by_start = sorted(candidates, key=_start_date)
    started = [term for term in by_start if _start_date(term) <= day.isoformat()]
    return started[-1] if started else by_start[0]


def _start_date(term: Mapping[str, Any]) -> str:
    return str(term.get("effectiveDate") or "")[:10]


def _parse_terms(term: Mapping[str, Any]) -> Terms | None:
    """By its attributes, not by its section: reservations were seen under OnDemand."""
    attributes = term.get("termAttributes") or {}
    length, code = attributes.get("LeaseContractLength"), term.get("offerTermCode")
    if not length and code in _TERM_CODES:
        months, offering, payment = _TERM_CODES[code]
    elif not length:
        return Terms(PurchaseOption.ON_DEMAND)
    else:
        months = {"1yr": 12, "3yr": 36}.get(length.replace(" ", ""), 0)
        offering = attributes.get("OfferingClass") or "standard"
        payment = attributes.get("PurchaseOption", "").lower().replace(" ", "_")
    if not months or offering not in _OPTIONS or not payment.endswith("_upfront"):
        return None
    return Terms(_OPTIONS[offering], months, payment)


def _build_offer(
    sku: Sku, terms: Terms, term: Mapping[str, Any], as_of: dt.date, sold_now: bool
) -> Offer | SkippedRow:
    label = f"{sku.machine.instance_type} in {sku.region}, {terms.option.value} {terms.payment}"
    currency = region_currency(sku.region)
    try:
        price, upfront, currency = _sum_amounts(term, currency)
    except ValueError as error:
        return SkippedRow("unreadable price", f"{label.strip()}: {error}")
    missing = _find_missing_part(terms, price, upfront)
    if missing:
        return SkippedRow(missing, label.strip())
    return make_offer(
        sku.machine,
        sku.region,
        option=terms.option,
        price_per_hour=price,
        upfront=upfront,
        currency=currency,
        term_months=terms.months,
        payment_option=terms.payment,
        sku=sku.sku,
        as_of=as_of,
        source=SOURCE,
        sold_now=sold_now,
    )


def make_offer(machine: Machine, region: str, *, option: PurchaseOption, **fields: Any) -> Offer:
    """An offer of `machine`; never sold now once its family has retired."""
    fields["sold_now"] = fields.get("sold_now", True) and not machine.retired
    return Offer(
        provider="aws",
        region=region,
        instance_type=machine.instance_type,
        accelerator=machine.accelerator,
        accelerator_count=machine.count,
        purchase_option=option,
        vcpus=machine.vcpus,
        memory_gib=machine.memory_gib,
        network_gbps=machine.network_gbps,
        **fields,
    )


def _sum_amounts(term: Mapping[str, Any], currency: str) -> tuple[Decimal, Decimal, str]:
    """(price per hour, upfront, currency): tiers beyond the first are never reached by hours."""
    price, upfront = Decimal(0), Decimal(0)
    for part in term.get("priceDimensions", {}).values():
        if part.get("beginRange", "0") != "0":
            continue
        prices = part.get("pricePerUnit") or {}
        currency = currency if currency in prices or not prices else next(iter(prices))
        amount = parse_money(prices.get(currency))
        unit = part.get("unit", "")
        if unit == "Quantity":
            upfront += amount
        elif unit.lower() in ("hrs", "hours"):
            price += amount
        else:
            raise ValueError(f"unit {unit!r} instead of Hrs")
    return price, upfront, currency


def parse_money(text: object) -> Decimal:
    """The amount as written; `ValueError` for what is no finite number of 0 or more."""
    try:
        amount = Decimal(str(text))
    except InvalidOperation:
        raise ValueError(f"{text!r} is no number") from None
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"{text!r} is no price")
    return amount


def _find_missing_part(terms: Terms, price: Decimal, upfront: Decimal) -> str:
    """Why these amounts cannot be a price; empty when they can."""
    if not price and not upfront:
        return "price is 0"
    lacks_hourly = terms.payment in ("no_upfront", "partial_upfront") and not price
    lacks_upfront = terms.payment in ("partial_upfront", "all_upfront") and not upfront
    if lacks_hourly or lacks_upfront:
        return "half of a reservation's price is missing"
    if not terms.months and upfront:
        return "an upfront fee on an hourly price"
    return ""
