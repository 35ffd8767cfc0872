"""The clouds that price whole machines, on loopback.

Documents have the form that each API has, with figures seen in public captures of August to
October 2026 where such a machine was listed, and decoys beside them: what looks like a price of a
machine and is none.
"""

from typing import Any

from tests.pricing.other_clouds.truth import H100, Answer, Truth, truth_of
from tests.pricing.servers.base import Request

GIB = 2**30


def _ovh(request: Request) -> Any:
    def addon(code: str, price: int, model: str = "H100", memory: int = 80, **more: Any) -> Any:
        technical = {
            "cpu": {"cores": 30},
            "memory": {"size": 380},
            "gpu": {"number": 2, "model": model, "memory": {"size": memory}},
        }
        blobs = {"tags": ["active"], "commercial": {"brick": "gpu"}, "technical": technical} | more
        return {"planCode": code, "blobs": blobs, "pricings": [{"price": price}]}

    book = request.query["ovhSubsidiary"][0]
    return {
        "locale": {"currencyCode": "USD" if book == "US" else "EUR"},
        "addons": [
            addon("h100-760.consumption", 560000000),
            addon("l40s-180.consumption", 280000000, "L40S", 48, tags=["coming_soon"]),
            addon("h100-760.monthly.postpaid", 388000000000),
            addon("win-h100-760.consumption", 840000000),
            addon("ai-h100.minute.consumption", 4600000),
            addon("b3-8.consumption", 500, commercial={"brick": "instance"}),
            addon("x9-1.consumption", 100000000, "X9", 64),
        ],
    }


_OVH = truth_of(
    ("catalog-fr", "h100-760", H100, 2, "5.6"),
    ("catalog-fr", "l40s-180", "nvidia-l40s", 2, "2.8", "on_demand", "EUR", False),
)
_OVH = tuple(Truth(**{**one.__dict__, "currency": "EUR"}) for one in _OVH)


def _scaleway(request: Request) -> Any:
    zone = request.path.split("/")[4]
    if zone != "fr-par-2":
        return {"servers": {}}

    def server(name: str, count: int, price: float, gib: int = 80, **more: Any) -> Any:
        info = {"gpu_name": name, "gpu_memory": gib * GIB, "gpu_manufacturer": "NVIDIA"}
        return {
            "ncpus": 24, "ram": 240 * GIB, "gpu": count, "gpu_info": info if count else None,
            "mig_profile": None, "hourly_price": price, "monthly_price": price * 730,
            "network": {"sum_internal_bandwidth": 20000000000}, "end_of_service": False,
        } | more  # fmt: skip

    servers = {
        "H100-1-80G": server("H100-PCIe", 1, 2.8665),
        "H100-SXM-2-80G": server("H100-SXM", 2, 6.6198),
        "H100-SXM-8-80G": server("H100-SXM", 8, 25.3308),
        "B300-SXM-8-288G": server("B300-SXM", 8, 60.0, 288),
        "RENDER-S": server("P100", 1, 1.24, 16, end_of_service=True),
        "H100-MIG": server("H100-PCIe", 1, 1.0, mig_profile="1g.10gb"),
    }
    plain = {f"BASIC-{n}": server("", 0, 0.04) for n in range(98)}
    rows = list((plain | servers).items())
    start = (int(request.query["page"][0]) - 1) * 100
    return {"servers": dict(rows[start : start + 100])}


_SCALEWAY = truth_of(
    ("fr-par-2", "H100-1-80G", "nvidia-h100-80gb-pcie", 1, "2.8665", "on_demand", "EUR"),
    ("fr-par-2", "H100-SXM-2-80G", H100, 2, "6.6198", "on_demand", "EUR"),
    ("fr-par-2", "H100-SXM-8-80G", H100, 8, "25.3308", "on_demand", "EUR"),
    ("fr-par-2", "B300-SXM-8-288G", "nvidia-b300", 8, "60.0", "on_demand", "EUR"),
    ("fr-par-2", "RENDER-S", "nvidia-p100-16gb-pcie", 1, "1.24", "on_demand", "EUR", False),
)


