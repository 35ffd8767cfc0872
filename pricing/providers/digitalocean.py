"""DigitalOcean: https://api.digitalocean.com/v2/sizes, with the token `DIGITALOCEAN_TOKEN`.

Prices are in US dollars for a whole size and hour; the memory is that of all its GPUs. The list
holds what the account may use, so that what is absent may be sold all the same. `-contracted`
sizes are rates of a signed contract and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from pricing.ingest.flat_list import FlatList, PriceListReader, Row
from pricing.ingest.provider import SkippedRow
from pricing.market.offers import PurchaseOption

_MIB_PER_GIB = 1024
_PER_PAGE = 500
_SPOT, _CONTRACTED = "-spot", "-contracted"


class DigitalOcean(FlatList):
    name = "digitalocean"
    title = "DigitalOcean"
    setting = "DIGITALOCEAN_API_URL"
    default_url = "https://api.digitalocean.com"
    key_setting = "DIGITALOCEAN_TOKEN"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        for page in count(1):
            document = reader.get(
                f"sizes/{page:04}",
                "/v2/sizes",
                lambda d: iter(d["sizes"]),
                page=page,
                per_page=_PER_PAGE,
            )
            for size in document["sizes"]:
                slug, gpu = str(size["slug"]), size.get("gpu_info")
                if gpu and slug.endswith(_CONTRACTED):
                    yield SkippedRow("rate of a signed contract", slug)
                    continue
                for place in (size.get("regions") or ("no-region",)) if gpu else ():
                    is_spot, gpus = slug.endswith(_SPOT), int(gpu["count"])
                    yield reader.offer(
                        region=place,
                        machine=slug.removesuffix(_SPOT),
                        accelerator=str(gpu["model"]).replace("_", " "),
                        accelerator_gib=gpu["vram"]["amount"] / gpus,
                        count=gpus,
                        price=size["price_hourly"],
                        option=PurchaseOption.SPOT if is_spot else PurchaseOption.ON_DEMAND,
                        vcpus=float(size["vcpus"]),
                        memory_gib=size["memory"] / _MIB_PER_GIB,
                        sold_now=bool(size.get("regions"))
                        and size.get("available", True) is not False,
                    )
            if not ((document.get("links") or {}).get("pages") or {}).get("next"):
                return


provider = DigitalOcean()
