"""On-demand and reserved prices with credentials: pricing.GetProducts."""

from __future__ import annotations

from collections.abc import Iterator

from pricing.providers.aws.calls import Calls

_FAMILIES = ("GPU instance", "Machine Learning ASIC Instances")
_FILTERS = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "capacitystatus": "Used",
    "preInstalledSw": "NA",
}
"""What the server may leave out for us; `rows.read_product` judges what it sends all the same."""
_HOMES = {"cn": "cn-northwest-1"}
"""Where a partition keeps the Price List API, by the beginning of its regions; else us-east-1."""


def products(calls: Calls, regions: tuple[str, ...]) -> Iterator[str]:
    """Every row (JSON) of the accelerated families; `regions` limits it, empty means all."""
    for region in regions or ("",):
        for family in _FAMILIES:
            wanted = {"instanceFamily": family} | _region_filter(region)
            name = f"get_products/{region or 'all'}/{family.replace(' ', '_')}"
            yield from _rows(calls, name, wanted)


def products_of(calls: Calls, instance_type: str, regions: tuple[str, ...]) -> Iterator[str]:
    """The rows of one machine, for families that AWS lists under another name."""
    for region in regions or ("",):
        wanted = {"instanceType": instance_type} | _region_filter(region)
        yield from _rows(calls, f"get_products/{region or 'all'}/{instance_type}", wanted)


def _region_filter(region: str) -> dict[str, str]:
    return {"regionCode": region} if region else {}


def _rows(calls: Calls, name: str, wanted: dict[str, str]) -> Iterator[str]:
    filters = [
        {"Type": "TERM_MATCH", "Field": field, "Value": value}
        for field, value in (_FILTERS | wanted).items()
    ]
    for page in calls.all_pages(
        name,
        "pricing",
        home_of(calls.own_region()) if not calls.pages.replaying else "",
        "get_products",
        "PriceList",
        gapless=True,
        ServiceCode="AmazonEC2",
        Filters=filters,
        FormatVersion="aws_v1",
        MaxResults=100,
    ):
        yield from page


def home_of(region: str) -> str:
    """The region of the Price List API for one who works in `region`.

    >>> home_of("eu-west-1"), home_of("cn-north-1")
    ('us-east-1', 'cn-northwest-1')
    """
    return _HOMES.get(region.partition("-")[0], "us-east-1")