def _verda(_request: Request) -> Any:
    def kind(name: str, model: str, count: int, memory: int, price: str, spot: str) -> Any:
        return {
            "instance_type": name, "name": model, "currency": "usd",
            "cpu": {"number_of_cores": 30}, "memory": {"size_in_gigabytes": 120},
            "gpu": {"number_of_gpus": count}, "gpu_memory": {"size_in_gigabytes": memory},
            "price_per_hour": price, "spot_price": spot,
        }  # fmt: skip

    return [
        kind("8H100.80S.176V", "H100 SXM5 80GB", 8, 640, "31.60", "13.60"),
        kind("2A6000.20V", "RTX A6000 48GB", 2, 96, "1.98", "0.70"),
        kind("CPU.120V.480G", "AMD EPYC", 0, 0, "3.00", "1.50"),
        kind("1X9", "X9", 1, 64, "1.00", "0.50"),
        kind("1H200", "H200 SXM5 141GB", 1, 141, "4.00", "0"),
    ]


_VERDA = truth_of(
    ("all-regions", "8H100.80S.176V", H100, 8, "31.60"),
    ("all-regions", "8H100.80S.176V", H100, 8, "13.60", "spot"),
    ("all-regions", "2A6000.20V", "nvidia-rtx-a6000", 2, "1.98"),
    ("all-regions", "2A6000.20V", "nvidia-rtx-a6000", 2, "0.70", "spot"),
    ("all-regions", "1H200", "nvidia-h200-141gb-sxm", 1, "4.00"),
)


def _voltage_park(_request: Request) -> Any:
    node = {"gpu_model": "h100-sxm5-80gb", "gpu_count": 8, "cpu_count": 104, "ram_gb": 1024}
    location = {
        "id": "a3111bd4-550a", "gpu_price_ethernet": "1.99", "gpu_price_infiniband": "2.49",
        "gpu_count_ethernet": 0, "specs_per_node": node,
    }  # fmt: skip
    other = location | {"id": "b2222222-1", "gpu_price_infiniband": None}
    return {"results": [location, other], "has_next": False}


_VOLTAGE_PARK = truth_of(
    ("location-a3111bd4", "8x h100-sxm5-80gb ethernet", H100, 8, "15.92"),
    ("location-a3111bd4", "8x h100-sxm5-80gb infiniband", H100, 8, "19.92"),
    ("location-b2222222", "8x h100-sxm5-80gb ethernet", H100, 8, "15.92"),
)


def _lambda(_request: Request) -> Any:
    def entry(name: str, text: str, cents: int, gpus: int, *regions: str) -> Any:
        specs = {"vcpus": 26, "memory_gib": 225, "storage_gib": 2816, "gpus": gpus}
        kind = {"name": name, "gpu_description": text, "price_cents_per_hour": cents}
        places = [{"name": region} for region in regions]
        return {"instance_type": kind | {"specs": specs}, "regions_with_capacity_available": places}

    entries = (
        entry("gpu_8x_h100_sxm5", "H100 (80 GB SXM5)", 2392, 8, "us-west-1"),
        entry("gpu_1x_h100_pcie", "H100 (80 GB PCIe)", 329, 1),
        entry("gpu_1x_gh200", "GH200 (96 GB)", 149, 1, "us-east-3"),
        entry("gpu_1x_x9", "X9 (64 GB)", 100, 1),
        entry("cpu_4x_general", "N/A", 20, 0),
    )
    return {"data": {one["instance_type"]["name"]: one for one in entries}}


_LAMBDA = truth_of(
    ("all-regions", "gpu_8x_h100_sxm5", H100, 8, "23.92"),
    ("all-regions", "gpu_1x_h100_pcie", "nvidia-h100-80gb-pcie", 1, "3.29"),
    ("all-regions", "gpu_1x_gh200", "nvidia-gh200-96gb", 1, "1.49"),
)


