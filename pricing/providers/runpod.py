"""RunPod: https://api.runpod.io/graphql, `gpuTypes` (open).

Prices are in US dollars for one GPU and hour, its share of CPU and memory included. The secure
cloud (data centres) and the community cloud (other people's machines) are products of their own.
0 and null mean not offered; 0.5 stands for "no price" unless the cloud says that it has the card
and that some are in stock. Terms and spot are left out: the list repeats other prices there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pricing.ingest.flat_list import FlatList, PriceListReader, Row, parse_price
from pricing.ingest.provider import SkippedRow
from pricing.market.clouds import MARKETPLACES, OTHER_CLOUDS

_FIELDS = "id displayName memoryInGb maxGpuCount secureCloud communityCloud securePrice"
QUERY = (
    f"query {{ gpuTypes {{ {_FIELDS} communityPrice"
    " lowestPrice(input: {gpuCount: 1}) { stockStatus } } }"
)
CLOUDS = (("secure-cloud", "securePrice", "secureCloud"),
          ("community-cloud", "communityPrice", "communityCloud"))  # fmt: skip
"""Region of the offers, field of the price, field that says whether the cloud has the card."""
_PLACEHOLDER = parse_price("0.5")


class RunPod(FlatList):
    name = "runpod"
    title = "RunPod"
    partitions = MappingProxyType({"community-cloud": MARKETPLACES, "": OTHER_CLOUDS})
    setting = "RUNPOD_API_URL"
    default_url = "https://api.runpod.io"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        """One GPU, and the largest pod of a card, in each of the two clouds."""
        document = reader.get(
            "gpu-types", "/graphql", lambda d: d["data"]["gpuTypes"][0], body={"query": QUERY}
        )
        for card in document["data"]["gpuTypes"]:
            for region, price_field, cloud_field in CLOUDS:
                yield from _read_card(reader, card, region, price_field, cloud_field)


def _read_card(
    reader: PriceListReader, card: Mapping[str, Any], region: str, price_field: str, field: str
) -> Iterator[Row]:
    name = str(card["displayName"])
    if "MIG" in name:
        yield SkippedRow("a slice of an accelerator", name)
        return
    price = parse_price(card.get(price_field))
    if price == _PLACEHOLDER and not (
        bool(card.get(field)) and bool((card.get("lowestPrice") or {}).get("stockStatus"))
    ):
        yield SkippedRow("a placeholder for no price", f"{name} {region}")
        return
    identity = str(card["id"])
    is_full = any(word in identity for word in ("SXM", "PCIe", "NVL", "OAM"))
    for count in sorted({1, int(card.get("maxGpuCount") or 1)}):
        yield reader.offer(
            region=region,
            machine=f"{count}x {name}",
            accelerator=identity if is_full else name,
            accelerator_gib=float(card.get("memoryInGb") or 0) or None,
            count=count,
            price=price * count,
        )


provider = RunPod()
