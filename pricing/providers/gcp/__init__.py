"""Google Cloud: machines and TPU slices put together from the Cloud Billing Catalog.

On demand, spot, committed use of 1 and 3 years, flex-start and calendar mode. Which machine is
where comes from Compute Engine when GCP_PROJECT is set, from our own table otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pricing.offers import Offer
from pricing.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow

if TYPE_CHECKING:
    from pricing.http import Pages
    from pricing.providers.gcp.market import Market
    from pricing.providers.gcp.rates import Rate


class GcpProvider:
    name = "gcp"
    title = "Google Cloud"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        from pricing.http import Pages
        from pricing.providers.gcp.offers import Composer
        from pricing.providers.gcp.rates import RateBook

        with Pages(self.name, context) as pages:
            read = list(_rates(pages))
            yield from (one for one in read if isinstance(one, SkippedRow))
            rates = [one for one in read if not isinstance(one, SkippedRow)]
            self._check_regions(context, {rate.region for rate in rates})
            day = context.retrieved_at.date()
            composer = Composer(RateBook(rates), _market(pages), day, context.regions)
            yield from composer.offers()

    def fetch_quotas(self, context: FetchContext) -> list[dict[str, Any]]:
        """What the project may run, as rows of `constraints.quotas`."""
        from pricing.providers.gcp import quotas

        return quotas.fetch_quotas(context)

    def _check_regions(self, context: FetchContext, found: set[str]) -> None:
        if not found:
            raise ProviderUnavailable(
                self.name,
                "the catalog has no price of an accelerator or a machine of ours",
                "Check GCP_BILLING_URL; the last published prices stay in force.",
            )
        if missing := set(context.regions) - found:
            raise ProviderUnavailable(
                self.name,
                f"there are no prices for region {', '.join(sorted(missing))}",
                "Check the spelling; Google's regions are named like us-central1, europe-west4.",
            )


def _rates(pages: Pages) -> Iterator[Rate | SkippedRow]:
    from pricing.http import Refused
    from pricing.providers.gcp import client
    from pricing.providers.gcp.rates import read_sku

    for sku in client.skus(pages, client.COMPUTE_ENGINE):
        yield from read_sku(sku)
    try:
        for sku in client.skus(pages, client.CLOUD_TPU):
            yield from read_sku(sku)
    except Refused as error:
        yield SkippedRow("a service of the catalog was not read", f"Cloud TPU: {error.what}")


def _market(pages: Pages) -> Market:
    from pricing.providers.gcp import client
    from pricing.providers.gcp.market import Market, read_accelerator_types, read_machine_types

    if not client.asks_compute_engine(pages):
        return Market()
    types = read_machine_types(client.machine_types(pages))
    attachable, most_cards = read_accelerator_types(client.accelerator_types(pages))
    return Market(types, attachable, most_cards)


provider = GcpProvider()
