"""Lambda: https://cloud.lambda.ai/api/v1/instance-types, with the key `LAMBDA_API_KEY`.

Prices are whole US cents for a whole instance and hour. A type without a region is sold out, not
withdrawn. 1-Click Clusters are not in the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pricing.ingest.flat_list import FlatList, PriceListReader, Row, parse_price

REGION = "all-regions"
_CENTS = 100
_MEMORY = re.compile(r"\((\d+) GB ?([A-Za-z0-9]*)\)")


class Lambda(FlatList):
    name = "lambda"
    title = "Lambda"
    setting = "LAMBDA_API_URL"
    default_url = "https://cloud.lambda.ai"
    key_setting = "LAMBDA_API_KEY"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        document = reader.get(
            "instance-types", "/api/v1/instance-types", lambda d: d["data"].values()
        )
        for entry in document["data"].values():
            kind = entry["instance_type"]
            if kind["specs"].get("gpus"):
                text, specs = str(kind["gpu_description"]), kind["specs"]
                match = _MEMORY.search(text)
                yield reader.offer(
                    region=REGION,
                    machine=kind["name"],
                    accelerator=text.replace("(", "").replace(")", "").replace(" GB", "GB"),
                    accelerator_gib=float(match[1]) if match else None,
                    count=int(specs["gpus"]),
                    price=parse_price(kind["price_cents_per_hour"]) / _CENTS,
                    vcpus=float(specs["vcpus"]),
                    memory_gib=float(specs["memory_gib"]),
                )


provider = Lambda()
