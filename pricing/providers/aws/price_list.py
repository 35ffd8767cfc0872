"""On-demand and reserved prices with credentials: pricing.GetProducts."""

from __future__ import annotations

from collections.abc import Iterator

from pricing.providers.aws.client import AwsClient

_FAMILIES = ("GPU instance", "Machine Learning ASIC Instances")
_FILTERS = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "preInstalledSw": "NA",
}
"""What the server may leave out for us; `rows.read_product` judges what it sends all the same."""
_PRICE_LIST_REGIONS = {"cn": "cn-northwest-1"}
"""Where a partition keeps the Price List API, by the beginning of its regions; else us-east-1."""


def products(client: AwsClient, region: str) -> Iterator[str]:
    """Every row (JSON) of the accelerated families in a region; empty means all regions."""
    for family in _FAMILIES:
        filters = {"instanceFamily": family} | _region_filter(region)
        name = f"get_products/{region or 'all'}/{family.replace(' ', '_')}"
        yield from _read_rows(client, name, filters)


def products_of_type(
    client: AwsClient, instance_type: str, regions: tuple[str, ...]
) -> Iterator[str]:
    """The rows of one machine, for families that AWS lists under another name."""
    for region in regions or ("",):
        filters = {"instanceType": instance_type} | _region_filter(region)
        yield from _read_rows(client, f"get_products/{region or 'all'}/{instance_type}", filters)


def _region_filter(region: str) -> dict[str, str]:
    return {"regionCode": region} if region else {}


def _read_rows(client: AwsClient, name: str, extra_filters: dict[str, str]) -> Iterator[str]:
    filters = [
        {"Type": "TERM_MATCH", "Field": field, "Value": value}
        for field, value in (_FILTERS | extra_filters).items()
    ]
    for page in client.read_all_pages(
        name,
        "pricing",
        price_list_region(client.configured_region()) if not client.http.replaying else "",
        "get_products",
        "PriceList",
        reject_empty_pages=True,
        ServiceCode="AmazonEC2",
        Filters=filters,
        FormatVersion="aws_v1",
        MaxResults=100,
    ):
        yield from page


def price_list_region(region: str) -> str:
    """The region of the Price List API for one who works in `region`.

    >>> price_list_region("eu-west-1"), price_list_region("cn-north-1")
    ('us-east-1', 'cn-northwest-1')
    """
    return _PRICE_LIST_REGIONS.get(region.partition("-")[0], "us-east-1")
