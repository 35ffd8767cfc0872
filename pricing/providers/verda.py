"""Verda, formerly DataCrunch: https://api.verda.com/v1/instance-types (open).

Prices are texts in US dollars for a whole instance and hour; the memory is that of all its GPUs.
They change daily.
"""

from __future__ import annotations

from collections.abc import Iterator

from pricing.ingest.flat_list import FlatList, PriceListReader, Row
from pricing.market.offers import PurchaseOption

REGION = "all-regions"
_PRICES = ((PurchaseOption.ON_DEMAND, "price_per_hour"), (PurchaseOption.SPOT, "spot_price"))


class Verda(FlatList):
    name = "verda"
    title = "Verda"
    setting = "VERDA_API_URL"
    default_url = "https://api.verda.com"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        for row in reader.get("instance-types", "/v1/instance-types", lambda d: d[0]["gpu"]):
            if row["gpu"]["number_of_gpus"]:
                count = int(row["gpu"]["number_of_gpus"])
                for option, field in _PRICES:
                    yield reader.offer(
                        region=REGION,
                        machine=row["instance_type"],
                        accelerator=row["name"],
                        accelerator_gib=row["gpu_memory"]["size_in_gigabytes"] / count,
                        count=count,
                        price=row.get(field),
                        currency=str(row.get("currency") or "usd").upper(),
                        option=option,
                        vcpus=float(row["cpu"]["number_of_cores"]),
                        memory_gib=float(row["memory"]["size_in_gigabytes"]),
                    )


provider = Verda()
