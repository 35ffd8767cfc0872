"""What an account may run of each accelerator: the on-demand quotas of Service Quotas.

AWS limits vCPUs by a group of families in a region ("Running On-Demand P instances": P2 to P6
together). A limit is turned into accelerators by the machine of the group that makes the most
of it, for each accelerator as if the whole limit were spent on it. Spot has quotas of its own
and is left out; a limit of 0, which new accounts have, is a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pricing.ingest.http import AccessDenied, ProviderHttpClient
from pricing.ingest.provider import FetchContext, ProviderUnavailable
from pricing.market import machine_types
from pricing.providers.aws.client import AwsClient

_QUOTA_NAME = re.compile(r"Running On-Demand (.+) instances")
_LETTERS = re.compile(r"[a-z]+")
_MERGED_FAMILIES = {"gr": "g"}
"""Families counted in the group of another letter."""

Quota = dict[str, Any]


def fetch_quotas(context: FetchContext) -> list[Quota]:
    """Rows for `constraints.quotas`: provider, region, accelerator, max_accelerators."""
    with ProviderHttpClient("aws", context) as http:
        client = AwsClient(http)
        if not http.replaying and not client.uses_loopback() and not client.has_credentials():
            raise ProviderUnavailable(
                "aws",
                "quotas belong to an account and there are no credentials",
                "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run with a "
                "role that may servicequotas:ListServiceQuotas.",
            )
        return list(_read_quotas(client, context.regions))


def _read_quotas(client: AwsClient, wanted_regions: tuple[str, ...]) -> Iterator[Quota]:
    denied: AccessDenied | None = None
    has_answer = False
    for region in wanted_regions or client.regions():
        try:
            rows = list(_rows(client, region))
        except AccessDenied as error:
            denied = error
            continue
        has_answer = True
        yield from convert_quotas(region, rows)
    if denied is not None and not has_answer:
        raise denied


def _rows(client: AwsClient, region: str) -> Iterator[Mapping[str, Any]]:
    pages = client.read_all_pages(
        f"quotas/{region}",
        "service-quotas",
        region,
        "list_service_quotas",
        "Quotas",
        ServiceCode="ec2",
        MaxResults=100,
    )
    for page in pages:
        yield from page


def convert_quotas(region: str, rows: Iterable[Mapping[str, Any]]) -> list[Quota]:
    """One quota for each accelerator of the groups that are limited.

    >>> rows = [{"QuotaName": "Running On-Demand Trn instances", "Value": 256.0}]
    >>> [(q["accelerator"], q["max_accelerators"]) for q in convert_quotas("us-east-1", rows)]
    [('aws-trainium', 32), ('aws-trainium2', 21)]
    """
    limits = {
        letter: row["Value"] for row in rows for letter in _parse_family_letters(row["QuotaName"])
    }
    accelerators_by_slug: dict[str, int] = {}
    for machine_type in machine_types.all_machine_types("aws").values():
        limit = limits.get(_family_letters(machine_type.instance_type))
        if limit is None or not machine_type.vcpus or not machine_type.accelerator_count:
            continue
        count = int(limit // machine_type.vcpus * machine_type.accelerator_count)
        accelerators_by_slug[machine_type.accelerator] = max(
            accelerators_by_slug.get(machine_type.accelerator, 0), count
        )
    return [
        {
            "provider": "aws",
            "region": region,
            "accelerator": accelerator,
            "max_accelerators": accelerators_by_slug[accelerator],
        }
        for accelerator in sorted(accelerators_by_slug)
    ]


def _parse_family_letters(name: str) -> list[str]:
    """The letters of the families that a quota is for: "G and VT" → g, vt."""
    match = _QUOTA_NAME.fullmatch(name)
    return [word.lower() for word in match[1].split(" and ")] if match else []


def _family_letters(instance_type: str) -> str:
    match = _LETTERS.match(instance_type)
    letters = match[0] if match else ""
    return _MERGED_FAMILIES.get(letters, letters)
