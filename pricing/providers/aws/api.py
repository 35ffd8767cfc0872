"""The whole market as AWS shows it to an account: prices first, then region by region what is
sold there and what the other purchase options cost."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pricing.ingest.http import AccessDenied, SignInExpired
from pricing.ingest.parts import PART_ERRORS, explain_unread, read_part
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.ingest.side_by_side import map_side_by_side
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import capacity_blocks, price_list, savings_plans, spot
from pricing.providers.aws.client import AwsClient
from pricing.providers.aws.ec2 import describe_sold_types, read_sold_types
from pricing.providers.aws.machines import Machine, MachineLookup
from pricing.providers.aws.regions import (
    NOT_PRICED,
    find_unknown,
    is_ec2_region,
    region_code,
    report_other_partition,
)
from pricing.providers.aws.rows import read_product, read_terms

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
    """What is known so far."""

    machines: MachineLookup
    retrieved_at: dt.datetime
    sold_by_region: dict[str, frozenset[str] | None] = field(default_factory=dict)
    """Instance types by region; None where EC2 could not be asked."""
    priced_machines: dict[tuple[str, str], Machine] = field(default_factory=dict)
    """By region and instance type."""
    block_rows: set[tuple[str, str]] = field(default_factory=set)
    """Regions and machines with a row for Capacity Blocks, whose price is not in it."""
    read_rows: set[str] = field(default_factory=set)
    reported_rows: set[SkippedRow] = field(default_factory=set)

    def is_sold(self, region: str, instance_type: str) -> bool:
        """Where nobody could be asked, the price list is believed."""
        types = self.sold_by_region.get(region)
        return types is None or instance_type in types

    def record_block_row(self, attributes: Mapping[str, str]) -> None:
        if attributes.get("marketoption") == "CapacityBlock":
            self.block_rows.add((region_code(attributes), attributes.get("instanceType", "")))

    def machines_sold_by_block(self, region: str) -> list[Machine]:
        """By what EC2 says of the machine, or by a row of the price list."""
        return [
            one
            for one in self.machines_in(region)
            if one.capacity_blocks or (region, one.instance_type) in self.block_rows
        ]

    def machines_priced_or_sold(self, region: str) -> list[Machine]:
        """Those whose row got lost on the way included."""
        machines = {one.instance_type: one for one in self.machines_in(region)}
        for (code, name), machine in self.priced_machines.items():
            if code == region:
                machines[name] = machine
        return list(machines.values())

    def machines_in(self, region: str) -> list[Machine]:
        types = self.sold_by_region.get(region) or frozenset()
        return [one for one in self.machines.accelerated_machines() if one.instance_type in types]


@dataclass(frozen=True)
class PriceList:
    """The rows (JSON) of GetProducts, and the regions whose rows did not come."""

    rows: tuple[str, ...]
    not_read: tuple[NotRead, ...] = ()


def read_price_list(client: AwsClient, context: FetchContext) -> PriceList:
    """What is on the price list, asked for region by region where the run is limited to some.

    One region of several may fail. Raises `AccessDenied` where AWS refuses the credentials.
    """
    rows: list[str] = []
    failures: list[tuple[str, ProviderUnavailable]] = []
    for region in context.regions or ("",):
        try:
            rows += list(price_list.products(client, region))
        except AccessDenied:
            raise
        except ProviderUnavailable as error:
            failures.append((region, error))
    if failures and len(failures) == max(len(context.regions), 1):
        raise failures[0][1]
    parts = (
        explain_unread(NotRead(f"prices in {region}", regions=(region,)), error)
        for region, error in failures
    )
    return PriceList(tuple(rows), tuple(parts))


def read(client: AwsClient, context: FetchContext, listed: PriceList) -> FetchedRows:
    """Every offering that the credentials allow to see."""
    state = _FetchState(MachineLookup(context.retrieved_at.date()), context.retrieved_at)
    yield from listed.not_read
    unread = {region for part in listed.not_read for region in part.regions}
    wanted_regions = tuple(region for region in context.regions if region not in unread)
    regions = _find_priced_regions(listed.rows, wanted_regions)
    missing = find_unknown(wanted_regions, regions)
    yield from (SkippedRow(NOT_PRICED, region) for region in missing)
    not_read = None if context.regions else report_other_partition(regions)
    if not_read is not None:
        yield not_read
    yield from _read_machines(client, state, [one for one in regions if is_ec2_region(one)])
    yield from _read_prices(listed.rows, state, context)
    yield from _read_unlisted_families(client, state, context)
    yield from _report_unpriced(state)
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
    for rows in map_side_by_side(list, parts, len(parts)):
        yield from rows


def _region_by_region(
    what: str,
    regions: Sequence[str],
    read_region: Callable[[str], list[Row]],
    context: FetchContext,
    workers: int = _REGIONS_AT_ONCE,
) -> Iterator[Row]:
    """The rows of all regions in order, several regions at once."""
    for regions_done, rows in enumerate(map_side_by_side(read_region, regions, workers), 1):
        context.progress(what, regions_done, len(regions))
        yield from rows


def _find_priced_regions(rows: Iterable[str], wanted_regions: tuple[str, ...]) -> list[str]:
    """The regions with a price, those with EC2 before their Local Zones."""
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
    return sorted(
        priced.intersection(wanted_regions) if wanted_regions else priced,
        key=lambda code: (not is_ec2_region(code), code),
    )


def _read_machines(
    client: AwsClient, state: _FetchState, regions: Sequence[str]
) -> Iterator[NotRead]:
    """What each region sells, and what the machines hold that our table does not know."""

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
            yield SkippedRow("the same row again", _parse_sku(text))
            continue
        state.read_rows.add(text)
        row = _parse_row(text)
        state.record_block_row(row["product"].get("attributes", {}))
        sku = read_product(row["product"], state.machines)
        if isinstance(sku, SkippedRow):
            state.reported_rows.add(sku)
            yield sku
        elif sku is not None and (not context.regions or sku.region in context.regions):
            name = sku.machine.instance_type
            state.priced_machines[sku.region, name] = sku.machine
            sold_now = state.is_sold(sku.region, name)
            yield from read_terms(sku, _merge_terms(row), day, sold_now)


def _parse_row(text: str) -> dict[str, Any]:
    """A row of the price list, which is JSON within JSON."""
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


def _parse_sku(text: str) -> str:
    return str(_parse_row(text)["product"].get("sku", ""))


def _merge_terms(row: Mapping[str, Any]) -> dict[str, Any]:
    """The terms of every section. What a term is, it says itself."""
    return {
        code: term for section in row.get("terms", {}).values() for code, term in section.items()
    }


def _read_unlisted_families(
    client: AwsClient, state: _FetchState, context: FetchContext
) -> FetchedRows:
    """Machines that EC2 sells and no accelerated family of the price list holds. One that fails
    is told by `_report_unpriced`."""
    priced_types = {name for _, name in state.priced_machines}
    for machine in sorted(state.machines.accelerated_machines(), key=lambda one: one.instance_type):
        name = machine.instance_type
        if name not in priced_types:
            part = NotRead(f"prices of {name}", _FROM_PRICE_LIST, (), (name,))
            for row in read_part(part, partial(_list_rows, client, name, context.regions)):
                if isinstance(row, NotRead):
                    yield row
                else:
                    yield from _read_prices([row], state, context)
    yield from (row for row in state.machines.unknown_machines() if row not in state.reported_rows)


def _list_rows(client: AwsClient, name: str, regions: tuple[str, ...]) -> list[str]:
    return list(price_list.products_of_type(client, name, regions))


def _report_unpriced(state: _FetchState) -> Iterator[SkippedRow | NotRead]:
    """Machines sold at a place for which no row came: some are had by the Capacity Block alone,
    others' rows got lost on the way. What is published of them stays in force."""
    for region in state.sold_by_region:
        names = sorted(one.instance_type for one in state.machines_in(region))
        unpriced = tuple(name for name in names if (region, name) not in state.priced_machines)
        yield from (SkippedRow(_NO_PRICE, f"{name} {region}") for name in unpriced)
        if unpriced:
            yield NotRead(_NO_PRICE, _FROM_PRICE_LIST, (region,), unpriced)


def _read_interruptible(client: AwsClient, state: _FetchState, region: str) -> list[Row]:
    """Spot and Capacity Blocks of a region, either of which may fail."""
    machines, now = state.machines_in(region), state.retrieved_at
    spot_part = NotRead(f"spot in {region}", (PurchaseOption.SPOT.value,), (region,))
    return [
        *read_part(spot_part, lambda: spot.read(client, region, machines, now)),
        *capacity_blocks.read(client, region, state.machines_sold_by_block(region), now.date()),
    ]


def _read_savings_plans(client: AwsClient, state: _FetchState, region: str) -> list[Row]:
    machines = state.machines_priced_or_sold(region)
    if not machines:
        return []
    part = NotRead(f"savings plans in {region}", (PurchaseOption.SAVINGS_PLAN.value,), (region,))
    sold = state.sold_by_region.get(region)
    rates = read_part(part, lambda: savings_plans.read(client, region, machines, sold))
    return list(savings_plans.make_offers(rates, state.retrieved_at.date()))
