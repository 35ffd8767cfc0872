"""Google Cloud: machines and TPU slices put together from the Cloud Billing Catalog.

On demand, spot, committed use of 1 and 3 years, flex-start and calendar mode. Which machine is
where comes from Compute Engine when GCP_PROJECT is set, from our own table otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from pricing.ingest.fetch import PART_ERRORS, explain_unread, read_part
from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, Provider, ProviderUnavailable, SkippedRow
from pricing.market.clouds import COMMERCIAL
from pricing.market.machine_types import attached_machine_types
from pricing.market.offers import Offer
from pricing.providers.gcp import client
from pricing.providers.gcp.client import Availability, read_accelerator_types, read_machine_types
from pricing.providers.gcp.offers import Composer, Rate, RateBook, read_sku


class GcpProvider(Provider):
    name = "gcp"
    title = issuer = "Google Cloud"
    service = "Compute Engine"
    machine_names = r"(a[234]|g[24]|ct\d)\w*-"
    partitions = MappingProxyType({"": COMMERCIAL})
    commitment_terms = (12, 36)

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        with ProviderHttpClient(self.name, context) as http:
            slices = NotRead("Cloud TPU", instance_types=client.slices_of_cloud_tpu())
            rows: list[Rate | SkippedRow | NotRead] = []
            for sku in client.skus(http, client.COMPUTE_ENGINE):
                rows += read_sku(sku)
            rows += read_part(
                slices,
                lambda: [
                    row for sku in client.skus(http, client.CLOUD_TPU) for row in read_sku(sku)
                ],
            )
            yield from (one for one in rows if isinstance(one, (SkippedRow, NotRead)))
            rates = [one for one in rows if not isinstance(one, (SkippedRow, NotRead))]
            priced_regions = {rate.region for rate in rates}
            if context.regions and not priced_regions.intersection(context.regions):
                raise ProviderUnavailable(
                    self.name,
                    f"there are no prices for region {', '.join(context.regions)}",
                    "Check the spelling; Google's regions are named like us-central1.",
                )
            day = context.retrieved_at.date()
            for part in _read_availability(http):
                if isinstance(part, Availability):
                    yield from Composer(RateBook(rates), part, day, context.regions).offers()
                else:
                    yield part


def _read_availability(http: ProviderHttpClient) -> Iterator[Availability | NotRead]:
    """The market, after a word on what of it could not be read: there our table says what
    machines there are, and what is sold where stays as it is published."""
    if not client.project(http):
        yield Availability()
        return
    try:
        machine_types = read_machine_types(client.list_by_zone(http, "machineTypes"))
    except PART_ERRORS as error:
        unread = explain_unread(NotRead("machine types"), error)
        # A machine newer than our table has no offer now, and keeps the published one.
        yield from (unread, replace(unread, availability_only=True))
        yield Availability()
        return
    try:
        yield Availability(
            machine_types, *read_accelerator_types(client.list_by_zone(http, "acceleratorTypes"))
        )
    except PART_ERRORS as error:
        hosts = tuple(one.instance_type for one in attached_machine_types())
        unread = explain_unread(NotRead("accelerator types", instance_types=hosts), error)
        yield from (unread, replace(unread, availability_only=True))
        yield Availability(machine_types)


provider = GcpProvider()
