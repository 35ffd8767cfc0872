"""Amazon Web Services.

With credentials (boto3's standard chain): prices from GetProducts, what is sold where and what
it holds from EC2, spot per zone, savings plans, Capacity Blocks. Without: the public price
files, which hold no spot and no Capacity Block prices.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pricing.ingest.http import Pages
from pricing.ingest.provider import FetchContext, NotRead, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.aws import api, bulk_files, quotas
from pricing.providers.aws.calls import Calls

_MODE_PAGE = "mode.json"


class AmazonWebServices:
    name = "aws"
    title = "Amazon Web Services"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        with Pages(self.name, context) as pages:
            calls = Calls(pages)
            if _with_account(pages, calls):
                yield from api.read(calls, context)
            else:
                yield from bulk_files.read(pages)

    def fetch_quotas(self, context: FetchContext) -> list[dict[str, Any]]:
        """What the account may run, as rows of `constraints.quotas`."""
        return quotas.fetch_quotas(context)


def _with_account(pages: Pages, calls: Calls) -> bool:
    """Whether to ask the APIs; a replay does what its recording did."""
    if pages.replaying:
        return bool(json.loads(pages.get(_MODE_PAGE, "").body)["account"])
    own_list = pages.context.settings.get("AWS_PRICE_LIST_URL")
    account = (calls.loopback_endpoint() and not own_list) or calls.has_credentials()
    pages.keep(_MODE_PAGE, json.dumps({"account": account}).encode())
    return account


provider = AmazonWebServices()
