"""AWS regions by code, whatever a row calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

_REGION = re.compile(r"[a-z]{2,3}(-[a-z]+)+-\d+")
_SPELLINGS = {
    "eu (": "europe (",
    "aws govcloud (us)": "aws govcloud (us-west)",
}
"""How the price list writes what botocore's table of endpoints writes otherwise."""


def region_code(attributes: Mapping[str, str]) -> str:
    """The code of a row's region, by its own code or by the name of its location; else "".

    >>> region_code({"location": "EU (London)"}), region_code({"regionCode": " US-East-1"})
    ('eu-west-2', 'us-east-1')
    """
    code = attributes.get("regionCode", "").strip().lower()
    return code or _codes_by_name().get(_plain(attributes.get("location", "")), "")


def is_ec2_region(code: str) -> bool:
    """Whether EC2 has an endpoint there: a Local or Wavelength Zone has none of its own.

    >>> is_ec2_region("us-gov-west-1"), is_ec2_region("us-west-2-lax-1")
    (True, False)
    """
    return _REGION.fullmatch(code) is not None


def currency_of(region: str) -> str:
    """The currency in which AWS sells there."""
    return "CNY" if region.startswith("cn-") else "USD"


def unknown_among(wanted: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The wanted regions that are not known, in their order."""
    there = set(known)
    return tuple(region for region in wanted if region not in there)


def _plain(name: str) -> str:
    name = name.strip().lower()
    for written, meant in _SPELLINGS.items():
        if name.startswith(written):
            return name.replace(written, meant, 1)
    return name


@cache
def _codes_by_name() -> dict[str, str]:
    from botocore.loaders import create_loader

    partitions = create_loader().load_data("endpoints")["partitions"]
    return {
        _plain(region["description"]): code
        for partition in partitions
        for code, region in partition["regions"].items()
    }
