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

from pricing.ingest.http import Pages, Refused
from pricing.ingest.provider import FetchContext, ProviderUnavailable
from pricing.market import machine_types
from pricing.providers.aws.calls import Calls

_NAME = re.compile(r"Running On-Demand (.+) instances")
_LETTERS = re.compile(r"[a-z]+")
_RENAMED = {"gr": "g"}
"""Families counted in the group of another letter."""

Quota = dict[str, Any]


def fetch_quotas(context: FetchContext) -> list[Quota]:
    """Rows for `constraints.quotas`: provider, region, accelerator, max_accelerators."""
    with Pages("aws", context) as pages:
        calls = Calls(pages)
        if not pages.replaying and not calls.loopback_endpoint() and not calls.has_credentials():
            raise ProviderUnavailable(
                "aws",
                "quotas belong to an account and there are no credentials",
                "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run with a "
                "role that may servicequotas:ListServiceQuotas.",
            )
        return list(_quotas(calls, context.regions))


def _quotas(calls: Calls, wanted: tuple[str, ...]) -> Iterator[Quota]:
    refused: Refused | None = None
    answered = False
    for region in wanted or calls.regions():
        try:
            rows = list(_rows(calls, region))
        except Refused as error:
            refused = error
            continue
        answered = True
        yield from read_quotas(region, rows)
    if refused is not None and not answered:
        raise refused


def _rows(calls: Calls, region: str) -> Iterator[Mapping[str, Any]]:
    pages = calls.all_pages(
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


def read_quotas(region: str, rows: Iterable[Mapping[str, Any]]) -> list[Quota]:
    """One quota for each accelerator of the groups that are limited.

    >>> rows = [{"QuotaName": "Running On-Demand Trn instances", "Value": 256.0}]
    >>> [(q["accelerator"], q["max_accelerators"]) for q in read_quotas("us-east-1", rows)]
    [('aws-trainium', 32), ('aws-trainium2', 21)]
    """
    limits = {letter: row["Value"] for row in rows for letter in _letters(row["QuotaName"])}
    most: dict[str, int] = {}
    for machine_type in machine_types.all_machine_types("aws").values():
        limit = limits.get(_letter_of(machine_type.instance_type))
        if limit is None or not machine_type.vcpus or not machine_type.accelerator_count:
            continue
        count = int(limit // machine_type.vcpus * machine_type.accelerator_count)
        most[machine_type.accelerator] = max(most.get(machine_type.accelerator, 0), count)
    return [
        {
            "provider": "aws",
            "region": region,
            "accelerator": accelerator,
            "max_accelerators": most[accelerator],
        }
        for accelerator in sorted(most)
    ]


def _letters(name: str) -> list[str]:
    """The letters of the families that a quota is for: "G and VT" → g, vt."""
    found = _NAME.fullmatch(name)
    return [word.lower() for word in found[1].split(" and ")] if found else []


def _letter_of(instance_type: str) -> str:
    found = _LETTERS.match(instance_type)
    letters = found[0] if found else ""
    return _RENAMED.get(letters, letters)
