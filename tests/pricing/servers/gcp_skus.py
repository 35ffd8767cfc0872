"""The rates of the fake Google Cloud as SKUs of the billing catalog, and SKUs that are none.

Each text and usage type is written the way the catalog writes it: `usageType` is OnDemand for
much that is not on demand, "Nvidia" and "Tpu" come and go, places are written at will.
"""

from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any
from zlib import crc32

from tests.pricing.servers.gcp_truth import CALENDAR, FLEX, OD, ONE, RATES, SPOT, THREE, US, Terms

COMPUTE_ENGINE, CLOUD_TPU = "6F81-5844-456A", "E000-3F24-B8AA"
_OLD_TPUS = ("v2", "v2 pod", "v3", "v3 pod", "v4 pod")

Sku = dict[str, Any]

_GPU = {
    OD: "{0} running in Americas",
    SPOT: "{0} attached to Spot Preemptible VMs running in Iowa",
    ONE: "Commitment v1: {0} running in Americas for 1 Year",
    THREE: "Commitment v1: {0} running in Americas for 3 Years",
    FLEX: "{0} attached to DWS Defined Duration VMs running in Americas",
    CALENDAR: "DWS Calendar Mode {0} running in Americas",
}
_SLICE = {
    OD: "{0} running in Netherlands",
    SPOT: "Spot Preemptible {0} running in Americas",
    ONE: "Commitment v1: {0} in Iowa for 1 Year",
    THREE: "Commitment v1: {0} in Iowa for 3 Year",
    FLEX: "DWS Defined Duration {0} running in Americas",
    CALENDAR: "DWS Calendar Mode {0} running in Americas",
}
_HOST = {
    OD: "{0} Instance {1} running in Northern Virginia",
    SPOT: "Spot Preemptible {0} Instance {1} running in Tokyo",
    ONE: "Commitment v1: {0} {2} in APAC for 1 Year",
    THREE: "Commitment v1: {0} {2} in Americas for 3 Years",
    FLEX: "DWS Defined Duration {0} {1} running in Americas",
}
_N1 = {
    OD: "N1 Predefined Instance {1} running in Americas",
    SPOT: "Spot Preemptible N1 Predefined Instance {1} running in Americas",
    ONE: "Commitment v1: {2} in Montreal for 1 Year",
    THREE: "Commitment v1: {2} in Americas for 3 Years",
}
_DISK = {
    OD: "SSD backed Local Storage",
    SPOT: "SSD backed Local Storage attached to Spot Preemptible VMs in Iowa",
    FLEX: "DWS Defined Duration SSD backed Local Storage running in Americas",
}
_TPU = {
    OD: "{0} running in Columbus",
    SPOT: "{0} attached to Spot Preemptible VMs running in Columbus",
    ONE: "Commitment v1: {0} in Americas for 1 Year",
    THREE: "Commitment v1: {0} in Americas for 3 Years",
    FLEX: "DWS Defined Duration V6e running in Columbus",
    CALENDAR: "Reserved V6e TPU in Columbus in Calendar Mode",
}
_NAMES = {
    "a100-40": "Nvidia Tesla A100 GPU",
    "a100-80": "Nvidia Tesla A100 80GB GPU",
    "h100": "Nvidia H100 80GB GPU",
    "h100-mega": "Nvidia H100 80GB Mega GPU",
    "h200": "H200 141GB GPU",
    "l4": "Nvidia L4 GPU",
    "rtx": "RTX 6000 96GB",
    "t4": "Nvidia Tesla T4 GPU",
    "b200": "A4 Nvidia B200 (1 gpu slice)",
    "g4 eighth": "1/8 vGPU no lssd",
    "v2": "TpuV2",
    "v2 pod": "TpuV2 Pod",
    "v3": "TpuV3",
    "v3 pod": "Tpu v3 Pod",
    "v4 pod": "TpuV4 Pod",
    "v5e": "TpuV5e",
    "v5p": "TpuV5p",
    "v6e": "TpuV6e",
    "v7": "Tpu7x",
}
_USAGE = {OD: "OnDemand", SPOT: "Preemptible", ONE: "Commit1Yr", THREE: "Commit3Yr",
          FLEX: "OnDemand", CALENDAR: "OnDemand"}  # fmt: skip


