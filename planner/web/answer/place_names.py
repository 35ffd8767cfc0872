"""Offers as people call their place: "p5.48xlarge in US East (N. Virginia), on demand"."""

from __future__ import annotations

from collections.abc import Mapping

from planner.contract.labels import UNNAMED_REGION, cloud_title, join_place


def name_place(provider: str, region: str, names: Mapping[str, str]) -> str:
    """A place as people call it; `names` are the answer's regions by provider and id.

    >>> name_place("aws", "eu-south-2", {"aws:eu-south-2": "Europe (Spain)"})
    'AWS Europe (Spain)'
    >>> name_place("lambda", "", {})
    'Lambda'
    """
    return join_place(provider, names.get(f"{provider}:{region}", region))


def with_place(key: str, label: str, names: Mapping[str, str]) -> str:
    """The label of an offer with its region's id replaced by what people call it, before the zone
    that its price holds in.

    `key` is the offer's id, which begins with provider, region and zone; other labels stay.

    >>> names = {"aws:us-east-1": "US East (N. Virginia)"}
    >>> with_place("aws:us-east-1:p5:on_demand", "p5 in us-east-1, on demand", names)
    'p5 in US East (N. Virginia), on demand'
    >>> with_place("aws:us-east-1/use1-az2:p5:spot", "p5 in use1-az2, spot", names)
    'p5 in US East (N. Virginia), use1-az2, spot'
    >>> with_place("denvr:all-regions:8x H100:on_demand", "8x H100 in all-regions, on demand", {})
    '8x H100 in Denvr, on demand'
    >>> with_place("server:dgx-h100", "DGX H100", names)
    'DGX H100'
    """
    provider, _, rest = key.partition(":")
    region, _, zone = rest.partition(":")[0].partition("/")
    known = names.get(f"{provider}:{region}")
    if region == UNNAMED_REGION:
        known = cloud_title(provider)
    if not known:
        return label
    return label.replace(
        f" in {zone or region}", f" in {', '.join(filter(None, (known, zone)))}", 1
    )
