"""Oracle Cloud: https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/ (open).

Prices are in US dollars for one GPU and hour, the same in every commercial region; a machine
costs that times its GPUs, cores and memory included. Display names are irregular, so parts are
known by their number. Licences ("NVIDIA AI Enterprise"), Cloud@Customer and VMware bear the same
unit and are other products. Shapes: docs.oracle.com, Compute Shapes, read 2026-09.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pricing.ingest.flat_list import FlatList, PriceListReader, Row, parse_price
from pricing.ingest.provider import SkippedRow

REGION = "all-regions"
_UNIT, _CATEGORY = "GPU Per Hour", "Compute - GPU"
_LICENCE = "NVIDIA AI Enterprise"

Shape = tuple[str, int, float, float]
"""Name, GPUs, vCPUs, memory in GiB."""
PARTS: dict[str, tuple[str, tuple[Shape, ...]]] = {
    "B95909": (
        "A10",
        (
            ("VM.GPU.A10.1", 1, 30, 240),
            ("VM.GPU.A10.2", 2, 60, 480),
            ("BM.GPU.A10.4", 4, 128, 1024),
        ),
    ),
    "B93544": ("A100 40GB SXM", (("BM.GPU4.8", 8, 128, 2048),)),
    "B95907": ("A100 80GB SXM", (("BM.GPU.A100-v2.8", 8, 256, 2048),)),
    "B98415": ("H100 80GB SXM", (("BM.GPU.H100.8", 8, 224, 2048),)),
    "B110519": ("H200 SXM", (("BM.GPU.H200.8", 8, 224, 3072),)),
    "B110978": ("B200", (("BM.GPU.B200.8", 8, 256, 4096),)),
    "B112237": ("B300", (("BM.GPU.B300.8", 8, 256, 4096),)),
    "B110979": ("GB200", (("BM.GPU.GB200.4", 4, 144, 960),)),
    "B112140": ("GB300", (("BM.GPU.GB300.4", 4, 144, 960),)),
    "B109479": ("L40S", (("BM.GPU.L40S.4", 4, 224, 1024),)),
    "B109485": ("MI300X", (("BM.GPU.MI300X.8", 8, 224, 2048),)),
    "B111758": ("MI355X", (("BM.GPU.MI355X.8", 8, 256, 3072),)),
    "B89734": (
        "V100 16GB SXM2",
        (
            ("VM.GPU3.1", 1, 12, 90),
            ("VM.GPU3.2", 2, 24, 180),
            ("VM.GPU3.4", 4, 48, 360),
            ("BM.GPU3.8", 8, 104, 768),
        ),
    ),
    "B88518": ("P100 16GB SXM2", (("VM.GPU2.1", 1, 24, 72),)),
    "B88517": ("P100 16GB SXM2", (("BM.GPU2.2", 2, 56, 192),)),
}
"""Part number → accelerator and the shapes that are billed by it."""


class OracleCloud(FlatList):
    name = "oci"
    title = "Oracle Cloud"
    setting = "OCI_PRICE_LIST_URL"
    default_url = "https://apexapps.oracle.com"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        """One offer for each shape of each part."""
        path = "/pls/apex/cetools/api/v1/products/"
        document = reader.get("products", path, lambda d: d["items"][0], currencyCode="USD")
        for item in document["items"]:
            if item.get("metricName") == _UNIT and item.get("serviceCategory") == _CATEGORY:
                yield from _read_part(reader, item)


def _read_part(reader: PriceListReader, item: dict[str, Any]) -> Iterator[Row]:
    number, text = str(item["partNumber"]), str(item.get("displayName", ""))
    if _LICENCE.lower() in text.lower():
        yield SkippedRow("a licence, not a machine", f"{number} {text}")
        return
    if number not in PARTS:
        yield SkippedRow("unknown part", f"{number} {text}")
        return
    price = next(
        (
            parse_price(one.get("value"))
            for book in item.get("currencyCodeLocalizations", ())
            for one in book.get("prices", ())
            if book.get("currencyCode") == "USD" and one.get("model") == "PAY_AS_YOU_GO"
        ),
        None,
    )
    accelerator, shapes = PARTS[number]
    for machine, count, vcpus, memory_gib in shapes:
        yield reader.offer(
            region=REGION,
            machine=machine,
            accelerator=accelerator,
            count=count,
            price=None if price is None else price * count,
            vcpus=float(vcpus),
            memory_gib=float(memory_gib),
            sku=number,
        )


provider = OracleCloud()
