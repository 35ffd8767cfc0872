"""Voltage Park: https://cloud-api.voltagepark.com/api/v1/bare-metal/locations (open).

Prices are texts in US dollars for one GPU and hour, sold in whole nodes; nodes on InfiniBand
(8 x 400 Gbit/s) and on Ethernet are products of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from pricing.ingest.flat_list import FlatList, PriceListReader, Row, parse_price
from pricing.ingest.provider import NotRead

_NETWORKS = (("ethernet", None), ("infiniband", 3200.0))
"""Name in the fields, Gbit/s of a node between nodes."""
_PLACE_LETTERS = 8


class VoltagePark(FlatList):
    name = "voltage-park"
    title = "Voltage Park"
    setting = "VOLTAGE_PARK_API_URL"
    default_url = "https://cloud-api.voltagepark.com"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        document = reader.get(
            "locations", "/api/v1/bare-metal/locations", lambda d: d["results"][0]
        )
        if document.get("has_next"):
            yield NotRead("locations beyond the first page")
        for location in document["results"]:
            for network, gbps in _NETWORKS:
                node = location["specs_per_node"]
                count = int(node["gpu_count"])
                yield reader.offer(
                    region=f"location-{location['id'][:_PLACE_LETTERS]}",
                    machine=f"{count}x {node['gpu_model']} {network}",
                    accelerator=node["gpu_model"],
                    count=count,
                    price=parse_price(location.get(f"gpu_price_{network}")) * count,
                    vcpus=float(node["cpu_count"]),
                    memory_gib=float(node["ram_gb"]),
                    network_gbps=gbps,
                )


provider = VoltagePark()
