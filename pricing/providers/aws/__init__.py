"""Amazon Web Services.

With credentials (boto3's standard chain): prices from GetProducts, what is sold where and what
it holds from EC2, spot per zone, savings plans, Capacity Blocks. Without, or where AWS refuses
them: the public price files, which hold no spot and no Capacity Block prices.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from pricing.ingest.http import AccessDenied, ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, Provider, ProviderUnavailable, SkippedRow
from pricing.market.clouds import COMMERCIAL
from pricing.market.offers import Offer
from pricing.providers.aws import api, bulk_files
from pricing.providers.aws.client import AwsClient, NotServed

_NO_ACCOUNT = "needs AWS credentials"


class AmazonWebServices(Provider):
    name = "aws"
    title = issuer = "Amazon Web Services"
    short_title = "AWS"
    service = "Amazon EC2"
    machine_names = r"(p|g|trn|inf|dl)\d[\w-]*\."
    partitions = MappingProxyType(
        {"cn-": "aws-china", "us-gov-": "aws-us-gov", "us-iso": "aws-us-iso", "": COMMERCIAL}
    )
    commitment_terms = (12, 36)

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        with ProviderHttpClient(self.name, context) as http:
            client = AwsClient(http)
            try:
                own_list = context.settings.get("AWS_PRICE_LIST_URL")
                is_local = client.loopback_url() and not own_list
                has_account = is_local or client.has_credentials()
                price_list = api.read_price_list(client, context) if has_account else None
            except AccessDenied as refusal:
                is_unknown = isinstance(refusal, NotServed)
                cause = "AWS answered an error" if is_unknown else "AWS refused the credentials"
                reason = f"{cause} ({refusal.what}), the public price files were read"
                fallback_url = client.loopback_url() or bulk_files.DEFAULT_URL
                try:
                    yield from bulk_files.read(http, reason, fallback_url)
                except ProviderUnavailable as error:
                    what = f"{refusal.what}; the public price files instead: {error.what}"
                    raise type(error)(refusal.provider, what, refusal.hint) from None
                return
            if price_list is None:
                yield from bulk_files.read(http, _NO_ACCOUNT)
            else:
                yield from api.read(client, context, price_list)


provider = AmazonWebServices()
