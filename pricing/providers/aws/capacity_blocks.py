"""Capacity Blocks: machines reserved for some days ahead, paid at once.

Their rows in the price list say $0; the price is in ec2.DescribeCapacityBlockOfferings as the
fee of a whole block. What is asked for is one machine for a day; the cheapest block on offer
gives the price of an hour.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from functools import partial
from typing import Any

from pricing.ingest.parts import read_part
from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws.client import AwsClient
from pricing.providers.aws.machines import Machine
from pricing.providers.aws.regions import region_currency
from pricing.providers.aws.rows import make_offer, parse_money

SOURCE = "AWS Capacity Block offerings"
_BLOCK_HOURS = 24
_SMALLEST_STEP = Decimal("1e-10")
"""Amounts are kept to ten decimal places."""


def read(
    client: AwsClient, region: str, machines: Collection[Machine], as_of: dt.date
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
    client: AwsClient, region: str, machine: Machine, as_of: dt.date
) -> Iterator[Offer | SkippedRow]:
    label = f"{machine.instance_type} in {region}, capacity block"
    cheapest: tuple[Decimal, str] | None = None
    for block in _read_blocks(client, region, machine):
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
            machine,
            region,
            option=PurchaseOption.CAPACITY_BLOCK,
            price_per_hour=cheapest[0],
            currency=cheapest[1],
            as_of=as_of,
            source=SOURCE,
        )


def hourly_price(block: Mapping[str, Any]) -> Decimal:
    """Fee of the block / (its machines · its hours), to ten places.

    >>> hourly_price({"UpfrontFee": "943.92", "InstanceCount": 1, "CapacityBlockDurationHours": 24})
    Decimal('39.3300000000')
    """
    hours = block.get("CapacityBlockDurationHours") or 0
    machines = block.get("InstanceCount") or 0
    if not hours or not machines:
        raise ValueError(f"{machines} machines for {hours} h")
    fee = parse_money(block.get("UpfrontFee"))
    return (fee / (hours * machines)).quantize(_SMALLEST_STEP, ROUND_HALF_EVEN)


def _read_blocks(client: AwsClient, region: str, machine: Machine) -> Iterator[Mapping[str, Any]]:
    pages = client.read_all_pages(
        f"capacity_blocks/{region}/{machine.instance_type}",
        "ec2",
        region,
        "describe_capacity_block_offerings",
        "CapacityBlockOfferings",
        InstanceType=machine.instance_type,
        InstanceCount=1,
        CapacityDurationHours=_BLOCK_HOURS,
    )
    for page in pages:
        for block in page:
            zone = block.get("AvailabilityZone") or region
            if block.get("InstanceType") == machine.instance_type and zone.startswith(region):
                yield block
