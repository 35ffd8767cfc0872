"""OVHcloud: /1.0/order/catalog/public/cloud (open).

Prices are whole numbers of 1e-8 of the catalog's currency for a whole flavour and hour, without
VAT. Windows flavours (`win-`) hold a licence, `ai-` is billed by the minute, and monthly rates
are another contract: all three are left out. Each subsidiary has a price list of its own, none
a conversion of another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from pricing.ingest.flat_list import FlatList, PriceListReader, Row, parse_price
from pricing.ingest.provider import SkippedRow

_UNIT = Decimal("1e-8")
_HOURLY = ".consumption"


class OvhCloud(FlatList):
    name = "ovhcloud"
    title = "OVHcloud"
    setting = "OVH_API_URL"
    default_url = "https://api.ovh.com"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        """The GPU flavours of the catalog that `OVH_SUBSIDIARY` names (FR)."""
        subsidiary = reader.context.settings.get("OVH_SUBSIDIARY", "").strip().upper() or "FR"
        document = reader.get(
            "catalog",
            "/1.0/order/catalog/public/cloud",
            lambda d: (d["locale"]["currencyCode"], d["addons"][0]),
            ovhSubsidiary=subsidiary,
        )
        currency = document["locale"]["currencyCode"]
        for addon in document["addons"]:
            if addon["planCode"].startswith("ai-"):
                continue
            blobs = addon.get("blobs") or {}
            if (blobs.get("commercial") or {}).get("brick") == "gpu":
                region = f"catalog-{subsidiary.lower()}"
                yield _read_flavour(reader, addon, blobs, region, currency)


def _read_flavour(
    reader: PriceListReader,
    addon: Mapping[str, Any],
    blobs: Mapping[str, Any],
    region: str,
    currency: str,
) -> Row:
    code = str(addon["planCode"])
    if code.startswith("win-"):
        return SkippedRow("holds a licence of Windows", code)
    if not code.endswith(_HOURLY):
        return SkippedRow("monthly rate", code)
    technical = blobs.get("technical") or {}
    gpu = technical.get("gpu") or {}
    if not gpu.get("number"):
        return SkippedRow("unclear number of accelerators", code)
    (pricing,) = addon["pricings"]
    return reader.offer(
        region=region,
        machine=code.removesuffix(_HOURLY),
        accelerator=str(gpu.get("model") or ""),
        accelerator_gib=float((gpu.get("memory") or {}).get("size") or 0) or None,
        count=int(gpu["number"]),
        price=parse_price(pricing["price"]) * _UNIT,
        currency=currency,
        vcpus=_number(technical, "cpu", "cores"),
        memory_gib=_number(technical, "memory", "size"),
        sold_now="coming_soon" not in (blobs.get("tags") or ()),
    )


def _number(technical: Mapping[str, Any], part: str, name: str) -> float | None:
    value = (technical.get(part) or {}).get(name)
    return None if value is None else float(value)


provider = OvhCloud()
