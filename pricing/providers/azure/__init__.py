"""Microsoft Azure: the public price list, and Resource SKUs when a subscription is configured.

Pay-as-you-go, Spot and Low Priority, reservations of 1 and 3 years (the whole term's price as
`upfront`) and savings plans (hourly) of every Linux machine of the N series.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from pricing.ingest.fetch import read_part
from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import FetchContext, NotRead, Provider, ProviderUnavailable, SkippedRow
from pricing.market.clouds import COMMERCIAL
from pricing.market.machine_types import make_offer
from pricing.market.offers import Offer
from pricing.providers.azure import management, retail
from pricing.providers.azure.management import MachineLookup, ResourceSku, read_resource_sku
from pricing.providers.azure.price_rows import Price, read_row, region_name, resolve_meters

SOURCE = "Azure Retail Prices API"


class AzureProvider(Provider):
    name = "azure"
    title = "Microsoft Azure"
    short_title = "Azure"
    issuer = "Microsoft"
    service = "Virtual Machines"
    machine_names = r"(standard_|basic_)?n[cdgv]"
    partitions = MappingProxyType(
        {"china": "azure-china", "usgov": "azure-us-gov", "usdod": "azure-us-gov", "": COMMERCIAL}
    )
    commitment_terms = (12, 36)

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
                [one for one in skus if isinstance(one, ResourceSku)]
                if management.subscription_id(http) and not failures
                else None
            )
            unidentified: set[str] = set()
            for one in resolve_meters(prices):
                row = (
                    one
                    if isinstance(one, SkippedRow)
                    else _offer(one, machines, context.retrieved_at.date())
                )
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


def _offer(price: Price, machines: MachineLookup, day: dt.date) -> Offer | SkippedRow:
    machine = machines.find(price.instance_type)
    if isinstance(machine, SkippedRow):
        return machine
    return make_offer(
        *("azure", machine, price.region, price.option, price.per_hour, day),
        upfront=price.upfront,
        term_months=price.term_months,
        payment_option=price.payment_option,
        sku=price.sku_id,
        source=SOURCE,
        sold_now=machines.is_listed(price.instance_type, price.region),
    )


provider = AzureProvider()
