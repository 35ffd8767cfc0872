"""Which machines a region sells, and what they hold: the EC2 API."""

from __future__ import annotations

from collections.abc import Iterator

from pricing.providers.aws.client import AwsClient
from pricing.providers.aws.machines import MachineLookup

_TYPES_PER_CALL = 100
"""Names that DescribeInstanceTypes takes at once."""


def read_sold_types(client: AwsClient, machines: MachineLookup, region: str) -> frozenset[str]:
    """The instance types offered in `region`; `machines` learns those that it did not know.

    Raises `AccessDenied` for a region that this account has not enabled.
    """
    name = f"instance_type_offerings/{region}"
    operation, result_key = "describe_instance_type_offerings", "InstanceTypeOfferings"
    sold_types = {
        item["InstanceType"]
        for page in client.read_all_pages(
            name, "ec2", region, operation, result_key, LocationType="region"
        )
        for item in page
        if item.get("Location", region) == region
    }
    undescribed = sorted(name for name in sold_types if not machines.is_described(name))
    for number, names in enumerate(split_into_parts(undescribed, _TYPES_PER_CALL)):
        _read_descriptions(client, machines, region, number, names)
    return frozenset(sold_types)


def _read_descriptions(
    client: AwsClient, machines: MachineLookup, region: str, number: int, names: list[str]
) -> None:
    page_name = f"instance_types/{region}-{number:02}"
    operation, result_key = "describe_instance_types", "InstanceTypes"
    for page in client.read_all_pages(
        page_name, "ec2", region, operation, result_key, InstanceTypes=names
    ):
        for info in page:
            machines.add_description(info)


def split_into_parts(names: list[str], size: int) -> Iterator[list[str]]:
    """`names` in lists of at most `size`.

    >>> list(split_into_parts(["a", "b", "c"], 2))
    [['a', 'b'], ['c']]
    """
    return (names[start : start + size] for start in range(0, len(names), size))
