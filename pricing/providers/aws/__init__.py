"""Amazon Web Services.

With credentials (boto3's standard chain): prices from GetProducts, what is sold where and what
it holds from EC2, spot per zone, savings plans, Capacity Blocks. Without, or where AWS refuses
them: the public price files, which hold no spot and no Capacity Block prices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pricing.ingest.http import AccessDenied, ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market import machine_types
from pricing.market.offers import Offer
from pricing.providers.aws import api, bulk_files
from pricing.providers.aws.client import AwsClient

_MODE_PAGE = "mode.json"
_NO_ACCOUNT = "needs AWS credentials"


class AmazonWebServices:
    name = "aws"
    title = "Amazon Web Services"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        with ProviderHttpClient(self.name, context) as http:
            client = AwsClient(http)
            try:
                price_list = api.read_price_list(client, context) if _has_account(client) else None
            except AccessDenied as refusal:
                yield from _read_public_list(client, refusal)
                return
            if price_list is None:
                yield from bulk_files.read(
                    http,
                    (str(_read_mode(http).get("refusal", "")) if http.replaying else "")
                    or _NO_ACCOUNT,
                )
            else:
                yield from api.read(client, context, price_list)

    def fetch_quotas(self, context: FetchContext) -> list[dict[str, Any]]:
        """What the account may run, as rows of `constraints.quotas`."""
        return fetch_quotas(context)


def _has_account(client: AwsClient) -> bool:
    http = client.http
    if http.replaying:
        return bool(_read_mode(http)["account"])
    own_list = http.context.settings.get("AWS_PRICE_LIST_URL")
    has_account = (client.uses_loopback() and not own_list) or client.has_credentials()
    _record_mode(http, account=has_account)
    return has_account


def _read_public_list(
    client: AwsClient, refusal: AccessDenied
) -> Iterator[Offer | SkippedRow | NotRead]:
    reason = f"AWS refused the credentials ({refusal.what}), the public price files were read"
    _record_mode(client.http, account=False, refusal=reason)
    fallback_url = client.loopback_url()
    try:
        yield from bulk_files.read(client.http, reason, fallback_url or bulk_files.DEFAULT_URL)
    except ProviderUnavailable as error:
        what = f"{refusal.what}; the public price files instead: {error.what}"
        raise type(error)(refusal.provider, what, refusal.hint) from None


def _record_mode(http: ProviderHttpClient, **mode: object) -> None:
    http.record_page(_MODE_PAGE, json.dumps(mode).encode())


def _read_mode(http: ProviderHttpClient) -> dict[str, Any]:
    mode: dict[str, Any] = json.loads(http.get(_MODE_PAGE, "").body)
    return mode


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
    match = _QUOTA_NAME.fullmatch(name)
    return [word.lower() for word in match[1].split(" and ")] if match else []


def _family_letters(instance_type: str) -> str:
    match = _LETTERS.match(instance_type)
    letters = match[0] if match else ""
    return _MERGED_FAMILIES.get(letters, letters)


provider = AmazonWebServices()
