"""Spot prices, one for each machine and zone: ec2.DescribeSpotPriceHistory."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws.calls import Calls
from pricing.providers.aws.ec2 import parts_of
from pricing.providers.aws.machines import Machine
from pricing.providers.aws.regions import currency_of
from pricing.providers.aws.rows import money, offer_of

SOURCE = "AWS spot price history"
_LINUX = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
_LOOK_BACK = dt.timedelta(hours=3)
"""The history gives the price in force at its start and every change since; so much before our
own time, the latest one is right even if our clock is two hours ahead."""
_TYPES_PER_CALL = 50


def read(
    calls: Calls, region: str, machines: Collection[Machine], now: dt.datetime
) -> Iterator[Offer | SkippedRow]:
    """The spot price in force for each of `machines` in each zone of `region`."""
    by_name = {machine.instance_type: machine for machine in machines}
    for number, names in enumerate(parts_of(sorted(by_name), _TYPES_PER_CALL)):
        latest: dict[tuple[str, str], Mapping[str, Any]] = {}
        for row in _history(calls, region, number, names, now):
            key = (row["InstanceType"], zone_of(row))
            if key not in latest or _time(row) > _time(latest[key]):
                latest[key] = row
        for row in latest.values():
            machine = by_name.get(row["InstanceType"])
            if machine is not None:
                yield _offer(machine, region, row, now.date())


def zone_of(row: Mapping[str, Any]) -> str:
    """The zone by its id where AWS tells it: the name "us-east-1a" differs between accounts."""
    return str(row.get("AvailabilityZoneId") or row["AvailabilityZone"])


def _history(
    calls: Calls, region: str, number: int, names: list[str], now: dt.datetime
) -> Iterator[Mapping[str, Any]]:
    pages = calls.all_pages(
        f"spot/{region}-{number:02}",
        "ec2",
        region,
        "describe_spot_price_history",
        "SpotPriceHistory",
        InstanceTypes=names,
        ProductDescriptions=list(_LINUX),
        StartTime=now - _LOOK_BACK,
    )
    for page in pages:
        for row in page:
            here = row.get("AvailabilityZone", region).startswith(region)
            if here and row.get("ProductDescription", _LINUX[0]) in _LINUX:
                yield row


def _time(row: Mapping[str, Any]) -> dt.datetime:
    said = row["Timestamp"]
    moment: dt.datetime = dt.datetime.fromisoformat(said) if isinstance(said, str) else said
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _offer(
    machine: Machine, region: str, row: Mapping[str, Any], as_of: dt.date
) -> Offer | SkippedRow:
    where = f"{machine.instance_type} in {zone_of(row)}, spot"
    try:
        price = money(row.get("SpotPrice"))
    except ValueError as error:
        return SkippedRow("unreadable price", f"{where}: {error}")
    if not price:
        return SkippedRow("price is 0", where)
    return offer_of(
        machine,
        region,
        option=PurchaseOption.SPOT,
        price_per_hour=price,
        currency=currency_of(region),
        zone=zone_of(row),
        as_of=as_of,
        source=SOURCE,
    )
