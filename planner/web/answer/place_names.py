"""Offers as people call their place: "p5.48xlarge in US East (N. Virginia), on demand"."""

from __future__ import annotations

from collections.abc import Mapping

from planner.contract.labels import join_place


def name_place(provider: str, region: str, names: Mapping[str, str]) -> str:
    """A place as people call it; `names` are the answer's regions by provider and id.

    >>> name_place("aws", "eu-south-2", {"aws:eu-south-2": "Europe (Spain)"})
    'AWS Europe (Spain)'
    >>> name_place("lambda", "", {})
    'Lambda'
    """
    return join_place(provider, names.get(f"{provider}:{region}", region))


def with_place(key: str, label: str, names: Mapping[str, str]) -> str:
    """The label of an offer with its region's id replaced by what people call it.

    `key` is the offer's id, which begins with provider and region; other labels stay.

    >>> names = {"aws:us-east-1": "US East (N. Virginia)"}
    >>> with_place("aws:us-east-1:p5:on_demand", "p5 in us-east-1, on demand", names)
    'p5 in US East (N. Virginia), on demand'
    >>> with_place("server:dgx-h100", "DGX H100", names)
    'DGX H100'
    """
    provider, _, rest = key.partition(":")
    region = rest.partition(":")[0]
    known = names.get(f"{provider}:{region}")
    return label.replace(f" in {region}", f" in {known}", 1) if known else label