def skus(service: str) -> list[Sku]:
    """All SKUs of a service, those of the rates and the others, in no helpful order."""
    old = service == CLOUD_TPU
    true = [one for part in RATES if (part in _OLD_TPUS) == old for one in _skus_of(part)]
    return [*true[::2], *([] if old else deepcopy(list(OTHERS.values()))), *true[1::2][::-1]]


def _skus_of(part: str) -> Iterator[Sku]:
    for terms, regions in RATES[part].items():
        by_price: dict[str, list[str]] = defaultdict(list)
        for region, price in regions.items():
            by_price[price].append(region)
        for price, places in by_price.items():
            yield _sku(part, terms, price, places)


def _sku(part: str, terms: Terms, price: str, regions: list[str]) -> Sku:
    usage = _USAGE[terms]
    if part == "b200" or (part.startswith("v") and terms == SPOT):
        usage = "OnDemand" if terms == SPOT else usage
    return sku(*_words(part, terms), usage, price, regions)


def _words(part: str, terms: Terms) -> tuple[str, str, str]:
    """(description, resource group, usage unit)."""
    series, _, kind = part.partition(" ")
    if kind in ("core", "ram"):
        texts = _N1 if series == "N1" else _HOST
        unit = "h" if kind == "core" else "GiBy.h"
        group = "N1Standard" if series == "N1" else {"core": "CPU", "ram": "RAM"}[kind]
        word = {"core": "Cpu", "ram": "Ram"}[kind]
        return texts[terms].format(series, kind.title(), word), group, unit
    if part == "disk":
        return _DISK[terms], "LocalSSD", "GiBy.mo"
    if part.startswith("v"):
        return _TPU[terms].format(_NAMES[part]), "TPU", "h"
    texts = _SLICE if part in ("b200", "g4 eighth") else _GPU
    return texts[terms].format(_NAMES[part]), "GPU", "h"


def sku(
    description: str,
    group: str,
    unit: str,
    usage: str,
    price: str,
    regions: list[str] | None = None,
    **changes: Any,
) -> Sku:
    """One SKU as the API gives it: `units` is text and absent where it is 0."""
    number = f"{crc32(f'{description}{price}{regions}'.encode()):08X}"
    places = [US] if regions is None else regions
    return {
        "name": f"services/{COMPUTE_ENGINE}/skus/{number}",
        "skuId": number,
        "description": description,
        "category": {
            "serviceDisplayName": "Compute Engine",
            "resourceFamily": "Storage" if group == "LocalSSD" else "Compute",
            "resourceGroup": group,
            "usageType": usage,
        },
        "serviceRegions": places,
        "pricingInfo": [
            {
                "summary": "",
                "pricingExpression": {
                    "usageUnit": unit,
                    "displayQuantity": 1,
                    "tieredRates": [{"startUsageAmount": 0, "unitPrice": money(price)}],
                },
                "currencyConversionRate": 1,
                "effectiveTime": "2026-08-20T10:52:50.681Z",
            }
        ],
        "serviceProviderName": "Google",
        "geoTaxonomy": {"type": "REGIONAL", "regions": places},
    } | changes


def money(price: str, currency: str = "USD") -> Sku:
    amount = Decimal(price)
    units = int(amount)
    nanos = int((amount - units) * 10**9)
    return {"currencyCode": currency, **({"units": str(units)} if units else {}), "nanos": nanos}


def priced(rates: list[Sku], unit: str = "h", **changes: Any) -> list[Sku]:
    """A `pricingInfo` with these tiered rates."""
    expression = {"usageUnit": unit, "displayQuantity": 1, "tieredRates": rates}
    return [{"pricingExpression": expression, "currencyConversionRate": 1} | changes]


