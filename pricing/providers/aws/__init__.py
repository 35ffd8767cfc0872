"""Amazon Web Services.

With credentials (boto3's standard chain): prices from GetProducts, what is sold where and what
it holds from EC2, spot per zone, savings plans, Capacity Blocks. Without: the public price
files, which hold no spot and no Capacity Block prices.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.aws import api, bulk_files, quotas
from pricing.providers.aws.client import AwsClient

_MODE_PAGE = "mode.json"


class AmazonWebServices:
    name = "aws"
    title = "Amazon Web Services"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        with ProviderHttpClient(self.name, context) as http:
            client = AwsClient(http)
            if _has_account(http, client):
                yield from api.read(client, context)
            else:
                yield from bulk_files.read(http)

    def fetch_quotas(self, context: FetchContext) -> list[dict[str, Any]]:
        """What the account may run, as rows of `constraints.quotas`."""
        return quotas.fetch_quotas(context)


def _has_account(http: ProviderHttpClient, client: AwsClient) -> bool:
    """Whether to ask the APIs; a replay does what its recording did."""
    if http.replaying:
        return bool(json.loads(http.get(_MODE_PAGE, "").body)["account"])
    own_list = http.context.settings.get("AWS_PRICE_LIST_URL")
    has_account = (client.uses_loopback() and not own_list) or client.has_credentials()
    http.record_page(_MODE_PAGE, json.dumps({"account": has_account}).encode())
    return has_account


provider = AmazonWebServices()
