"""Vast.ai: https://console.vast.ai/api/v0/bundles/ (open), a market of other people's machines.

Each open offer has a price of its own, in US dollars for the whole machine and hour with a small
disk. What is published is the median over the verified machines of one card and count, each
machine counted once, and never of fewer than `FEWEST_MACHINES`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from statistics import median
from types import MappingProxyType

from pricing.ingest.flat_list import FlatList, PriceListReader, Row, parse_price
from pricing.ingest.provider import SkippedRow
from pricing.market.clouds import MARKETPLACES

REGION = "marketplace"
CARDS = (
    *("A100 PCIE", "A100 SXM4", "B200", "H100 NVL", "H100 PCIE", "H100 SXM", "H200", "H200 NVL"),
    *("L40S", "RTX 3090", "RTX 4090", "RTX 5090", "RTX 6000Ada", "RTX A6000", "RTX PRO 6000 S"),
)
COUNTS = (1, 8)
PAGE_SIZE = 64
FEWEST_MACHINES = 3
_MIB_PER_GIB = 1024
_NAMES = {
    "RTX 6000Ada": "RTX 6000 Ada",
    "RTX PRO 6000 S": "RTX PRO 6000 Server",
    "H200": "H200 SXM",
}


class Vast(FlatList):
    name = "vast"
    title = "Vast.ai"
    partitions = MappingProxyType({"": MARKETPLACES})
    setting = "VAST_API_URL"
    default_url = "https://console.vast.ai"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        """The median of each card, memory and count."""
        for card in CARDS:
            for count in COUNTS:
                yield from _read_median(reader, card, count)


def _read_median(reader: PriceListReader, card: str, count: int) -> Iterator[Row]:
    question = {
        "gpu_name": {"eq": card},
        "num_gpus": {"eq": count},
        "rentable": {"eq": True},
        "type": "on-demand",
        "order": [["dph_total", "asc"]],
        "limit": PAGE_SIZE,
    }
    name = f"bundles/{card.replace(' ', '-')}-{count}"
    query = json.dumps(question, separators=(",", ":"))
    document = reader.get(name, "/api/v0/bundles/", lambda d: iter(d["offers"]), q=query)
    machines: dict[tuple[int, object], Decimal] = {}
    for row in document["offers"]:
        if (
            row["gpu_name"] == card
            and row["num_gpus"] == count
            and row.get("rentable") is True
            and not row.get("rented")
            and not row.get("is_bid")
            and row.get("verification") == "verified"
        ):
            key = (round(row["gpu_ram"] / _MIB_PER_GIB), row["machine_id"])
            price = parse_price(row["dph_total"])
            machines[key] = min(price, machines.get(key, price))
    for memory in sorted({memory for memory, _ in machines}):
        prices = [price for (size, _), price in machines.items() if size == memory]
        label = f"{count}x {card} {memory} GB"
        if len(prices) < FEWEST_MACHINES:
            yield SkippedRow("too few machines for a median", f"{label}: {len(prices)}")
            continue
        yield reader.offer(
            region=REGION,
            machine=label,
            accelerator=_NAMES.get(card, card),
            accelerator_gib=float(memory),
            count=count,
            price=median(prices),
            source=f"Vast.ai, median of {len(prices)} verified machines",
        )


provider = Vast()
