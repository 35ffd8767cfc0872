"""Which machines a region sells, and what they hold: the EC2 API."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pricing.ingest.parts import PART_ERRORS, explain_unread
from pricing.ingest.provider import NotRead
from pricing.ingest.side_by_side import map_side_by_side
from pricing.providers.aws.client import AwsClient
from pricing.providers.aws.machines import MachineLookup

_TYPES_PER_CALL = 100
"""Names that DescribeInstanceTypes takes at once."""
_REGIONS_AT_ONCE = 8


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
    client: AwsClient,
    machines: MachineLookup,
    sold_by_region: Mapping[str, frozenset[str] | None],
) -> Iterator[NotRead]:
    """`machines` learns what is sold, each type from the first region that sells it.

    Where a region fails the next one is asked; types that none describes stay as published.
    """
    sellers = {region: sold for region, sold in sold_by_region.items() if sold}
    undescribed = set[str]().union(*sellers.values())
    failures: dict[str, NotRead] = {}
    for _ in range(len(sellers)):
        shares = _share_out(undescribed, sellers)
        if not shares:
            break
        read_region = partial(_describe_region, client, shares)
        for region, infos in zip(
            shares, map_side_by_side(read_region, shares, _REGIONS_AT_ONCE), strict=True
        ):
            described = infos if isinstance(infos, NotRead) else _learn(machines, region, infos)
            if isinstance(described, NotRead):
                failure: NotRead | None = described
            else:
                undescribed -= described
                failure = _find_missing(region, shares[region], described)
            if failure is not None:
                failures[region] = failure
                del sellers[region]
    if undescribed:
        first = next(iter(failures.values()))
        yield replace(first, regions=(), instance_types=tuple(sorted(undescribed)))


def _learn(
    machines: MachineLookup, region: str, infos: Iterable[Mapping[str, Any]]
) -> set[str] | NotRead:
    """The types that were described."""
    described: set[str] = set()
    try:
        for info in infos:
            machines.add_description(info)
            described.add(info["InstanceType"])
    except PART_ERRORS as error:
        return explain_unread(NotRead(f"machines of EC2 in {region}"), error)
    return described


def _find_missing(region: str, names: list[str], described: set[str]) -> NotRead | None:
    """AWS describes each type that it is asked for, or refuses the question."""
    missing = sorted(set(names) - described)
    if not missing:
        return None
    what = f"{len(missing)} of {len(names)} types are missing, such as {missing[0]}"
    return NotRead(f"machines of EC2 in {region}: {what}")


def _share_out(
    types: Collection[str], sellers: Mapping[str, frozenset[str]]
) -> dict[str, list[str]]:
    """region → types to be described there."""
    shares: dict[str, list[str]] = {}
    for name in sorted(types):
        region = next((code for code, sold in sellers.items() if name in sold), None)
        if region is not None:
            shares.setdefault(region, []).append(name)
    return shares


def _describe_region(
    client: AwsClient, shares: Mapping[str, list[str]], region: str
) -> list[Mapping[str, Any]] | NotRead:
    try:
        return [
            info
            for number, names in enumerate(split_into_parts(shares[region], _TYPES_PER_CALL))
            for info in _read_descriptions(client, region, number, names)
        ]
    except PART_ERRORS as error:
        return explain_unread(NotRead(f"machines of EC2 in {region}"), error)


def _read_descriptions(
    client: AwsClient, region: str, number: int, names: list[str]
) -> Iterator[Mapping[str, Any]]:
    page_name = f"instance_types/{region}-{number:02}"
    operation, result_key = "describe_instance_types", "InstanceTypes"
    for page in client.read_all_pages(
        page_name, "ec2", region, operation, result_key, InstanceTypes=names
    ):
        yield from page


def split_into_parts(names: list[str], size: int) -> Iterator[list[str]]:
    """`names` in lists of at most `size`.

    >>> list(split_into_parts(["a", "b", "c"], 2))
    [['a', 'b'], ['c']]
    """
    return (names[start : start + size] for start in range(0, len(names), size))
