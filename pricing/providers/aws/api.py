"""The whole market as AWS shows it to an account: prices first, then region by region what is
sold there and what the other purchase options cost."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pricing.ingest.fetch import PART_ERRORS, explain_unread, map_side_by_side, read_part
from pricing.ingest.http import AccessDenied, SignInExpired
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.machine_types import MachineType
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import options
from pricing.providers.aws.client import AwsClient, price_list_region, split_into_parts
from pricing.providers.aws.rows import (
    NOT_PRICED,
    MachineLookup,
    find_unknown,
    is_ec2_region,
    read_product,
    read_terms,
    region_code,
    report_other_partition,
)

_FROM_EC2 = (PurchaseOption.SPOT.value, PurchaseOption.CAPACITY_BLOCK.value)
_FROM_PRICE_LIST = (
    PurchaseOption.ON_DEMAND.value,
    PurchaseOption.RESERVED.value,
    PurchaseOption.RESERVED_CONVERTIBLE.value,
)
_NO_PRICE = "sold without a listed price"
_REGIONS_AT_ONCE = 8
"""EC2 counts calls by region, so that each region has one at a time."""
_SAVINGS_PLAN_CALLS = 4
"""At once: one endpoint answers for all regions."""
Row = Offer | SkippedRow | NotRead
FetchedRows = Iterator[Row]


@dataclass
class _FetchState:
    machines: MachineLookup
    retrieved_at: dt.datetime
    sold_by_region: dict[str, frozenset[str] | None] = field(default_factory=dict)
    """Instance types by region; None where EC2 could not be asked."""
    priced_machines: dict[tuple[str, str], MachineType] = field(default_factory=dict)
    """By region and instance type."""
    block_rows: set[tuple[str, str]] = field(default_factory=set)
    """Regions and machines with a row for Capacity Blocks, whose price is not in it."""
    read_rows: set[str] = field(default_factory=set)
    reported_rows: set[SkippedRow] = field(default_factory=set)

    def is_sold(self, region: str, instance_type: str) -> bool:
        """Where nobody could be asked, the price list is believed."""
        types = self.sold_by_region.get(region)
        return types is None or instance_type in types

    def machines_in(self, region: str) -> list[MachineType]:
        types = self.sold_by_region.get(region) or frozenset()
        return [one for one in self.machines.accelerated_machines() if one.instance_type in types]


PriceList = tuple[list[str], list[NotRead]]
"""The rows (JSON) of GetProducts, and the regions whose rows did not come."""


def read_price_list(client: AwsClient, context: FetchContext) -> PriceList:
    """What is on the price list, asked for region by region where the run is limited to some.

    One region of several may fail. Raises `AccessDenied` where AWS refuses the credentials.
    """
    rows: list[str] = []
    failures: list[tuple[str, ProviderUnavailable]] = []
    for region in context.regions or ("",):
        try:
            rows += list(products(client, region))
        except AccessDenied:
            raise
        except ProviderUnavailable as error:
            failures.append((region, error))
    if failures and len(failures) == max(len(context.regions), 1):
        raise failures[0][1]
    return rows, [
        explain_unread(NotRead(f"prices in {region}", regions=(region,)), error)
        for region, error in failures
    ]


def read(client: AwsClient, context: FetchContext, listed: PriceList) -> FetchedRows:
    """Every offering that the credentials allow to see."""
    state = _FetchState(MachineLookup(), context.retrieved_at)
    rows, not_read_regions = listed
    yield from not_read_regions
    unread = {region for part in not_read_regions for region in part.regions}
    wanted_regions = tuple(region for region in context.regions if region not in unread)
    regions = _find_priced_regions(rows, wanted_regions)
    missing = find_unknown(wanted_regions, regions)
    yield from (SkippedRow(NOT_PRICED, region) for region in missing)
    not_read = None if context.regions else report_other_partition(regions)
    if not_read is not None:
        yield not_read
    yield from _read_machines(client, state, [one for one in regions if is_ec2_region(one)])
    yield from _read_prices(rows, state, context)
    yield from _read_unlisted_families(client, state, context)
    for region in state.sold_by_region:
        names = sorted(one.instance_type for one in state.machines_in(region))
        unpriced = [name for name in names if (region, name) not in state.priced_machines]
        yield from (SkippedRow(_NO_PRICE, f"{name} {region}") for name in unpriced)
    ec2_regions = [region for region in regions if state.sold_by_region.get(region)]
    # EC2 and savings plans are services of their own, each with a pace of its own.
    parts = (
        _region_by_region(
            "spot and capacity blocks by region",
            ec2_regions,
            lambda region: _read_interruptible(client, state, region),
            context,
        ),
        _region_by_region(
            "savings plans by region",
            regions,
            lambda region: _read_savings_plans(client, state, region),
            context,
            workers=_SAVINGS_PLAN_CALLS,
        ),
    )
    for part in map_side_by_side(list, parts, len(parts)):
        yield from part


def _region_by_region(
    what: str,
    regions: Sequence[str],
    read_region: Callable[[str], list[Row]],
    context: FetchContext,
    workers: int = _REGIONS_AT_ONCE,
) -> Iterator[Row]:
    for regions_done, rows in enumerate(map_side_by_side(read_region, regions, workers), 1):
        context.progress(what, regions_done, len(regions))
        yield from rows


def _find_priced_regions(rows: Iterable[str], wanted_regions: tuple[str, ...]) -> list[str]:
    priced = {region_code(_parse_row(row)["product"].get("attributes", {})) for row in rows}
    priced.discard("")
    missing = find_unknown(wanted_regions, priced)
    if wanted_regions and len(missing) == len(wanted_regions):
        raise ProviderUnavailable(
            "aws",
            f"no accelerator is priced in {', '.join(missing)}",
            "Choose region codes such as us-east-1, eu-central-1 or ap-northeast-1.",
        )
    if not priced:
        raise ProviderUnavailable(
            "aws",
            "the price list has no accelerators",
            "The last published prices stay in force; try again later.",
        )
    regions = priced.intersection(wanted_regions or priced)
    return sorted(regions, key=lambda code: (not is_ec2_region(code), code))


def _read_machines(
    client: AwsClient, state: _FetchState, regions: Sequence[str]
) -> Iterator[NotRead]:

    def read_sold(region: str) -> list[frozenset[str] | NotRead]:
        try:
            return [read_sold_types(client, region)]
        except PART_ERRORS as error:
            part = NotRead(f"EC2 in {region}", (), (region,))
            if isinstance(error, AccessDenied) and not isinstance(error, SignInExpired):
                # Asked again it will say the same, so that only what it alone knows is unread.
                part = replace(part, purchase_options=_FROM_EC2)
            return [explain_unread(part, error)]

    for region, (sold,) in zip(
        regions, map_side_by_side(read_sold, regions, _REGIONS_AT_ONCE), strict=True
    ):
        if isinstance(sold, NotRead):
            state.sold_by_region[region] = None
            yield sold
            yield replace(sold, purchase_options=(), availability_only=True)
        else:
            state.sold_by_region[region] = sold or None
    yield from describe_sold_types(client, state.machines, state.sold_by_region)


def _read_prices(rows: Iterable[str], state: _FetchState, context: FetchContext) -> FetchedRows:
    day = context.retrieved_at.date()
    for text in rows:
        if text in state.read_rows:
            yield SkippedRow("the same row again", str(_parse_row(text)["product"].get("sku", "")))
            continue
        state.read_rows.add(text)
        row = _parse_row(text)
        attributes = row["product"].get("attributes", {})
        if attributes.get("marketoption") == "CapacityBlock":
            place = region_code(attributes), attributes.get("instanceType", "")
            state.block_rows.add(place)
        sku = read_product(row["product"], state.machines)
        if isinstance(sku, SkippedRow):
            state.reported_rows.add(sku)
            yield sku
        elif sku is not None and (not context.regions or sku.region in context.regions):
            name = sku.machine.instance_type
            state.priced_machines[sku.region, name] = sku.machine
            sections = row.get("terms", {}).values()
            terms = {code: term for section in sections for code, term in section.items()}
            yield from read_terms(sku, terms, day, state.is_sold(sku.region, name))


def _parse_row(text: str) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(text)
        if isinstance(row["product"].get("attributes", {}), dict):
            return row
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ProviderUnavailable(
        "aws",
        f"a row of the price list cannot be read: {text[:80]!r}",
        "The last published prices stay in force; try again later.",
    )


def _read_unlisted_families(
    client: AwsClient, state: _FetchState, context: FetchContext
) -> FetchedRows:
    """Machines that EC2 sells and no accelerated family of the price list holds, described or known
    without. One that fails is told as sold without a price."""
    sold = {name for types in state.sold_by_region.values() for name in types or ()}
    known = {name for name in sold if isinstance(state.machines.find(name), MachineType)}
    known |= {one.instance_type for one in state.machines.accelerated_machines()}
    for name in sorted(known - {name for _, name in state.priced_machines}):
        part = NotRead(f"prices of {name}", _FROM_PRICE_LIST, (), (name,))
        for row in read_part(part, partial(products_of_type, client, name, context.regions)):
            if isinstance(row, NotRead):
                yield row
            else:
                yield from _read_prices([row], state, context)
    yield from (row for row in state.machines.unknown_machines() if row not in state.reported_rows)


def _read_interruptible(client: AwsClient, state: _FetchState, region: str) -> list[Row]:
    machines, now = state.machines_in(region), state.retrieved_at
    spot_part = NotRead(f"spot in {region}", (PurchaseOption.SPOT.value,), (region,))
    by_block = [  # by what EC2 says of the machine, or by a row of the price list
        one
        for one in machines
        if one.instance_type in state.machines.sold_by_block
        or (region, one.instance_type) in state.block_rows
    ]
    return [
        *read_part(spot_part, lambda: options.read_spot(client, region, machines, now)),
        *options.read_capacity_blocks(client, region, by_block, now.date()),
    ]


def _read_savings_plans(client: AwsClient, state: _FetchState, region: str) -> list[Row]:
    # Those whose row got lost on the way included.
    by_name = {one.instance_type: one for one in state.machines_in(region)}
    by_name |= {name: one for (code, name), one in state.priced_machines.items() if code == region}
    machines = list(by_name.values())
    if not machines:
        return []
    part = NotRead(f"savings plans in {region}", (PurchaseOption.SAVINGS_PLAN.value,), (region,))
    sold = state.sold_by_region.get(region)
    day = state.retrieved_at.date()
    rates = read_part(part, lambda: options.read_savings_plans(client, region, machines, sold, day))
    return list(options.keep_cheapest(rates))


_TYPES_PER_CALL = 100
"""Names that DescribeInstanceTypes takes at once."""


def read_sold_types(client: AwsClient, region: str) -> frozenset[str]:
    """The instance types offered in `region`.

    Raises `AccessDenied` for a region that this account has not enabled.
    """
    name = f"instance_type_offerings/{region}"
    operation, result_key = "describe_instance_type_offerings", "InstanceTypeOfferings"
    pages = client.read_all_pages(name, "ec2", region, operation, result_key, LocationType="region")
    return frozenset(
        item["InstanceType"]
        for page in pages
        for item in page
        if item.get("Location", region) == region
    )


def describe_sold_types(
    client: AwsClient, machines: MachineLookup, sold_by_region: Mapping[str, frozenset[str] | None]
) -> Iterator[NotRead]:
    """`machines` learns what is sold, each type from the first region that sells it.

    Where a region fails the next one is asked; types that none describes stay as published.
    """
    undescribed = set[str]().union(*(sold or () for sold in sold_by_region.values()))
    first_failure: NotRead | None = None
    for region, sold in sold_by_region.items():
        names = sorted(undescribed.intersection(sold or ()))
        part = NotRead(f"machines of EC2 in {region}")
        try:
            for number, some in enumerate(split_into_parts(names, _TYPES_PER_CALL)):
                for page in client.read_all_pages(
                    f"instance_types/{region}-{number:02}",
                    "ec2",
                    region,
                    "describe_instance_types",
                    "InstanceTypes",
                    InstanceTypes=some,
                ):
                    for info in page:
                        machines.add_description(info)
                        undescribed.discard(info["InstanceType"])
        except PART_ERRORS as error:
            first_failure = first_failure or explain_unread(part, error)
            continue
        if missing := sorted(undescribed.intersection(names)):
            what = f"{len(missing)} of {len(names)} types are missing, such as {missing[0]}"
            first_failure = first_failure or replace(part, reason=f"{part.reason}: {what}")
    if undescribed and first_failure:
        yield replace(first_failure, instance_types=tuple(sorted(undescribed)))


_FAMILIES = ("GPU instance", "MachineType Learning ASIC Instances")
_FILTERS = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "preInstalledSw": "NA",
}
"""What the server may leave out for us; `rows.read_product` judges what it sends all the same."""


def products(client: AwsClient, region: str) -> Iterator[str]:
    """Every row (JSON) of the accelerated families in a region; empty means all regions."""
    for family in _FAMILIES:
        yield from _read_rows(client, region, family.replace(" ", "_"), instanceFamily=family)


def products_of_type(
    client: AwsClient, instance_type: str, regions: tuple[str, ...]
) -> Iterator[str]:
    """The rows of one machine, for families that AWS lists under another name."""
    for region in regions or ("",):
        yield from _read_rows(client, region, instance_type, instanceType=instance_type)


def _read_rows(client: AwsClient, region: str, what: str, **limit: str) -> Iterator[str]:
    filters = [
        {"Type": "TERM_MATCH", "Field": field, "Value": value}
        for field, value in (_FILTERS | limit | {"regionCode": region}).items()
        if value
    ]
    for page in client.read_all_pages(
        f"get_products/{region or 'all'}/{what}",
        "pricing",
        price_list_region(client.configured_region()),
        "get_products",
        "PriceList",
        reject_empty_pages=True,
        ServiceCode="AmazonEC2",
        Filters=filters,
        FormatVersion="aws_v1",
        MaxResults=100,
    ):
        yield from page