def _digitalocean(request: Request) -> Any:
    def size(slug: str, model: str, count: int, total: int, price: float, *places: str) -> Any:
        gpu = {"count": count, "vram": {"amount": total, "unit": "gib"}, "model": model}
        return {
            "slug": slug, "memory": 1966080, "vcpus": 160, "price_hourly": price,
            "price_monthly": price * 744, "regions": list(places), "available": True,
            "gpu_info": gpu,
        }  # fmt: skip

    plain = size("s-1vcpu", "", 0, 0, 0.00595, "nyc1") | {"gpu_info": None}
    if request.query["page"] == ["1"]:
        sizes = [plain, size("gpu-h100x8-640gb", "nvidia_h100", 8, 640, 23.92, "nyc1", "tor1")]
        return {"sizes": sizes, "links": {"pages": {"next": "https://elsewhere.example/?page=2"}}}
    sizes = [
        size("gpu-mi300x1-192gb-spot", "amd_mi300x", 1, 192, 1.2, "nyc1"),
        size("gpu-mi300x8-1536gb", "amd_mi300x", 8, 1536, 15.92),
        size("gpu-h100x8-640gb-contracted", "nvidia_h100", 8, 640, 15.0, "nyc1"),
    ]
    return {"sizes": sizes, "links": {}}


_DIGITALOCEAN = truth_of(
    ("nyc1", "gpu-h100x8-640gb", H100, 8, "23.92"),
    ("tor1", "gpu-h100x8-640gb", H100, 8, "23.92"),
    ("nyc1", "gpu-mi300x1-192gb", "amd-mi300x", 1, "1.2", "spot"),
    ("no-region", "gpu-mi300x8-1536gb", "amd-mi300x", 8, "15.92", "on_demand", "USD", False),
)


def _hyperstack(request: Request) -> Any:
    if request.path == "/v1/pricebook":
        return [
            {"name": "H100-80G-PCIe", "value": 1.5, "original_value": 1.9},
            {"name": "H100-80G-PCIe-spot", "value": 1.33, "original_value": 1.33},
            {"name": "vCPU", "value": 0.01, "original_value": 0.01},
        ]

    def flavour(name: str, count: int, card: str = "H100-80G-PCIe") -> Any:
        return {"name": name, "cpu": 28, "ram": 180.0, "gpu": card, "gpu_count": count}

    flavours = [flavour("n3-H100x1", 1), flavour("n3-H100x8", 8), flavour("n1-cpu", 0, "")]
    group = {"gpu": "H100-80G-PCIe", "region_name": "NORWAY-1", "flavors": flavours}
    other = {"gpu": "X9", "region_name": "NORWAY-1", "flavors": [flavour("n3-X9x1", 1, "X9")]}
    return {"data": [group, other]}


_NORWAY = ("NORWAY-1", "n3-H100x1", "nvidia-h100-80gb-pcie", 1)
_HYPERSTACK = truth_of(
    (*_NORWAY, "1.9"),
    (*_NORWAY, "1.33", "spot"),
    ("NORWAY-1", "n3-H100x8", "nvidia-h100-80gb-pcie", 8, "15.2"),
    ("NORWAY-1", "n3-H100x8", "nvidia-h100-80gb-pcie", 8, "10.64", "spot"),
)

CLOUDS: dict[str, tuple[Answer, tuple[Truth, ...]]] = {
    "ovhcloud": (_ovh, _OVH),
    "scaleway": (_scaleway, _SCALEWAY),
    "verda": (_verda, _VERDA),
    "voltage-park": (_voltage_park, _VOLTAGE_PARK),
    "lambda": (_lambda, _LAMBDA),
    "digitalocean": (_digitalocean, _DIGITALOCEAN),
    "hyperstack": (_hyperstack, _HYPERSTACK),
}
"""By provider: what it answers, and the truth."""
