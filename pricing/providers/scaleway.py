"""Scaleway: https://api.scaleway.com/instance/v1/zones/{zone}/products/servers (open).

Prices are in euros, which the list does not say, for a whole server and hour; the memory of a
GPU is in bytes and of each one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from pricing.ingest.fetch import read_part
from pricing.ingest.flat_list import FlatList, PriceListReader, Row
from pricing.ingest.provider import NotRead, SkippedRow

ZONES = ("fr-par-1", "fr-par-2", "nl-ams-1", "nl-ams-2", "pl-waw-2", "pl-waw-3")
_GIB = 2**30
_PER_PAGE = 100
_BITS_PER_GBIT = 1e9


class Scaleway(FlatList):
    name = "scaleway"
    title = "Scaleway"
    setting = "SCALEWAY_API_URL"
    default_url = "https://api.scaleway.com"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        """The GPU servers of each zone, which may fail by itself."""
        for zone in ZONES:
            part = NotRead(f"prices in {zone}", regions=(zone,))

            def read_zone(zone: str = zone) -> list[Row]:
                return [_read_server(reader, zone, *one) for one in _servers(reader, zone)]

            yield from read_part(part, read_zone)


def _servers(reader: PriceListReader, zone: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for page in count(1):
        path = f"/instance/v1/zones/{zone}/products/servers"
        document = reader.get(
            f"{zone}/{page:04}", path, lambda d: d["servers"].items(), page=page, per_page=_PER_PAGE
        )
        servers = document["servers"]
        yield from ((name, row) for name, row in servers.items() if row.get("gpu"))
        if len(servers) < _PER_PAGE:
            return


def _read_server(reader: PriceListReader, zone: str, name: str, row: Mapping[str, Any]) -> Row:
    if row.get("mig_profile"):
        return SkippedRow("a slice of an accelerator", name)
    info, network = row["gpu_info"], row.get("network") or {}
    bandwidth = network.get("sum_internal_bandwidth")
    return reader.offer(
        region=zone,
        machine=name,
        accelerator=str(info["gpu_name"]),
        accelerator_gib=info["gpu_memory"] / _GIB,
        count=int(row["gpu"]),
        price=row["hourly_price"],
        currency="EUR",
        vcpus=float(row["ncpus"]),
        memory_gib=row["ram"] / _GIB,
        network_gbps=bandwidth / _BITS_PER_GBIT if bandwidth else None,
        sold_now=not row.get("end_of_service"),
    )


provider = Scaleway()
