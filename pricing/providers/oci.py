"""Oracle Cloud: https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/ (open).

Prices are in US dollars for one GPU and hour, the same in every commercial region; a machine
costs that times its GPUs, cores and memory included. Display names are irregular, so parts are
known by their number. Licences ("NVIDIA AI Enterprise"), Cloud@Customer and VMware bear the same
unit and are other products. Shapes: docs.oracle.com, Compute Shapes, read 2026-09.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pricing.common.tables import read_rows
from pricing.ingest.flat_list import FlatList, PriceListReader, Row, parse_price
from pricing.ingest.provider import SkippedRow

REGION = "all-regions"
_UNIT, _CATEGORY = "GPU Per Hour", "Compute - GPU"
_LICENCE = "NVIDIA AI Enterprise"

_SHAPES = Path(__file__).parents[1] / "data" / "oci_shapes.csv"
"""Part number, accelerator and each shape that is billed by it."""


class OracleCloud(FlatList):
    name = "oci"
    title = "Oracle Cloud"
    machine_names = r"(bm|vm)\.gpu"
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
    shapes = [row for row in read_rows(_SHAPES) if row["part"] == number]
    if not shapes:
        yield SkippedRow("unknown part", f"{number} {text}")
    price = next(
        (
            parse_price(one.get("value"))
            for book in item.get("currencyCodeLocalizations", ())
            for one in book.get("prices", ())
            if book.get("currencyCode") == "USD" and one.get("model") == "PAY_AS_YOU_GO"
        ),
        None,
    )
    for row in shapes:
        count = int(row["gpus"])
        yield reader.offer(
            region=REGION,
            machine=row["shape"],
            accelerator=row["accelerator"],
            count=count,
            price=None if price is None else price * count,
            vcpus=float(row["vcpus"]),
            memory_gib=float(row["memory_gib"]),
            sku=number,
        )


provider = OracleCloud()
