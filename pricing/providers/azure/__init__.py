"""Microsoft Azure: the public price list, and Resource SKUs when a subscription is configured.

Pay-as-you-go, Spot and Low Priority, reservations of 1 and 3 years (the whole term's price as
`upfront`) and savings plans (hourly) of every Linux machine of the N series.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pricing.ingest.fetch import read_part
from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.azure import management, retail
from pricing.providers.azure.management import MachineLookup, ResourceSku, read_resource_sku
from pricing.providers.azure.price_rows import Price, read_row, region_name, resolve_meters

SOURCE = "Azure Retail Prices API"


class AzureProvider:
    name = "azure"
    title = "Microsoft Azure"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        with ProviderHttpClient(self.name, context) as http:
            rows = list(
                retail.read_prices(http, lambda row: read_row(row, http.context.retrieved_at))
            )
            if context.regions and not rows:
                wanted = sorted({region_name(region) for region in context.regions})
                raise ProviderUnavailable(
                    self.name,
                    f"there are no prices for region {', '.join(wanted)}",
                    "Check the spelling; Azure's regions are named like westus3 and westeurope.",
                )
            yield from (one for one in rows if isinstance(one, (SkippedRow, NotRead)))
            prices = [one for one in rows if isinstance(one, Price)]
            skus = list(self._read_machines(http))
            failures = [one for one in skus if isinstance(one, NotRead)]
            machines = MachineLookup(
                context.retrieved_at.date(),
                [one for one in skus if isinstance(one, ResourceSku)]
                if management.subscription_id(http) and not failures
                else None,
            )
            unidentified: set[str] = set()
            for one in resolve_meters(prices):
                row = one if isinstance(one, SkippedRow) else _offer(one, machines, context)
                if isinstance(row, SkippedRow) and not isinstance(one, SkippedRow):
                    unidentified.add(one.instance_type)
                yield row
            for part in failures:
                yield part
                if unidentified:
                    yield replace(
                        part, availability_only=False, instance_types=tuple(sorted(unidentified))
                    )

    def _read_machines(self, http: ProviderHttpClient) -> Iterator[ResourceSku | NotRead]:
        """Resource SKUs where a subscription is configured. Where they fail our own table says
        what a machine holds, and what is sold where stays as it is published."""
        if not management.subscription_id(http):
            return
        part = NotRead("Resource SKUs", regions=http.context.regions, availability_only=True)
        rows = read_part(
            part, lambda: [read_resource_sku(row) for row in management.resource_skus(http)]
        )
        yield from (row for row in rows if row is not None)


def _offer(price: Price, machines: MachineLookup, context: FetchContext) -> Offer | SkippedRow:
    machine = machines.find(price.instance_type, price.region)
    if isinstance(machine, SkippedRow):
        return machine
    return Offer(
        provider="azure",
        region=price.region,
        instance_type=price.instance_type,
        accelerator=machine.accelerator,
        accelerator_count=machine.accelerator_count,
        purchase_option=price.option,
        price_per_hour=price.per_hour,
        upfront=price.upfront,
        term_months=price.term_months,
        payment_option=price.payment_option,
        vcpus=machine.vcpus,
        memory_gib=machine.memory_gib,
        network_gbps=machine.network_gbps,
        sku=price.sku_id,
        source=SOURCE,
        as_of=context.retrieved_at.date(),
        sold_now=machine.sold_now,
    )


provider = AzureProvider()
