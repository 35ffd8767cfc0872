"""Oracle Cloud, RunPod, Vast.ai and Vultr on loopback: prices by card, offer and slice.

Documents have the form that each API has, with figures seen in public captures of August to
October 2026 where such a machine was listed, and decoys beside them: what looks like a price of a
machine and is none.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.pricing.other_clouds.truth import A100, H100, Answer, Truth, truth_of
from tests.pricing.servers.base import Request


def _oci(_request: Request) -> Any:
    def item(number: str, name: str, value: float | None, **other: str) -> Any:
        prices = [{"model": "MONTHLY_COMMIT", "value": 1}]
        prices += [] if value is None else [{"model": "PAY_AS_YOU_GO", "value": value}]
        books = [
            {"currencyCode": "EUR", "prices": [{"model": "PAY_AS_YOU_GO", "value": 0.5}]},
            {"currencyCode": "USD", "prices": prices},
        ]
        return {
            "partNumber": number,
            "displayName": name,
            "metricName": "GPU Per Hour",
            "serviceCategory": "Compute - GPU",
            "currencyCodeLocalizations": books,
        } | other

    return {
        "items": [
            item("B98415", "OCI - Compute - GPU - H100", 10),
            item("B109479", "Compute - GPU - L40S", 3.5),
            item("B95909", "OCI- Compute  - GPU - A10", 2),
            item("B110519", "OCI - Compute - GPU - H200", None),
            item("B111824", "OCI - NVIDIA AI Enterprise - GPU", 1),
            item("B999999", "OCI - Compute - GPU - X9", 4),
            item("B110965", "Cloud@Customer L40S", 3.5, serviceCategory="Compute Cloud@Customer"),
            item("B108806", "VMware BM.GPU.A10.64", 16, metricName="Node Per Hour"),
        ]
    }


_OCI = truth_of(
    ("all-regions", "BM.GPU.H100.8", H100, 8, "80"),
    ("all-regions", "BM.GPU.L40S.4", "nvidia-l40s", 4, "14.0"),
    ("all-regions", "VM.GPU.A10.1", "nvidia-a10", 1, "2"),
    ("all-regions", "VM.GPU.A10.2", "nvidia-a10", 2, "4"),
    ("all-regions", "BM.GPU.A10.4", "nvidia-a10", 4, "8"),
)


def _runpod(request: Request) -> Any:
    if request.method != "POST" or b"gpuTypes" not in request.body:
        return {"errors": [{"message": "no query"}]}

    def card(
        identity: str, name: str, memory: int, secure: float | None, community: float | None,
        most: int = 1, **more: Any,
    ) -> Any:  # fmt: skip
        return {
            "id": identity,
            "displayName": name,
            "memoryInGb": memory,
            "maxGpuCount": most,
            "securePrice": secure,
            "communityPrice": community,
        } | more

    stock = {"lowestPrice": {"stockStatus": "High"}, "communityCloud": True}
    return {
        "data": {
            "gpuTypes": [
                card("NVIDIA H100 80GB HBM3", "H100 SXM", 80, 2.99, 2.69, most=8),
                card("AMD Instinct MI300X OAM", "MI300X", 192, 2.39, 0.5),
                card("NVIDIA A100-SXM4-40GB", "A100 SXM 40GB", 40, 0, 1),
                card("NVIDIA RTX A6000", "RTX A6000", 48, None, 0.5, **stock),
                card("RTX PRO 6000 Server Edition MIG 1g.24gb", "PRO 6000 MIG 24GB", 24, 0.59, 0.5),
                card("unknown", "unknown", 0, 0, 0),
                card("NVIDIA X9", "X9", 64, 3, 0),
            ]
        }
    }


_RUNPOD = truth_of(
    ("secure-cloud", "1x H100 SXM", H100, 1, "2.99"),
    ("secure-cloud", "8x H100 SXM", H100, 8, "23.92"),
    ("community-cloud", "1x H100 SXM", H100, 1, "2.69"),
    ("community-cloud", "8x H100 SXM", H100, 8, "21.52"),
    ("secure-cloud", "1x MI300X", "amd-mi300x", 1, "2.39"),
    ("community-cloud", "1x A100 SXM 40GB", "nvidia-a100-40gb-sxm", 1, "1"),
    ("community-cloud", "1x RTX A6000", "nvidia-rtx-a6000", 1, "0.5"),
)


def _vast(request: Request) -> Any:
    question = json.loads(request.query["q"][0])
    card, count = question["gpu_name"]["eq"], question["num_gpus"]["eq"]
    wanted = (card, count)
    offers = [row for row in _vast_offers() if (row["gpu_name"], row["num_gpus"]) == wanted]
    stray = _bundle(999, "RTX 4090", 1, 24, 0.01)
    return {"offers": [*offers, stray][: question["limit"]]}


def _bundle(machine: int, card: str, count: int, gib: int, price: float, **more: Any) -> Any:
    return {
        "machine_id": machine,
        "gpu_name": card,
        "num_gpus": count,
        "gpu_ram": gib * 1024 - 100,
        "dph_total": price,
        "discounted_dph_total": price / 2,
        "min_bid": price / 5,
        "rentable": True,
        "rented": False,
        "is_bid": False,
        "verification": "verified",
    } | more


def _vast_offers() -> Iterator[Any]:
    for number, price in enumerate((2.0, 2.2, 2.4, 9.0), 1):
        yield _bundle(number, "H100 SXM", 1, 80, price)
    yield _bundle(4, "H100 SXM", 1, 80, 8.0)
    yield _bundle(5, "H100 SXM", 1, 80, 0.1, verification="unverified")
    yield _bundle(6, "H100 SXM", 1, 80, 0.1, is_bid=True)
    yield _bundle(7, "H100 SXM", 1, 80, 0.1, rented=True)
    for number, price in enumerate((16.0, 20.0, 24.0), 11):
        yield _bundle(number, "H100 SXM", 8, 80, price)
    for number in (21, 22, 23):
        yield _bundle(number, "A100 SXM4", 1, 40, 0.6)
        yield _bundle(number + 10, "A100 SXM4", 1, 80, 0.9)
    for number in (41, 42):
        yield _bundle(number, "B200", 1, 180, 4.0)


_VAST = truth_of(
    ("marketplace", "1x H100 SXM 80 GB", H100, 1, "2.3"),
    ("marketplace", "8x H100 SXM 80 GB", H100, 8, "20.0"),
    ("marketplace", "1x A100 SXM4 40 GB", "nvidia-a100-40gb-sxm", 1, "0.6"),
    ("marketplace", "1x A100 SXM4 80 GB", A100, 1, "0.9"),
)


def _vultr(request: Request) -> Any:
    metal = {
        "id": "vbm-256c-2048gb-8-mi300x-gpu", "cpu_threads": 256, "ram": 2321924,
        "hourly_cost": 17.52, "hourly_cost_preemptible": 14.72, "locations": ["ord"],
    }  # fmt: skip
    if request.path.endswith("plans-metal"):
        return {"plans_metal": [metal, metal | {"id": "vbm-4c-32gb", "hourly_cost": 0.2}]}

    def plan(name: str, kind: str, memory: int, cost: float, places: list[str], **more: Any) -> Any:
        return {
            "id": name, "type": "vcg", "gpu_type": kind, "gpu_vram_gb": memory, "vcpu_count": 12,
            "ram": 122880, "hourly_cost": cost, "monthly_cost": cost * 672, "locations": places,
        } | more  # fmt: skip

    first = [
        plan("vcg-a100-1c-6g-4vram", "NVIDIA_A100", 4, 0.123, ["ewr"]),
        plan("vcg-a100-12c-120g-80vram", "NVIDIA_A100", 80, 2.397, ["ewr", "fra"],
             location_cost={"fra": {"hourly_cost": 2.6}}),
        plan("vcg-l40s-16c-180g-48vram", "NVIDIA_L40S", 48, 1.671, ["ewr"], deploy_ondemand=False),
    ]  # fmt: skip
    second = [
        plan("vcg-a16-2c", "NVIDIA_A16", 8, 0.06, ["ewr"], gpu_count="1/2"),
        plan("vcg-x9", "NVIDIA_X9", 24, 1, ["ewr"]),
        plan("vcg-none", "NVIDIA_L40S", 48, 0, ["ewr"]),
        plan("vcg-gone", "NVIDIA_L40S", 48, 1.6, []),
        {"id": "vc2-1c", "type": "vc2", "hourly_cost": 0.007, "ram": 1024, "locations": ["ewr"]},
    ]
    if request.query.get("cursor") == ["next-page"]:
        return {"plans": second, "meta": {"links": {"next": "", "prev": "x"}}}
    return {"plans": first, "meta": {"links": {"next": "next-page", "prev": ""}}}


_PCIE = "nvidia-a100-80gb-pcie"
_VULTR = truth_of(
    ("ewr", "vcg-a100-1c-6g-4vram", _PCIE, Fraction(1, 20), "0.123"),
    ("ewr", "vcg-a100-12c-120g-80vram", _PCIE, 1, "2.397"),
    ("fra", "vcg-a100-12c-120g-80vram", _PCIE, 1, "2.6"),
    ("ewr", "vcg-l40s-16c-180g-48vram", "nvidia-l40s", 1, "1.671", "on_demand", "USD", False),
    ("ewr", "vcg-a16-2c", "nvidia-a16", Fraction(1, 2), "0.06"),
    ("ord", "vbm-256c-2048gb-8-mi300x-gpu", "amd-mi300x", 8, "17.52"),
    ("ord", "vbm-256c-2048gb-8-mi300x-gpu", "amd-mi300x", 8, "14.72", "spot"),
)

CLOUDS: dict[str, tuple[Answer, tuple[Truth, ...]]] = {
    "oci": (_oci, _OCI),
    "runpod": (_runpod, _RUNPOD),
    "vast": (_vast, _VAST),
    "vultr": (_vultr, _VULTR),
}
"""By provider: what it answers, and the truth."""