_A100 = "Nvidia Tesla A100 GPU"
_FIRST = {"startUsageAmount": 0}
OTHERS: dict[str, Sku] = {
    "sole tenancy": sku("A2 Sole Tenancy Instance Core running in Americas", "CPU", "h", "OnDemand",
                        "0.05"),
    "sole tenancy of n1": sku("N1 Sole Tenancy Instance Ram running in Iowa", "RAM", "GiBy.h",
                              "OnDemand", "0.009"),
    "virtual workstation": sku("Nvidia Tesla T4 Virtual Workstation GPU running in Americas", "GPU",
                               "h", "OnDemand", "0.55"),
    "custom": sku("N1 Custom Instance Core running in Americas", "CPU", "h", "OnDemand", "0.033"),
    "extended": sku("N1 Custom Extended Instance Ram running in Americas", "RAM", "GiBy.h",
                    "OnDemand", "0.0095"),
    "confidential": sku("Nvidia H100 80GB GPU Confidential running in Iowa", "GPU", "h", "OnDemand",
                        "11.5"),
    "premium": sku("G2 Instance Core Premium running in Americas", "CPU", "h", "OnDemand", "0.03"),
    "suspended": sku("G2 Instance Ram suspended in Americas", "RAM", "GiBy.h", "OnDemand", "0.001"),
    "capacity optimized": sku("Capacity Optimized TpuV6e running in Columbus", "TPU", "h",
                              "OnDemand", "1.9", ["us-east5"]),
    "sustained use": sku(f"{_A100} Sustained Use running in Americas", "GPU", "h", "OnDemand", "2"),
    "placeholder": sku("Reserved Nvidia Tesla A100 80GB GPU in Virginia", "GPU", "h", "OnDemand",
                       "0"),
    "reserved": sku("Reserved A2 Core in Americas", "CPU", "h", "OnDemand", "0.02"),
    "zero": sku(f"{_A100} running in Mars", "GPU", "h", "OnDemand", "0", ["mars-west1"]),
    "contradiction": sku(f"Commitment v1: {_A100} running in Americas for 3 Years", "GPU", "h",
                         "Commit1Yr", "1.5"),
    "commitment by usage alone": sku(f"{_A100} running in Americas", "GPU", "h", "Commit3Yr", "1"),
    "spot by usage alone": sku(f"{_A100} running in Americas", "GPU", "h", "Preemptible", "1.1"),
    "converted": sku(f"{_A100} running in Jakarta", "GPU", "h", "OnDemand", "1", [US],
                     pricingInfo=priced([_FIRST | {"unitPrice": money("48204.9", "IDR")}],
                                        currencyConversionRate=14999.999925)),
    "unit of a month": sku(f"{_A100} running in Americas", "GPU", "mo", "OnDemand", "2000"),
    "ram by the hour": sku("A2 Instance Ram running in Americas", "RAM", "h", "OnDemand", "1"),
    "no first tier": sku(f"{_A100} running in Americas", "GPU", "h", "OnDemand", "1", [US],
                         pricingInfo=priced([{"startUsageAmount": 100, "unitPrice": money("1")}])),
    "no price": sku(f"{_A100} running in Americas", "GPU", "h", "OnDemand", "1", [US],
                    pricingInfo=[]),
    "no region": sku(f"{_A100} running everywhere", "GPU", "h", "OnDemand", "1", ["global"],
                     geoTaxonomy={"type": "GLOBAL", "regions": []}),
    "unknown accelerator": sku("Nvidia Z999 512GB GPU running in Americas", "GPU", "h", "OnDemand",
                               "9.9"),
    "disk of another series": sku("C4D Instance Local SSD running in Americas", "LocalSSD",
                                  "GiBy.mo", "OnDemand", "0.16"),
    "another series": sku("T2D AMD Instance Core running in Americas", "CPU", "h", "OnDemand",
                          "0.027"),
    "a network": sku("Network Vpn Internet Egress from Americas to Africa", "VPNInternetEgress",
                     "GiBy", "OnDemand", "0.12"),
    "slice with disk": sku("1/8 vGPU with lssd running in Iowa", "GPU", "h", "OnDemand", "0.7"),
    "commitment in dollars": sku("Commitment - dollar based v1: G2 Core for 1 year", "CPU", "h",
                                 "Commit1Yr", "0.72"),
}  # fmt: skip
"""None of these is the price of a part of a machine that is sold."""
