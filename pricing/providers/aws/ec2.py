"""Which machines a region sells, and what they hold: the EC2 API."""

from __future__ import annotations

from collections.abc import Iterator

from pricing.providers.aws.calls import Calls
from pricing.providers.aws.machines import Machines

_TYPES_PER_CALL = 100
"""Names that DescribeInstanceTypes takes at once."""


def sold_in(calls: Calls, machines: Machines, region: str) -> frozenset[str]:
    """The instance types offered in `region`; `machines` learns those that it did not know.

    Raises `Refused` for a region that this account has not enabled.
    """
    name = f"instance_type_offerings/{region}"
    operation, needs = "describe_instance_type_offerings", "InstanceTypeOfferings"
    found = {
        item["InstanceType"]
        for page in calls.all_pages(name, "ec2", region, operation, needs, LocationType="region")
        for item in page
        if item.get("Location", region) == region
    }
    new = sorted(name for name in found if not machines.described(name))
    for number, names in enumerate(parts_of(new, _TYPES_PER_CALL)):
        _describe(calls, machines, region, number, names)
    return frozenset(found)


def _describe(calls: Calls, machines: Machines, region: str, number: int, names: list[str]) -> None:
    page_name = f"instance_types/{region}-{number:02}"
    operation, needs = "describe_instance_types", "InstanceTypes"
    for page in calls.all_pages(page_name, "ec2", region, operation, needs, InstanceTypes=names):
        for info in page:
            machines.learn(info)


def parts_of(names: list[str], size: int) -> Iterator[list[str]]:
    """`names` in lists of at most `size`.

    >>> list(parts_of(["a", "b", "c"], 2))
    [['a', 'b'], ['c']]
    """
    return (names[start : start + size] for start in range(0, len(names), size))
