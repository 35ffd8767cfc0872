"""Google Cloud: machines and TPU slices put together from the Cloud Billing Catalog.

On demand, spot, committed use of 1 and 3 years, flex-start and calendar mode. Which machine is
where comes from Compute Engine when GCP_PROJECT is set, from our own table otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pricing.ingest.http import AccessDenied, ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.gcp import client, quotas
from pricing.providers.gcp.availability import (
    Availability,
    read_accelerator_types,
    read_machine_types,
)
from pricing.providers.gcp.offers import Composer
from pricing.providers.gcp.rates import Rate, RateBook, read_sku


class GcpProvider:
    name = "gcp"
    title = "Google Cloud"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        with ProviderHttpClient(self.name, context) as http:
            rows = list(_read_rates(http))
            yield from (one for one in rows if isinstance(one, (SkippedRow, NotRead)))
            rates = [one for one in rows if not isinstance(one, (SkippedRow, NotRead))]
            self._check_regions(context, {rate.region for rate in rates})
            day = context.retrieved_at.date()
            for availability in _read_availability(http):
                if isinstance(availability, SkippedRow):
                    yield availability
                else:
                    yield from Composer(
                        RateBook(rates), availability, day, context.regions
                    ).offers()

    def fetch_quotas(self, context: FetchContext) -> list[dict[str, Any]]:
        """What the project may run, as rows of `constraints.quotas`."""
        return quotas.fetch_quotas(context)

    def _check_regions(self, context: FetchContext, priced_regions: set[str]) -> None:
        """One of the wanted regions must be there; others may be another cloud's."""
        if context.regions and not priced_regions.intersection(context.regions):
            raise ProviderUnavailable(
                self.name,
                f"there are no prices for region {', '.join(context.regions)}",
                "Check the spelling; Google's regions are named like us-central1, europe-west4.",
            )


def _read_rates(http: ProviderHttpClient) -> Iterator[Rate | SkippedRow | NotRead]:
    """Rates of both services of the catalog; the older TPUs may be left unread."""
    for sku in client.skus(http, client.COMPUTE_ENGINE):
        yield from read_sku(sku)
    try:
        for sku in client.skus(http, client.CLOUD_TPU):
            yield from read_sku(sku)
    except (AccessDenied, client.EmptyCatalog) as error:
        yield NotRead(f"Cloud TPU: {error.what}", instance_types=client.slices_of_cloud_tpu())


def _read_availability(http: ProviderHttpClient) -> Iterator[Availability | SkippedRow]:
    """The market, after a word on what of it could not be read."""
    if not client.reads_compute_engine(http):
        yield Availability()
        return
    machine_types = read_machine_types(client.machine_types(http))
    try:
        yield Availability(machine_types, *read_accelerator_types(client.accelerator_types(http)))
    except AccessDenied as error:
        yield SkippedRow("accelerator types were not read; our table is used", error.what)
        yield Availability(machine_types)


provider = GcpProvider()
