"""Google Cloud: machines and TPU slices put together from the Cloud Billing Catalog.

On demand, spot, committed use of 1 and 3 years, flex-start and calendar mode. Which machine is
where comes from Compute Engine when GCP_PROJECT is set, from our own table otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer

if TYPE_CHECKING:
    from pricing.ingest.http import Pages
    from pricing.providers.gcp.market import Market
    from pricing.providers.gcp.rates import Rate


class GcpProvider:
    name = "gcp"
    title = "Google Cloud"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        from pricing.ingest.http import Pages
        from pricing.providers.gcp.offers import Composer
        from pricing.providers.gcp.rates import RateBook

        with Pages(self.name, context) as pages:
            read = list(_rates(pages))
            yield from (one for one in read if isinstance(one, (SkippedRow, NotRead)))
            rates = [one for one in read if not isinstance(one, (SkippedRow, NotRead))]
            self._check_regions(context, {rate.region for rate in rates})
            day = context.retrieved_at.date()
            for market in _market(pages):
                if isinstance(market, SkippedRow):
                    yield market
                else:
                    yield from Composer(RateBook(rates), market, day, context.regions).offers()

    def fetch_quotas(self, context: FetchContext) -> list[dict[str, Any]]:
        """What the project may run, as rows of `constraints.quotas`."""
        from pricing.providers.gcp import quotas

        return quotas.fetch_quotas(context)

    def _check_regions(self, context: FetchContext, found: set[str]) -> None:
        """One of the wanted regions must be there; others may be another cloud's."""
        if context.regions and not found.intersection(context.regions):
            raise ProviderUnavailable(
                self.name,
                f"there are no prices for region {', '.join(context.regions)}",
                "Check the spelling; Google's regions are named like us-central1, europe-west4.",
            )


def _rates(pages: Pages) -> Iterator[Rate | SkippedRow | NotRead]:
    """Rates of both services of the catalog; the older TPUs may be left unread."""
    from pricing.ingest.http import Refused
    from pricing.providers.gcp import client
    from pricing.providers.gcp.rates import read_sku

    for sku in client.skus(pages, client.COMPUTE_ENGINE):
        yield from read_sku(sku)
    try:
        for sku in client.skus(pages, client.CLOUD_TPU):
            yield from read_sku(sku)
    except (Refused, client.EmptyCatalog) as error:
        yield NotRead(f"Cloud TPU: {error.what}", instance_types=client.slices_of_cloud_tpu())


def _market(pages: Pages) -> Iterator[Market | SkippedRow]:
    """The market, after a word on what of it could not be read."""
    from pricing.ingest.http import Refused
    from pricing.providers.gcp import client
    from pricing.providers.gcp.market import Market, read_accelerator_types, read_machine_types

    if not client.asks_compute_engine(pages):
        yield Market()
        return
    types = read_machine_types(client.machine_types(pages))
    try:
        yield Market(types, *read_accelerator_types(client.accelerator_types(pages)))
    except Refused as error:
        yield SkippedRow("accelerator types were not read; our table is used", error.what)
        yield Market(types)


provider = GcpProvider()
