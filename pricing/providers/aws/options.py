"""What the other purchase options cost: spot by zone, Capacity Blocks, savings plans."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from pricing.common.amounts import quantize
from pricing.common.words import pluralize
from pricing.ingest.fetch import read_part
from pricing.ingest.flat_list import parse_price
from pricing.ingest.provider import NotRead, ProviderUnavailable, SkippedRow
from pricing.market.machine_types import MachineType, make_offer
from pricing.market.offers import COMPUTE_PLAN_SKU, HOURS_PER_MONTH, Offer, PurchaseOption
from pricing.providers.aws.client import AwsClient, price_list_region, split_into_parts
from pricing.providers.aws.rows import region_currency

SPOT_SOURCE = "AWS spot price history"
_LINUX = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
_HISTORY_WINDOW = dt.timedelta(hours=3)
"""The history gives the price in force at its start and every change since; so much before our
own time, the latest one is right even if our clock is two hours ahead."""
_TYPES_PER_CALL = 50
_MAX_SHORT_SHARE = 0.2
"""Share of the machines and zones that may have no price of before the window: there spot began
within it."""


def read_spot(
    client: AwsClient, region: str, machines: Collection[MachineType], now: dt.datetime
) -> Iterator[Offer | SkippedRow]:
    """The spot price in force for each of `machines` in each zone of `region`."""
    by_name = {machine.instance_type: machine for machine in machines}
    for number, names in enumerate(split_into_parts(sorted(by_name), _TYPES_PER_CALL)):
        latest: dict[tuple[str, str], Mapping[str, Any]] = {}
        begins: dict[tuple[str, str], dt.datetime] = {}
        for row in _read_history(client, region, number, names, now):
            key = (row["InstanceType"], zone_id(row))
            moment = _parse_time(row)
            begins[key] = min(moment, begins.get(key, moment))
            if key not in latest or moment > _parse_time(latest[key]):
                latest[key] = row
        short = _check_is_whole(region, begins, now - _HISTORY_WINDOW)
        if short:
            yield short
        for row in latest.values():
            machine = by_name.get(row["InstanceType"])
            if machine is not None:
                yield _build_spot_offer(machine, region, row, now.date())


def _check_is_whole(
    region: str, begins: Mapping[tuple[str, str], dt.datetime], start: dt.datetime
) -> SkippedRow | None:
    """Raises where rows of the history got lost on the way.

    A whole one holds for each machine and zone the price that was in force at its start. Where
    that is so of some and not of others, any newest price may be among the lost ones too. Of a
    server that gives no earlier price at all nothing can be told: its prices are read, and it is
    named.
    """
    short = sum(moment > start for moment in begins.values())
    if begins and short == len(begins):
        detail = f"{region}: {pluralize(short, 'machine and zone', 'machines and zones')}"
        return SkippedRow("spot history without the prices at its start", detail)
    if short > _MAX_SHORT_SHARE * len(begins):
        what = f"the history of {short} of {len(begins)} machines and zones of {region} is cut off"
        raise ProviderUnavailable(
            "aws", what, "The last published prices stay in force; try again later."
        )
    return None


def zone_id(row: Mapping[str, Any]) -> str:
    """The zone by its id where AWS gives it: the name "us-east-1a" differs between accounts."""
    return str(row.get("AvailabilityZoneId") or row["AvailabilityZone"])


def _read_history(
    client: AwsClient, region: str, number: int, names: list[str], now: dt.datetime
) -> Iterator[Mapping[str, Any]]:
    pages = client.read_all_pages(
        f"spot/{region}-{number:02}",
        "ec2",
        region,
        "describe_spot_price_history",
        "SpotPriceHistory",
        InstanceTypes=names,
        ProductDescriptions=list(_LINUX),
        StartTime=now - _HISTORY_WINDOW,
    )
    for page in pages:
        for row in page:
            is_in_region = row.get("AvailabilityZone", region).startswith(region)
            if is_in_region and row.get("ProductDescription", _LINUX[0]) in _LINUX:
                yield row


def _parse_time(row: Mapping[str, Any]) -> dt.datetime:
    timestamp = row["Timestamp"]
    moment: dt.datetime = (
        dt.datetime.fromisoformat(timestamp) if isinstance(timestamp, str) else timestamp
    )
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _build_spot_offer(
    machine: MachineType, region: str, row: Mapping[str, Any], as_of: dt.date
) -> Offer | SkippedRow:
    where = f"{machine.instance_type} in {zone_id(row)}, spot"
    try:
        price = parse_price(row.get("SpotPrice"))
    except ValueError as error:
        return SkippedRow("unreadable price", f"{where}: {error}")
    if not price:
        return SkippedRow("price is 0", where)
    return make_offer(
        *("aws", machine, region, PurchaseOption.SPOT, price, as_of),
        currency=region_currency(region),
        zone=zone_id(row),
        source=SPOT_SOURCE,
    )


BLOCKS_SOURCE = "AWS Capacity Block offerings"
_BLOCK_HOURS = 24


def read_capacity_blocks(
    client: AwsClient, region: str, machines: Collection[MachineType], as_of: dt.date
) -> Iterator[Offer | SkippedRow | NotRead]:
    """The cheapest Capacity Block hour of each machine that is sold so."""
    for machine in sorted(machines, key=lambda one: one.instance_type):
        name = machine.instance_type
        part = NotRead(
            f"capacity blocks in {region}",
            (PurchaseOption.CAPACITY_BLOCK.value,),
            (region,),
            (name,),
        )
        yield from read_part(part, partial(_read_cheapest_block, client, region, machine, as_of))


def _read_cheapest_block(
    client: AwsClient, region: str, machine: MachineType, as_of: dt.date
) -> Iterator[Offer | SkippedRow]:
    label = f"{machine.instance_type} in {region}, capacity block"
    cheapest: tuple[Decimal, str] | None = None
    name = machine.instance_type
    pages = client.read_all_pages(
        f"capacity_blocks/{region}/{name}",
        "ec2",
        region,
        "describe_capacity_block_offerings",
        "CapacityBlockOfferings",
        InstanceType=name,
        InstanceCount=1,
        CapacityDurationHours=_BLOCK_HOURS,
    )
    for block in (block for page in pages for block in page):
        zone = block.get("AvailabilityZone") or region
        if block.get("InstanceType") != name or not zone.startswith(region):
            continue
        try:
            price = hourly_price(block)
        except ValueError as error:
            yield SkippedRow("unreadable price", f"{label}: {error}")
            continue
        if not price:
            yield SkippedRow("price is 0", label)
        elif cheapest is None or price < cheapest[0]:
            cheapest = (price, block.get("CurrencyCode") or region_currency(region))
    if cheapest is not None:
        yield make_offer(
            *("aws", machine, region, PurchaseOption.CAPACITY_BLOCK, cheapest[0], as_of),
            currency=cheapest[1],
            source=BLOCKS_SOURCE,
        )


def hourly_price(block: Mapping[str, Any]) -> Decimal:
    """Fee of the block / (its machines · its hours), to ten places.

    >>> hourly_price({"UpfrontFee": "943.92", "InstanceCount": 1, "CapacityBlockDurationHours": 24})
    Decimal('39.33')
    """
    hours = block.get("CapacityBlockDurationHours") or 0
    machines = block.get("InstanceCount") or 0
    if not hours or not machines:
        raise ValueError(f"{machines} machines for {hours} h")
    fee = parse_price(block.get("UpfrontFee"))
    return quantize(fee / (hours * machines))


SAVINGS_PLANS_SOURCE = "AWS savings plans"
_PLANS = ("Compute", "EC2Instance")
SAVINGS_PLAN_SKUS = {"Compute": COMPUTE_PLAN_SKU, "EC2Instance": "EC2InstanceSavingsPlans"}
"""The plan type that stands as the SKU of an offer, so that readers can tell the kinds apart."""
_UPFRONT_SHARE = {
    "no_upfront": Decimal(0),
    "partial_upfront": Decimal("0.5"),
    "all_upfront": Decimal(1),
}


def read_savings_plans(
    client: AwsClient,
    region: str,
    machines: Collection[MachineType],
    sold_types: Collection[str] | None,
    as_of: dt.date,
) -> Iterator[Offer | SkippedRow]:
    """The rates for `machines` in `region`. `sold_types`: what the region offers now, if known."""
    machines_by_type = {machine.instance_type: machine for machine in machines}
    families = sorted({name.partition(".")[0] for name in machines_by_type})
    pages = client.read_all_pages(
        f"savings_plans/{region}",
        "savingsplans",
        price_list_region(region),
        "describe_savings_plans_offering_rates",
        "searchResults",
        serviceCodes=["AmazonEC2"],
        products=["EC2"],
        filters=[
            {"name": "region", "values": [region]},
            {"name": "productDescription", "values": ["Linux/UNIX"]},
            {"name": "tenancy", "values": ["shared"]},
            {"name": "instanceFamily", "values": families},
        ],
        maxResults=1000,
    )
    for page in pages:
        for row in page:
            properties = {item["name"]: item["value"] for item in row.get("properties", ())}
            is_linux_rate = (
                properties.get("region", region) == region
                and properties.get("productDescription", "Linux/UNIX") == "Linux/UNIX"
                and properties.get("tenancy", "shared") == "shared"
                and row.get("unit", "Hrs") in ("Hrs", "Hours")
                and is_linux_use(row.get("usageType", ""), row.get("operation", ""))
                and row.get("savingsPlanOffering", {}).get("planType") in _PLANS
            )
            machine = (
                machines_by_type.get(properties.get("instanceType", "")) if is_linux_rate else None
            )
            if machine is not None:
                is_sold = sold_types is None or machine.instance_type in sold_types
                plan = row["savingsPlanOffering"]
                yield make_rate(
                    machine,
                    region,
                    plan["planType"],
                    round(plan.get("durationSeconds", 0) / 3600 / HOURS_PER_MONTH),
                    plan.get("paymentOption", ""),
                    row.get("rate"),
                    currency=plan.get("currency", "USD"),
                    sold_now=is_sold,
                    as_of=as_of,
                )


def keep_cheapest(
    rates: Iterable[Offer | SkippedRow | NotRead],
) -> Iterator[Offer | SkippedRow | NotRead]:
    """One offer for each machine, plan, term and payment option, the cheapest of several rates."""
    cheapest: dict[tuple[str, str], Offer] = {}
    for rate in rates:
        if not isinstance(rate, Offer):
            yield rate
            continue
        other = cheapest.setdefault((rate.id, rate.sku), rate)
        if rate.effective_price_per_hour < other.effective_price_per_hour:
            cheapest[rate.id, rate.sku] = rate
    yield from cheapest.values()


def make_rate(
    machine: MachineType,
    region: str,
    plan: str,
    months: int,
    payment: str,
    price: object,
    **fields: Any,
) -> Offer | SkippedRow:
    label = f"{machine.instance_type} in {region}, {plan} {months} months {payment}"
    payment = payment.lower().replace(" ", "_")
    if payment not in _UPFRONT_SHARE or months not in (12, 36):
        return SkippedRow("unknown term", label)
    try:
        per_hour = parse_price(price)
    except ValueError as error:
        return SkippedRow("unreadable price", f"{label}: {error}")
    if not per_hour:
        return SkippedRow("price is 0", label)
    upfront_share = _UPFRONT_SHARE[payment]
    return make_offer(
        *("aws", machine, region, PurchaseOption.SAVINGS_PLAN),
        quantize(per_hour * (1 - upfront_share)),
        upfront=quantize(per_hour * HOURS_PER_MONTH * months * upfront_share),
        term_months=months,
        payment_option=payment,
        source=SAVINGS_PLANS_SOURCE,
        sku=SAVINGS_PLAN_SKUS.get(plan, ""),
        **fields,
    )


def is_linux_use(usage_type: str, operation: str) -> bool:
    """Whether a rate is for hours of a Linux machine on shared hardware.

    >>> is_linux_use("USW2-BoxUsage:p5.48xlarge", "RunInstances")
    True
    >>> is_linux_use("USW2-UnusedBox:p5.48xlarge", "RunInstances")
    False
    """
    usage = usage_type.partition(":")[0].rpartition("-")[2]
    return usage == "BoxUsage" and operation == "RunInstances"
