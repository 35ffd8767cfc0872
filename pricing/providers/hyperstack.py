"""Hyperstack: /v1/pricebook and /v1/core/flavors, with the key `HYPERSTACK_API_KEY`.

The price book is in US dollars for one GPU and hour; a flavour costs that times its GPUs, CPU and
memory included. `original_value` is the list price, `value` the account's own rate. Spot is an
item of its own, whose name ends in `-spot`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pricing.ingest.flat_list import FlatList, PriceListReader, Row, parse_price
from pricing.ingest.provider import SkippedRow
from pricing.market.offers import PurchaseOption

_OPTIONS = ((PurchaseOption.ON_DEMAND, ""), (PurchaseOption.SPOT, "-spot"))


class Hyperstack(FlatList):
    name = "hyperstack"
    title = "Hyperstack"
    setting = "HYPERSTACK_API_URL"
    default_url = "https://infrahub-api.nexgencloud.com"
    key_setting = "HYPERSTACK_API_KEY"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        key = {"header": "api_key", "scheme": ""}
        book = reader.get("pricebook", "/v1/pricebook", lambda d: d[0]["name"], **key)
        flavours = reader.get("flavors", "/v1/core/flavors", lambda d: iter(d["data"]), **key)
        prices = {one["name"]: one.get("original_value", one.get("value")) for one in book}
        for group in flavours["data"]:
            for flavour in group["flavors"]:
                if flavour.get("gpu_count"):
                    card, count = str(flavour.get("gpu") or group["gpu"]), int(flavour["gpu_count"])
                    for option, suffix in _OPTIONS:
                        item = f"{card}{suffix}"
                        if item not in prices:
                            if not suffix:
                                yield SkippedRow("no price", f"{flavour['name']}: {item}")
                            continue
                        yield reader.offer(
                            region=group["region_name"],
                            machine=flavour["name"],
                            accelerator=card.replace("-", " ").replace("80G ", "80GB "),
                            count=count,
                            price=parse_price(prices[item]) * count,
                            option=option,
                            vcpus=float(flavour["cpu"]),
                            memory_gib=float(flavour["ram"]),
                        )


provider = Hyperstack()
