"""Spot prices, one for each machine and zone: ec2.DescribeSpotPriceHistory."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pricing.common.pluralize import pluralize
from pricing.ingest.provider import ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws.client import AwsClient
from pricing.providers.aws.ec2 import split_into_parts
from pricing.providers.aws.machines import Machine
from pricing.providers.aws.regions import region_currency
from pricing.providers.aws.rows import make_offer, parse_money

SOURCE = "AWS spot price history"
_LINUX = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
_HISTORY_WINDOW = dt.timedelta(hours=3)
"""The history gives the price in force at its start and every change since; so much before our
own time, the latest one is right even if our clock is two hours ahead."""
_TYPES_PER_CALL = 50
_MAX_SHORT_SHARE = 0.2
"""Share of the machines and zones that may have no price of before the window: there spot began
within it."""


def read(
    client: AwsClient, region: str, machines: Collection[Machine], now: dt.datetime
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
                yield _build_offer(machine, region, row, now.date())


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


def _build_offer(
    machine: Machine, region: str, row: Mapping[str, Any], as_of: dt.date
) -> Offer | SkippedRow:
    where = f"{machine.instance_type} in {zone_id(row)}, spot"
    try:
        price = parse_money(row.get("SpotPrice"))
    except ValueError as error:
        return SkippedRow("unreadable price", f"{where}: {error}")
    if not price:
        return SkippedRow("price is 0", where)
    return make_offer(
        machine,
        region,
        option=PurchaseOption.SPOT,
        price_per_hour=price,
        currency=region_currency(region),
        zone=zone_id(row),
        as_of=as_of,
        source=SOURCE,
    )
