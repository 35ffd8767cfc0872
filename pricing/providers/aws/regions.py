"""AWS regions by code, whatever a row calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from pricing.ingest.provider import NotRead

_REGION = re.compile(r"[a-z]{2,3}(-[a-z]+)+-\d+")
_SPELLINGS = {
    "eu (": "europe (",
    "aws govcloud (us)": "aws govcloud (us-west)",
}
"""How the price list writes what botocore's table of endpoints writes otherwise."""

_LOCAL_ZONES_OF_CHINA = ("cn-north-1-pkx-1",)
"""Botocore's table has none; the list of the other partition says nothing about these either."""

NOT_PRICED = "region that AWS does not price"
"""Among the regions of a run may be another cloud's: that one is named and passed over."""


def region_code(attributes: Mapping[str, str]) -> str:
    """The code of a row's region, by its own code or by the name of its location; else "".

    >>> region_code({"location": "EU (London)"}), region_code({"regionCode": " US-East-1"})
    ('eu-west-2', 'us-east-1')
    """
    code = attributes.get("regionCode", "").strip().lower()
    return code or _region_codes_by_name().get(_normalize_name(attributes.get("location", "")), "")


def is_ec2_region(code: str) -> bool:
    """Whether EC2 has an endpoint there: a Local or Wavelength Zone has none of its own.

    >>> is_ec2_region("us-gov-west-1"), is_ec2_region("us-west-2-lax-1")
    (True, False)
    """
    return _REGION.fullmatch(code) is not None


def region_currency(region: str) -> str:
    """The currency in which AWS sells there."""
    return "CNY" if region.startswith("cn-") else "USD"


def find_unknown(wanted_regions: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The wanted regions that are not known, in their order."""
    known_regions = set(known)
    return tuple(region for region in wanted_regions if region not in known_regions)


def report_other_partition(regions: Iterable[str]) -> NotRead | None:
    """What a list of these regions says nothing about: China has a list and accounts of its own.

    >>> report_other_partition(["us-east-1", "cn-north-1"]) is None
    True
    """
    in_china = {code.startswith("cn-") for code in regions}
    if in_china == {False}:
        return NotRead("China has a price list of its own", (), partition_regions("cn"))
    if in_china == {True}:
        return NotRead("the list of China knows no other regions")
    return None


def _normalize_name(name: str) -> str:
    name = name.strip().lower()
    for spelling, replacement in _SPELLINGS.items():
        if name.startswith(spelling):
            return name.replace(spelling, replacement, 1)
    return name


def partition_regions(partition: str) -> tuple[str, ...]:
    """The regions of a price list, "aws" or "cn"; GovCloud is on that of "aws"."""
    local_zones = _LOCAL_ZONES_OF_CHINA if partition == "cn" else ()
    return local_zones + tuple(
        code
        for one in _partitions()
        if (one.name == "aws-cn") == (partition == "cn")
        for code in one.region_names
    )


@cache
def _region_codes_by_name() -> dict[str, str]:
    return {
        _normalize_name(name): code
        for partition in _partitions()
        for code, name in partition.region_names.items()
    }


@dataclass(frozen=True)
class _Partition:
    name: str
    region_names: Mapping[str, str]
    """By code."""


@cache
def _partitions() -> tuple[_Partition, ...]:
    """What is needed of botocore's table of endpoints, which takes 7 MB whole."""
    from botocore.loaders import create_loader

    return tuple(
        _Partition(
            one["partition"],
            {code: region["description"] for code, region in one["regions"].items()},
        )
        for one in create_loader().load_data("endpoints")["partitions"]
    )
