"""What the fake Azure sells: the truth that an adapter must find, and rows that hide it.

`VMS` states every machine with its prices; `price_rows` tells them as the Retail Prices API
does, among rows that look like prices and are none, one for each oddity the API is known for.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zlib import crc32

from pricing.market.offers import Offer, PurchaseOption

DAY = dt.date(2026, 9, 10)
NOW = dt.datetime(2026, 9, 10, 12, tzinfo=dt.UTC)

Row = dict[str, Any]


@dataclass(frozen=True)
class Vm:
    """One Linux machine in one region. Prices in USD; `reserved` is for the whole term."""

    name: str
    meter: str
    product: str
    region: str
    accelerator: str
    count: Fraction
    vcpus: float
    memory_gib: float
    on_demand: str
    spot: str = ""
    low_priority: str = ""
    reserved: Mapping[int, str] = field(default_factory=dict)
    savings: Mapping[int, str] = field(default_factory=dict)
    sold_now: bool = True
    gpus: str = "1"
    """What the "GPUs" capability says."""


VMS = (
    Vm(
        "Standard_NC24ads_A100_v4", "Standard_NC24ads_A100_v4", "NCads A100 v4 Series Linux",
        "westeurope", "nvidia-a100-80gb-pcie", Fraction(1), 24, 220,
        "4.775", "1.097295", "0.955", {12: "31234.0", 36: "62100.0"},
        {12: "3.97471", 36: "2.9127"},
    ),
    Vm(
        "Standard_NC24ads_A100_v4", "Standard_NC24ads_A100_v4", "NCads A100 v4 Series Linux",
        "westus3", "nvidia-a100-80gb-pcie", Fraction(1), 24, 220, "3.673", "0.735",
    ),
    Vm(
        "Standard_NC48ads_A100_v4", "Standard_NC48ads_A100_v4", "NCads A100 v4 Series Linux",
        "westeurope", "nvidia-a100-80gb-pcie", Fraction(2), 48, 440, "9.55", "2.19459", "1.91",
        gpus="2",
    ),
    Vm(
        "Standard_ND96isr_H100_v5", "ND96isrH100v5", "Virtual Machines NDsr H100 v5 Series",
        "westeurope", "nvidia-h100-80gb-sxm", Fraction(8), 96, 1900,
        "127.816", "23.620397", "25.563", {36: "1478000.0"}, gpus="8",
    ),
    Vm(
        "Standard_ND96isr_MI300X_v5", "ND96isrMI300Xv5", "Virtual Machines NDMI300Xv5 Srs",
        "westus3", "amd-mi300x", Fraction(8), 96, 1850, "48.0", "14.4", gpus="8",
    ),
    Vm(
        "Standard_NCC40ads_H100_v5", "NCC40adsH100v5", "Virtual Machines NCCadsv5 Srs",
        "westeurope", "nvidia-h100-94gb-nvl", Fraction(1), 40, 320, "8.9", gpus="0",
    ),
    Vm(
        "Standard_NV6ads_A10_v5", "Standard_NV6ads_A10_v5", "Virtual Machines NVadsA10v5 Series",
        "westeurope", "nvidia-a10", Fraction(1, 6), 6, 55, "0.59", "0.109032", "0.118",
        savings={12: "0.491116", 36: "0.3717"},
    ),
    Vm(
        "Standard_NV4ads_V710_v5", "NV4adsV710v5", "Virtual Machines NVadsV710v5 Series",
        "westeurope", "amd-radeon-pro-v710", Fraction(1, 6), 4, 16, "0.433", "0.080018", "0.0867",
    ),
    Vm(
        "Standard_NG8ads_V620_v1", "NG8adsV620", "Virtual Machines NGadsV620v1 Series",
        "westeurope", "amd-radeon-pro-v620", Fraction(1, 4), 8, 16, "0.732",
    ),
    Vm(
        "Standard_NC144ds_xl_RTXPRO6000BSE_v6", "NC144dsxlRTX6kv6",
        "Virtual Machines NCdsxlRTX6kv6", "westeurope", "nvidia-rtx-pro-6000-blackwell-server",
        Fraction(1), 144, 516, "9.129", "1.687039", savings={12: "7.66836"},
    ),
    Vm(
        "Standard_NC6", "NC6", "Virtual Machines NC Series", "westeurope", "nvidia-k80",
        Fraction(1), 6, 56, "0.972", low_priority="0.194", sold_now=False,
    ),
    Vm(
        "Standard_NC24rs_v3", "NC24rs v3", "Virtual Machines NCSv3 Series", "westeurope",
        "nvidia-v100-16gb-pcie", Fraction(4), 24, 448, "14.687", "2.7", "2.937", sold_now=False,
        gpus="4",
    ),
)  # fmt: skip


def truth() -> dict[str, Offer]:
    """Every offer by its id, as the adapter must give it."""
    return {offer.id: offer for vm in VMS for offer in _offers(vm)}


def _offers(vm: Vm) -> Iterator[Offer]:
    yield _offer(vm, PurchaseOption.ON_DEMAND, vm.on_demand)
    if vm.spot:
        yield _offer(vm, PurchaseOption.SPOT, vm.spot)
    if vm.low_priority:
        yield _offer(vm, PurchaseOption.LOW_PRIORITY, vm.low_priority)
    for months, total in vm.reserved.items():
        terms = {"term_months": months, "payment_option": "all_upfront"}
        yield _offer(vm, PurchaseOption.RESERVED, "0", upfront=Decimal(total), **terms)
    for months, rate in vm.savings.items():
        terms = {"term_months": months, "payment_option": "no_upfront"}
        yield _offer(vm, PurchaseOption.SAVINGS_PLAN, rate, **terms)


def _offer(vm: Vm, option: PurchaseOption, price: str, **terms: Any) -> Offer:
    return Offer(
        provider="azure",
        region=vm.region,
        instance_type=vm.name,
        accelerator=vm.accelerator,
        accelerator_count=vm.count,
        purchase_option=option,
        price_per_hour=Decimal(price),
        vcpus=vm.vcpus,
        memory_gib=vm.memory_gib,
        as_of=DAY,
        sold_now=vm.sold_now,
        **terms,
    )


def price_rows() -> list[Row]:
    """All rows, those of the truth and the others, in an order that helps nobody."""
    rows = [row for vm in VMS for row in rows_of(vm)]
    rows += [deepcopy(row) for _name, row in OTHERS]
    return rows[::2] + rows[1::2][::-1]


def rows_of(vm: Vm) -> Iterator[Row]:
    base = row(
        vm.name, vm.meter, vm.product, vm.region, vm.on_demand, savingsPlan=_plans(vm.savings)
    )
    yield base
    if vm.spot:
        yield row(vm.name, f"{vm.meter} Spot", vm.product, vm.region, vm.spot)
    if vm.low_priority:
        yield row(vm.name, f"{vm.meter} Low Priority", vm.product, vm.region, vm.low_priority)
    for months, total in vm.reserved.items():
        years = months // 12
        yield row(
            vm.name, vm.meter, vm.product, vm.region, total,
            type="Reservation", reservationTerm=f"{years} Year{'s' if years > 1 else ''}",
        )  # fmt: skip


def _plans(savings: Mapping[int, str]) -> list[Row] | None:
    return [
        {
            "unitPrice": float(rate),
            "retailPrice": float(rate),
            "term": f"{months // 12} Year{'s' if months > 12 else ''}",
        }
        for months, rate in savings.items()
    ] or None


def row(name: str, sku_name: str, product: str, region: str, price: str, **changes: Any) -> Row:
    """One row as the API gives it; a change to None takes the field away."""
    values = {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": float(price),
        "unitPrice": float(price),
        "armRegionName": region,
        "location": region.upper(),
        "effectiveStartDate": "2026-08-01T00:00:00Z",
        "meterId": f"meter-{name}-{sku_name}",
        "meterName": sku_name.removeprefix("Standard_").replace("_", " "),
        "productId": "DZH318Z0",
        "skuId": f"DZH318Z0/{crc32(repr((name, sku_name, product, region)).encode()):08X}",
        "productName": product,
        "skuName": sku_name,
        "serviceName": "Virtual Machines",
        "serviceId": "DZH313Z7MMC8",
        "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": name,
    }
    return {key: value for key, value in (values | changes).items() if value is not None}


_A100 = ("Standard_NC24ads_A100_v4", "Standard_NC24ads_A100_v4")
_LINUX = "NCads A100 v4 Series Linux"
_NCC = ("Standard_NCC40ads_H100_v5", "NCC40adsH100v5")
_RTX = "Standard_NC144ds_xl_RTXPRO6000BSE_v6"
_EU = "westeurope"

OTHERS: tuple[tuple[str, Row], ...] = (
    ("windows", row(*_A100, "NCads A100 v4 Series Windows", _EU, "5.879")),
    ("windows spot", row(_A100[0], f"{_A100[1]} Spot", "NCads A100 v4 Series Windows", _EU, "0.9")),
    ("win", row(*_NCC, "Virtual Machines NCCadsv5 Srs Win", _EU, "10.74")),
    ("dedicated host", row("NVasv4_Type1", "NVasv4 Type1", "NVasv4 Series Dedicated Host", _EU,
                           "3.1")),
    ("cloud services", row(_A100[0], "NC24ads", "NCads A100 v4 Series Cloud Services", _EU,
                           "4.1")),
    ("fpga", row("Standard_NP10s", "NP10s", "Virtual Machines NP Series", _EU, "1.65")),
    ("dev/test", row(*_A100, _LINUX, _EU, "2.2", type="DevTestConsumption")),
    ("promo sku", row("Standard_NC6_Promo", "NC6", "Virtual Machines NC Promo Series", _EU, "0.4")),
    ("promo product", row("Standard_NC6", "NC6", "Virtual Machines NC promo Series", _EU, "0.4")),
    ("expired meter", row("Standard_NC6", "NC6", "Virtual Machines NC Series", _EU, "0.3",
                          meterName="NC6 - Expired")),
    ("ended", row(*_A100, _LINUX, _EU, "3.2", effectiveStartDate="2024-01-01T00:00:00Z",
                  effectiveEndDate="2026-07-31T00:00:00Z")),
    ("older state", row(*_A100, _LINUX, _EU, "6.5", effectiveStartDate="2023-01-01T00:00:00Z")),
    ("to come", row(*_A100, _LINUX, _EU, "9.9", effectiveStartDate="2026-12-01T00:00:00Z")),
    ("secondary meter", row(*_A100, "NCads A100 v4 Series", _EU, "4.2",
                            isPrimaryMeterRegion=False)),
    ("volume tier", row(*_A100, _LINUX, _EU, "4.0", tierMinimumUnits=100.0)),
    ("zero", row(*_A100, _LINUX, "northeurope", "0")),
    ("no price", row(*_A100, _LINUX, "northeurope", "1", retailPrice=None)),
    ("converted", row(*_A100, _LINUX, _EU, "4.3", currencyCode="EUR")),
    ("no machine name", row("", "ND96asrA100v4_NU", "Virtual Machines NDasr A100 v4 Series", _EU,
                            "33")),
    ("unit of a month", row(*_A100, _LINUX, _EU, "3000", unitOfMeasure="1/Month")),
    ("canary region", row(*_A100, _LINUX, "centraluseuap", "3.6")),
    ("staging region", row(*_A100, _LINUX, "brazilus", "3.6", productName=None)),
    ("meter of another machine", row(_RTX, "NC144ldsxlRTX6kv6", "Virtual Machines NCldsxlRTX6kv6",
                                     _EU, "7.87")),
    ("two meters", row("Standard_NC64as_T4_v3", "NC64asT4 v3", "Virtual Machines NCasT4 v3 Series",
                       _EU, "4.352")),
    ("two meters", row("Standard_NC64as_T4_v3", "NC64asT4 v3", "Virtual Machines NCasT4 v3 Srs",
                       _EU, "5.111", skuId="DZH318Z0/other")),
    ("same twice", row("Standard_NC6", "NC6", "Virtual Machines NC Series", _EU, "0.972",
                       skuId="DZH318Z0/twin")),
    ("unknown machine", row("Standard_NX8ads_Z9_v1", "NX8adsZ9v1", "Virtual Machines NXadsZ9v1",
                            _EU, "1")),
    ("fraction not published", row("Standard_NV4ads_A10_v5", "NV4adsA10v5",
                                   "Virtual Machines NVadsA10v5 Series", _EU, "0.454")),
    ("unknown term", row(*_A100, _LINUX, _EU, "9000", type="Reservation", reservationTerm="")),
    ("no accelerator", row("Standard_D8_v4", "D8 v4", "Virtual Machines Dv4 Series", _EU, "0.46")),
    ("a disk", row("", "E10 LRS", "Standard SSD Managed Disks", _EU, "10.56", serviceName="Storage",
                   unitOfMeasure="1/Month")),
)  # fmt: skip
"""(what it looks like, row): none of them is the price of a Linux machine with accelerators."""


def resource_skus() -> list[Row]:
    """Rows of the Resource SKUs API: one for each region, values as text, names in capitals."""
    rows = [_resource_sku(vm) for vm in VMS if vm.sold_now or vm.name == "Standard_NC6"]
    rows.append({"resourceType": "disks", "name": "Standard_LRS", "locations": ["westeurope"]})
    return rows


_SPELT = {"westus3": "WestUS3", "westeurope": "westeurope"}


def _resource_sku(vm: Vm) -> Row:
    place = _SPELT[vm.region]
    return {
        "resourceType": "virtualMachines",
        "name": vm.name,
        "family": "standardFamily",
        "locations": [place],
        "locationInfo": [{"location": place, "zones": ["1", "2"], "zoneDetails": []}],
        "capabilities": [
            {"name": "vCPUs", "value": f"{vm.vcpus:g}"},
            {"name": "MemoryGB", "value": f"{vm.memory_gib:g}"},
            {"name": "GPUs", "value": vm.gpus},
        ],
        "restrictions": [
            {
                "type": "Location",
                "values": [place],
                "restrictionInfo": {"locations": [place]},
                "reasonCode": "NotAvailableForSubscription",
            }
        ],
    }
