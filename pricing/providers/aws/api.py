"""The whole market as AWS shows it to an account: prices first, then region by region what is
sold there and what the other purchase options cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pricing.ingest.http import Refused
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.aws import capacity_blocks, price_list, savings_plans, spot
from pricing.providers.aws.calls import Calls
from pricing.providers.aws.ec2 import sold_in
from pricing.providers.aws.machines import Machine, Machines
from pricing.providers.aws.regions import (
    NOT_PRICED,
    is_ec2_region,
    other_partition,
    region_code,
    unknown_among,
)
from pricing.providers.aws.rows import read_product, read_terms

_FROM_EC2 = (PurchaseOption.SPOT.value, PurchaseOption.CAPACITY_BLOCK.value)
_FROM_PRICE_LIST = (
    PurchaseOption.ON_DEMAND.value,
    PurchaseOption.RESERVED.value,
    PurchaseOption.RESERVED_CONVERTIBLE.value,
)
_NO_PRICE = "sold without a listed price"
Found = Iterator[Offer | SkippedRow | NotRead]


@dataclass
class _Market:
    """What is known so far."""

    machines: Machines
    sold: dict[str, frozenset[str] | None] = field(default_factory=dict)
    """Instance types by region; None where EC2 could not be asked."""
    priced: dict[tuple[str, str], Machine] = field(default_factory=dict)
    """By region and instance type."""
    by_block: set[tuple[str, str]] = field(default_factory=set)
    """Regions and machines with a row for Capacity Blocks, whose price is not in it."""
    seen: set[str] = field(default_factory=set)
    reported: set[SkippedRow] = field(default_factory=set)

    def is_sold(self, region: str, instance_type: str) -> bool:
        """Where nobody could be asked, the price list is believed."""
        types = self.sold.get(region)
        return types is None or instance_type in types

    def note_block(self, attributes: Mapping[str, str]) -> None:
        if attributes.get("marketoption") == "CapacityBlock":
            self.by_block.add((region_code(attributes), attributes.get("instanceType", "")))

    def sold_by_block(self, region: str) -> list[Machine]:
        """By what EC2 says of the machine, or by a row of the price list."""
        return [
            one
            for one in self.machines_in(region)
            if one.capacity_blocks or (region, one.instance_type) in self.by_block
        ]

    def machines_in(self, region: str) -> list[Machine]:
        types = self.sold.get(region) or frozenset()
        return [one for one in self.machines.accelerated() if one.instance_type in types]


def read(calls: Calls, context: FetchContext) -> Found:
    """Every offering that the credentials allow to see."""
    market = _Market(Machines(context.retrieved_at.date()))
    rows = list(price_list.products(calls, context.regions))
    regions = _regions_of(rows, context.regions)
    missing = unknown_among(context.regions, regions)
    yield from (SkippedRow(NOT_PRICED, region) for region in missing)
    unseen = None if context.regions else other_partition(regions)
    if unseen is not None:
        yield unseen
    for done, region in enumerate(regions):
        context.progress("machines by region", done, len(regions))
        yield from _learn(calls, market, region)
    yield from _prices(rows, market, context)
    yield from _prices_elsewhere(calls, market, context)
    yield from _without_price(market)
    ec2_regions = [region for region in regions if market.sold.get(region)]
    for done, region in enumerate(ec2_regions):
        context.progress("spot and capacity blocks by region", done, len(ec2_regions))
        machines = market.machines_in(region)
        yield from _spot(calls, region, machines, context)
        blocks = market.sold_by_block(region)
        yield from capacity_blocks.read(calls, region, blocks, context.retrieved_at.date())
    yield from _plans(calls, market, regions, context)


def _regions_of(rows: Iterable[str], wanted: tuple[str, ...]) -> list[str]:
    """The regions with a price, those with EC2 before their Local Zones."""
    found = {region_code(_read(row)["product"].get("attributes", {})) for row in rows}
    found.discard("")
    missing = unknown_among(wanted, found)
    if wanted and len(missing) == len(wanted):
        raise ProviderUnavailable(
            "aws",
            f"no accelerator is priced in {', '.join(missing)}",
            "Choose region codes such as us-east-1, eu-central-1 or ap-northeast-1.",
        )
    if not found:
        raise ProviderUnavailable(
            "aws",
            "the price list came without a single accelerator",
            "The last published prices stay in force; try again later.",
        )
    return sorted(
        found.intersection(wanted) if wanted else found,
        key=lambda code: (not is_ec2_region(code), code),
    )


def _learn(calls: Calls, market: _Market, region: str) -> Iterator[NotRead]:
    if not is_ec2_region(region):
        return
    try:
        market.sold[region] = sold_in(calls, market.machines, region) or None
    except Refused as error:
        market.sold[region] = None
        yield NotRead(f"EC2: {error.what}", _FROM_EC2, (region,))


def _prices(rows: Iterable[str], market: _Market, context: FetchContext) -> Found:
    day = context.retrieved_at.date()
    for text in rows:
        if text in market.seen:
            yield SkippedRow("the same row again", _sku_of(text))
            continue
        market.seen.add(text)
        row = _read(text)
        market.note_block(row["product"].get("attributes", {}))
        sku = read_product(row["product"], market.machines)
        if isinstance(sku, SkippedRow):
            market.reported.add(sku)
            yield sku
        elif sku is not None and (not context.regions or sku.region in context.regions):
            name = sku.machine.instance_type
            market.priced[sku.region, name] = sku.machine
            sold_now = market.is_sold(sku.region, name)
            yield from read_terms(sku, _terms(row), day, sold_now)


def _read(text: str) -> dict[str, Any]:
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


def _sku_of(text: str) -> str:
    return str(_read(text)["product"].get("sku", ""))


def _terms(row: Mapping[str, Any]) -> dict[str, Any]:
    """The terms of every section. What a term is, it says itself."""
    return {
        code: term for section in row.get("terms", {}).values() for code, term in section.items()
    }


def _prices_elsewhere(calls: Calls, market: _Market, context: FetchContext) -> Found:
    """Machines that EC2 sells and no accelerated family of the price list holds."""
    priced = {name for _, name in market.priced}
    for machine in sorted(market.machines.accelerated(), key=lambda one: one.instance_type):
        if machine.instance_type not in priced:
            rows = price_list.products_of(calls, machine.instance_type, context.regions)
            yield from _prices(rows, market, context)
    yield from (row for row in market.machines.unknown() if row not in market.reported)


def _without_price(market: _Market) -> Iterator[SkippedRow | NotRead]:
    """Machines sold at a place for which no row came: some are had by the Capacity Block alone,
    others' rows got lost on the way. What is published of them stays in force."""
    for region in market.sold:
        names = sorted(one.instance_type for one in market.machines_in(region))
        lacking = tuple(name for name in names if (region, name) not in market.priced)
        yield from (SkippedRow(_NO_PRICE, f"{name} {region}") for name in lacking)
        if lacking:
            yield NotRead(_NO_PRICE, _FROM_PRICE_LIST, (region,), lacking)


def _spot(calls: Calls, region: str, machines: list[Machine], context: FetchContext) -> Found:
    try:
        yield from spot.read(calls, region, machines, context.retrieved_at)
    except Refused as error:
        yield NotRead(f"spot: {error.what}", (PurchaseOption.SPOT.value,), (region,))


def _plans(calls: Calls, market: _Market, regions: Iterable[str], context: FetchContext) -> Found:
    option = (PurchaseOption.SAVINGS_PLAN.value,)
    for region in regions:
        machines = [one for (code, _), one in market.priced.items() if code == region]
        if not machines:
            continue
        try:
            rates = list(savings_plans.read(calls, region, machines, market.sold.get(region)))
        except Refused as error:
            yield NotRead(f"savings plans: {error.what}", option, context.regions)
            return
        yield from savings_plans.cheapest(rates, context.retrieved_at.date())
