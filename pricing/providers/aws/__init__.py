"""Amazon Web Services.

With credentials (boto3's standard chain): prices from GetProducts, what is sold where and what
it holds from EC2, spot per zone, savings plans, Capacity Blocks. Without, or where AWS refuses
them: the public price files, which hold no spot and no Capacity Block prices.
"""

from __future__ import annotations

from collections.abc import Iterator

from pricing.ingest.http import AccessDenied, ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.aws import api, bulk_files
from pricing.providers.aws.client import AwsClient

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
                yield from bulk_files.read(http, _NO_ACCOUNT)
            else:
                yield from api.read(client, context, price_list)


def _has_account(client: AwsClient) -> bool:
    own_list = client.http.context.settings.get("AWS_PRICE_LIST_URL")
    return (client.uses_loopback() and not own_list) or client.has_credentials()


def _read_public_list(
    client: AwsClient, refusal: AccessDenied
) -> Iterator[Offer | SkippedRow | NotRead]:
    reason = f"AWS refused the credentials ({refusal.what}), the public price files were read"
    fallback_url = client.loopback_url()
    try:
        yield from bulk_files.read(client.http, reason, fallback_url or bulk_files.DEFAULT_URL)
    except ProviderUnavailable as error:
        what = f"{refusal.what}; the public price files instead: {error.what}"
        raise type(error)(refusal.provider, what, refusal.hint) from None


provider = AmazonWebServices()
