"""Microsoft Azure: the public price list, and Resource SKUs when a subscription is configured.

Pay-as-you-go, Spot and Low Priority, reservations of 1 and 3 years (the whole term's price as
`upfront`) and savings plans (hourly) of every Linux machine of the N series.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pricing.ingest.provider import FetchContext, NotRead, ProviderUnavailable, SkippedRow
from pricing.market.offers import Offer

if TYPE_CHECKING:
    from pricing.ingest.http import Pages
    from pricing.providers.azure.machines import Machines
    from pricing.providers.azure.price_rows import Price

SOURCE = "Azure Retail Prices API"


class AzureProvider:
    name = "azure"
    title = "Microsoft Azure"

    def fetch(self, context: FetchContext) -> Iterator[Offer | SkippedRow | NotRead]:
        from pricing.ingest.http import Pages
        from pricing.providers.azure.meters import one_price_each

        with Pages(self.name, context) as pages:
            read = list(self._read(pages))
            yield from (one for one in read if isinstance(one, SkippedRow))
            prices = [one for one in read if not isinstance(one, SkippedRow)]
            machines = self._machines(pages)
            for one in one_price_each(prices):
                yield one if isinstance(one, SkippedRow) else _offer(one, machines, context)

    def fetch_quotas(self, context: FetchContext) -> list[dict[str, Any]]:
        """What the subscription may run, as rows of `constraints.quotas`."""
        from pricing.providers.azure import quotas

        return quotas.fetch_quotas(context)

    def _read(self, pages: Pages) -> Iterator[Price | SkippedRow]:
        """Every price of the list in the wanted regions. Some may be another cloud's."""
        from pricing.providers.azure.price_rows import read_row, region_name
        from pricing.providers.azure.retail import price_rows

        wanted = {region_name(region) for region in pages.context.regions}
        found: set[str] = set()
        for row in price_rows(pages):
            region = region_name(str(row.get("armRegionName") or ""))
            if wanted and region not in wanted:
                continue
            found.add(region)
            yield from read_row(row, pages.context.retrieved_at)
        if wanted and not found:
            raise ProviderUnavailable(
                self.name,
                f"there are no prices for region {', '.join(sorted(wanted))}",
                "Check the spelling; Azure's regions are named like westus3 and westeurope.",
            )

    def _machines(self, pages: Pages) -> Machines:
        from pricing.providers.azure import management
        from pricing.providers.azure.machines import Machines, read_resource_sku

        day = pages.context.retrieved_at.date()
        if not management.is_configured(pages):
            return Machines(day)
        read = (read_resource_sku(row) for row in management.resource_skus(pages))
        return Machines(day, [sku for sku in read if sku is not None])


def _offer(price: Price, machines: Machines, context: FetchContext) -> Offer | SkippedRow:
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
