"""The whole market as AWS shows it to an account: prices first, then region by region what is
sold there and what the other purchase options cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pricing.ingest.http import AccessDenied
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import capacity_blocks, price_list, savings_plans, spot
from pricing.providers.aws.client import AwsClient
from pricing.providers.aws.ec2 import read_sold_types
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
FetchedRows = Iterator[Offer | SkippedRow | NotRead]


@dataclass
class _FetchState:
    """What is known so far."""

    machines: MachineLookup
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

    def machines_in(self, region: str) -> list[Machine]:
        types = self.sold_by_region.get(region) or frozenset()
        return [one for one in self.machines.accelerated_machines() if one.instance_type in types]


def read(client: AwsClient, context: FetchContext) -> FetchedRows:
    """Every offering that the credentials allow to see."""
    state = _FetchState(MachineLookup(context.retrieved_at.date()))
    rows = list(price_list.products(client, context.regions))
    regions = _find_priced_regions(rows, context.regions)
    missing = find_unknown(context.regions, regions)
    yield from (SkippedRow(NOT_PRICED, region) for region in missing)
    not_read = None if context.regions else report_other_partition(regions)
    if not_read is not None:
        yield not_read
    for regions_done, region in enumerate(regions):
        context.progress("machines by region", regions_done, len(regions))
        yield from _read_machines(client, state, region)
    yield from _read_prices(rows, state, context)
    yield from _read_unlisted_families(client, state, context)
    yield from _report_unpriced(state)
    ec2_regions = [region for region in regions if state.sold_by_region.get(region)]
    for regions_done, region in enumerate(ec2_regions):
        context.progress("spot and capacity blocks by region", regions_done, len(ec2_regions))
        machines = state.machines_in(region)
        yield from _read_spot(client, region, machines, context)
        blocks = state.machines_sold_by_block(region)
        yield from capacity_blocks.read(client, region, blocks, context.retrieved_at.date())
    yield from _read_savings_plans(client, state, regions, context)


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


def _read_machines(client: AwsClient, state: _FetchState, region: str) -> Iterator[NotRead]:
    if not is_ec2_region(region):
        return
    try:
        state.sold_by_region[region] = read_sold_types(client, state.machines, region) or None
    except AccessDenied as error:
        state.sold_by_region[region] = None
        yield NotRead(f"EC2: {error.what}", _FROM_EC2, (region,))


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
    """Machines that EC2 sells and no accelerated family of the price list holds."""
    priced_types = {name for _, name in state.priced_machines}
    for machine in sorted(state.machines.accelerated_machines(), key=lambda one: one.instance_type):
        if machine.instance_type not in priced_types:
            rows = price_list.products_of_type(client, machine.instance_type, context.regions)
            yield from _read_prices(rows, state, context)
    yield from (row for row in state.machines.unknown_machines() if row not in state.reported_rows)


def _report_unpriced(state: _FetchState) -> Iterator[SkippedRow | NotRead]:
    """Machines sold at a place for which no row came: some are had by the Capacity Block alone,
    others' rows got lost on the way. What is published of them stays in force."""
    for region in state.sold_by_region:
        names = sorted(one.instance_type for one in state.machines_in(region))
        unpriced = tuple(name for name in names if (region, name) not in state.priced_machines)
        yield from (SkippedRow(_NO_PRICE, f"{name} {region}") for name in unpriced)
        if unpriced:
            yield NotRead(_NO_PRICE, _FROM_PRICE_LIST, (region,), unpriced)


def _read_spot(
    client: AwsClient, region: str, machines: list[Machine], context: FetchContext
) -> FetchedRows:
    try:
        yield from spot.read(client, region, machines, context.retrieved_at)
    except AccessDenied as error:
        yield NotRead(f"spot: {error.what}", (PurchaseOption.SPOT.value,), (region,))


def _read_savings_plans(
    client: AwsClient, state: _FetchState, regions: Iterable[str], context: FetchContext
) -> FetchedRows:
    option = (PurchaseOption.SAVINGS_PLAN.value,)
    for region in regions:
        machines = [one for (code, _), one in state.priced_machines.items() if code == region]
        if not machines:
            continue
        try:
            rates = list(
                savings_plans.read(client, region, machines, state.sold_by_region.get(region))
            )
        except AccessDenied as error:
            yield NotRead(f"savings plans: {error.what}", option, context.regions)
            return
        yield from savings_plans.select_cheapest(rates, context.retrieved_at.date())
