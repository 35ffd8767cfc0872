"""Vultr: https://api.vultr.com/v2/plans and /v2/plans-metal (open).

Prices are in US dollars for a whole plan and hour; `gpu_vram_gb` is the memory of all its GPUs,
or of a slice of one. Bare metal has its GPUs in the name of the plan alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from pricing.ingest.flat_list import FlatList, PriceListReader, Row, find_device
from pricing.ingest.provider import SkippedRow
from pricing.market.offers import PurchaseOption

NAMES = {
    "NVIDIA_A100": "A100 PCIe 80GB",
    "NVIDIA_A16": "A16",
    "NVIDIA_A40": "A40",
    "NVIDIA_B200": "B200",
    "NVIDIA_GH200": "GH200 96GB",
    "NVIDIA_H100": "H100 80GB SXM",
    "NVIDIA_L40S": "L40S",
}
"""Vultr's types of GPU; each is sold with one size of memory, whole or in slices."""
_METAL = re.compile(r"-(\d+)-([a-z0-9]+)-gpu$")
_MIB_PER_GIB = 1024
_PER_PAGE = 500


class Vultr(FlatList):
    name = "vultr"
    title = "Vultr"
    setting = "VULTR_API_URL"
    default_url = "https://api.vultr.com"

    def read(self, reader: PriceListReader) -> Iterator[Row]:
        """Cloud GPU and bare-metal plans at each of their places."""
        for plan in _plans(reader, "plans", type="all"):
            if plan.get("type") == "vcg":
                yield from _read_cloud_plan(reader, plan)
        for plan in _plans(reader, "plans-metal"):
            match = _METAL.search(plan["id"])
            if match:
                shape = (match[2].upper(), Fraction(int(match[1])))
                yield from _offers(reader, plan, shape, plan.get("cpu_threads"))


def _plans(reader: PriceListReader, path: str, **params: str) -> Iterator[Mapping[str, Any]]:
    field, cursor, number = path.replace("-", "_"), "", 0
    visited: set[str] = set()
    while cursor not in visited:
        visited.add(cursor)
        number += 1
        query = params | {"per_page": str(_PER_PAGE)} | ({"cursor": cursor} if cursor else {})
        page = reader.get(f"{path}/{number:04}", f"/v2/{path}", lambda d: iter(d[field]), **query)
        yield from page[field]
        links = (page.get("meta") or {}).get("links") or {}
        cursor = str(links.get("next") or "")
        if not cursor:
            return
    raise ValueError(f"{path} repeats itself after {number} pages")


def _read_cloud_plan(reader: PriceListReader, plan: Mapping[str, Any]) -> Iterator[Row]:
    accelerator = NAMES.get(str(plan.get("gpu_type")), "")
    device = find_device(accelerator, None) if accelerator else None
    if device is None:
        yield SkippedRow("unknown accelerator", f"{plan['id']}: {plan.get('gpu_type')}")
        return
    count = Fraction(str(plan.get("gpu_count") or 0))
    if plan.get("gpu_count") in (None, ""):
        count = Fraction(int(plan["gpu_vram_gb"])) / Fraction(device.memory_gib)
    if count <= 0 or (count > 1 and count.denominator > 1):
        yield SkippedRow("unclear number of accelerators", str(plan["id"]))
        return
    yield from _offers(reader, plan, (accelerator, count), plan.get("vcpu_count"))


def _offers(
    reader: PriceListReader, plan: Mapping[str, Any], shape: tuple[str, Fraction], vcpus: Any
) -> Iterator[Row]:
    prices = (
        (PurchaseOption.ON_DEMAND, plan.get("hourly_cost"), plan.get("deploy_ondemand", True)),
        (
            PurchaseOption.SPOT,
            plan.get("hourly_cost_preemptible"),
            plan.get("deploy_preemptible", True),
        ),
    )
    costs = plan.get("location_cost") or {}
    own_prices = {
        place: cost["hourly_cost"]
        for place, cost in (costs.items() if isinstance(costs, dict) else ())
        if isinstance(cost, dict) and cost.get("hourly_cost") is not None
    }
    for option, price, may_be_ordered in prices:
        if price is None and option is PurchaseOption.SPOT:
            continue
        for place in plan.get("locations") or ():
            on_demand = option is PurchaseOption.ON_DEMAND
            yield reader.offer(
                region=place,
                machine=plan["id"],
                accelerator=shape[0],
                count=shape[1],
                price=own_prices.get(place, price) if on_demand else price,
                option=option,
                vcpus=float(vcpus) if vcpus else None,
                memory_gib=plan["ram"] / _MIB_PER_GIB,
                sold_now=may_be_ordered is not False,
            )


provider = Vultr()
