"""Parts of a cloud that are sold apart. PURE.

A partition has accounts, contracts and rules of its own: a commercial account cannot rent in
AWS China, and the US government's regions are open to its contractors alone.
Sources: AWS "Partitions" (docs.aws.amazon.com, General Reference, 2025); Microsoft "Azure
sovereign clouds" (learn.microsoft.com, 2025).
"""

from __future__ import annotations

import re

from pricing.market.clouds import COMMERCIAL, MARKETPLACES, OTHER_CLOUDS, find_cloud

CLOUD_PARTITIONS = (
    *(COMMERCIAL, "aws-china", "aws-us-gov", "aws-us-iso", "azure-china", "azure-us-gov"),
)
"""Partitions of AWS, Azure and Google Cloud."""
PARTITIONS = (*CLOUD_PARTITIONS, OTHER_CLOUDS, MARKETPLACES)
"""Every partition by the name that a request uses."""


def find_partition(provider: str, region: str) -> str:
    """The partition of a provider's region.

    >>> find_partition("aws", "eu-central-1"), find_partition("aws", "cn-north-1-pkx-1")
    ('commercial', 'aws-china')
    >>> find_partition("azure", "usgovvirginia"), find_partition("gcp", "us-central1")
    ('azure-us-gov', 'commercial')
    >>> find_partition("runpod", "secure-cloud"), find_partition("runpod", "community-cloud")
    ('other-clouds', 'marketplaces')
    """
    # A price that a request brings along may name no provider.
    return find_cloud(provider).partition(region) if provider else COMMERCIAL


_LOCAL_ZONE = re.compile(r"[a-z]+(-[a-z]+)+-\d+-.+")


def is_local_zone(region: str) -> bool:
    """Whether it is a Local or Wavelength Zone of AWS, named after the region that it hangs on.

    >>> is_local_zone("us-east-1-atl-1"), is_local_zone("us-west-2-wl1-las1")
    (True, True)
    >>> is_local_zone("us-gov-west-1"), is_local_zone("europe-west4")
    (False, False)
    """
    return _LOCAL_ZONE.fullmatch(region) is not None
