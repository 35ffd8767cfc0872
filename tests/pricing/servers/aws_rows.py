"""The known market as AWS writes it down: rows of the price list, and the rows beside them."""

import hashlib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.pricing.servers.aws_market import (
    NAMES,
    PAYMENTS,
    PUBLISHED,
    STRANGERS,
    TERMS,
    Box,
    Market,
)

ON_DEMAND = "JRTCKXETXF"
ON_DEMAND_CHINA = "99YE2YK9UR"
HOURLY = "6YS6EN2CT7"
UPFRONT = "2TG2D8R56U"
CODES = {
    (12, "standard", "partial_upfront"): "HU7G6KETJZ",
    (12, "standard", "all_upfront"): "6QCMYABX3D",
    (12, "standard", "no_upfront"): "4NA7Y494T4",
    (12, "convertible", "all_upfront"): "VJWZNREJX2",
    (12, "convertible", "no_upfront"): "7NE97W5U4E",
    (12, "convertible", "partial_upfront"): "CUZHX8X6JH",
    (36, "standard", "partial_upfront"): "38NPMPTW36",
    (36, "standard", "no_upfront"): "BPH4J8HBKS",
    (36, "standard", "all_upfront"): "NQ3QZPMQV9",
    (36, "convertible", "no_upfront"): "Z2E3P23VKM",
    (36, "convertible", "partial_upfront"): "R5XV2EPZQZ",
    (36, "convertible", "all_upfront"): "MZU6U2429S",
}
EFFECTIVE = "2026-09-01T00:00:00Z"
VERSION = PUBLISHED.strftime("%Y%m%d%H%M%S")
Row = dict[str, Any]


def sku_of(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:16].upper()


def written(amount: Decimal) -> str:
    """With ten decimal places, as AWS writes an hourly price."""
    return f"{amount:.10f}"


def attributes_of(market: Market, box: Box, region: str, **changes: str) -> dict[str, str]:
    location, prefix, _ = NAMES[region]
    memory_gb = box.device_mib * int(max(box.count, 1)) // 1000
    whole = {"gpu": str(int(box.count))} if box.count >= 1 else {"gpu": "1"}
    return {
        "servicecode": "AmazonEC2",
        "location": location,
        "locationType": "AWS Local Zone" if "lax" in region else "AWS Region",
        "instanceType": box.name,
        "currentGeneration": "No" if box.retired else "Yes",
        "instanceFamily": box.family,
        "vcpu": str(box.vcpus),
        "memory": f"{box.memory_gib:,g} GiB",
        "networkPerformance": f"{box.network_gbps:g} Gigabit" if box.network_gbps else "High",
        "tenancy": "Shared",
        "operatingSystem": "Linux",
        "licenseModel": "No License required",
        "usagetype": f"{prefix}BoxUsage:{box.name}",
        "operation": "RunInstances",
        "capacitystatus": "Used",
        "gpuMemory": f"{memory_gb} GB",
        "marketoption": "OnDemand",
        "preInstalledSw": "NA",
        "regionCode": region,
    } | ({} if box.kind in ("fpga", "none") else whole) | changes  # fmt: skip


def term(sku: str, code: str, parts: dict[str, tuple[str, str, str]], **attributes: str) -> Row:
    """`parts`: rate code → (unit, currency, amount)."""
    dimensions = {}
    for rate, (unit, currency, amount) in parts.items():
        dimension = {
            "rateCode": f"{sku}.{code}.{rate}",
            "description": "Upfront Fee" if unit == "Quantity" else f"{amount} per instance hour",
            "unit": unit,
            "pricePerUnit": {currency: amount},
            "appliesTo": [],
        }
        if unit != "Quantity":
            dimension |= {"beginRange": "0", "endRange": "Inf"}
        dimensions[dimension["rateCode"]] = dimension
    return {
        "offerTermCode": code,
        "sku": sku,
        "effectiveDate": EFFECTIVE,
        "priceDimensions": dimensions,
        "termAttributes": attributes,
    }


def product_row(
    sku: str, family: str, attributes: dict[str, str], terms: dict[str, list[Row]]
) -> Row:
    return {
        "product": {"productFamily": family, "attributes": attributes, "sku": sku},
        "serviceCode": "AmazonEC2",
        "terms": {
            section: {f"{sku}.{one['offerTermCode']}": one for one in some}
            for section, some in terms.items()
            if some
        },
        "version": VERSION,
        "publicationDate": PUBLISHED.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def hourly_term(market: Market, sku: str, amount: Decimal) -> Row:
    code = ON_DEMAND_CHINA if market.currency == "CNY" else ON_DEMAND
    return term(sku, code, {HOURLY: ("Hrs", market.currency, written(amount))})


def reserved_terms(market: Market, box: Box, region: str, sku: str) -> list[Row]:
    found = []
    for (months, offering, payment), code in CODES.items():
        price, upfront = market.reserved(box, region, months, offering, payment)
        parts = {HOURLY: ("Hrs", market.currency, written(price))}
        if upfront:
            parts[UPFRONT] = ("Quantity", market.currency, str(upfront))
        found.append(
            term(
                sku,
                code,
                parts,
                LeaseContractLength=f"{months // 12}yr",
                OfferingClass=offering,
                PurchaseOption=payment.replace("_", " ").title(),
            )
        )
    return found


def machine_row(market: Market, box: Box, region: str) -> Row:
    sku = sku_of(region, box.name)
    terms = {
        "OnDemand": [hourly_term(market, sku, market.on_demand(box, region))],
        "Reserved": reserved_terms(market, box, region, sku) if box.reserved else [],
    }
    return product_row(sku, box.product_family, attributes_of(market, box, region), terms)


VARIANTS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("windows", {"operatingSystem": "Windows", "operation": "RunInstances:0002"}, "1.4"),
    (
        "windows byol",
        {
            "operatingSystem": "Windows",
            "operation": "RunInstances:0800",
            "licenseModel": "Bring your own license",
        },
        "1",
    ),
    ("sql", {"preInstalledSw": "SQL Std", "operation": "RunInstances:0004"}, "1.9"),
    ("rhel", {"operatingSystem": "RHEL", "operation": "RunInstances:0010"}, "1.05"),
    ("dedicated", {"tenancy": "Dedicated", "usagetype": "DedicatedUsage:x"}, "1.1"),
    ("host", {"tenancy": "Host", "usagetype": "HostBoxUsage:x"}, "0"),
    ("unused", {"capacitystatus": "UnusedCapacityReservation", "usagetype": "UnusedBox:x"}, "1"),
    ("block", {"marketoption": "CapacityBlock", "operation": "RunInstances:CB"}, "0"),
)
"""What AWS lists under the same instance type: changes of the plain row, price relative to it."""


def variant_rows(market: Market, box: Box, region: str) -> Iterator[Row]:
    for name, changes, level in VARIANTS:
        if name == "block" and not box.blocks:
            continue
        sku = sku_of(region, box.name, name)
        amount = market.on_demand(box, region) * Decimal(level)
        attributes = attributes_of(market, box, region, **changes)
        yield product_row(
            sku, "Compute Instance", attributes, {"OnDemand": [hourly_term(market, sku, amount)]}
        )


def other_rows(market: Market, region: str) -> Iterator[Row]:
    """Products that are no accelerated machine at all, and a dedicated host of GPU machines."""
    usd = market.currency
    disk = sku_of(region, "gp3")
    yield product_row(
        disk,
        "Storage",
        {"volumeApiName": "gp3", "regionCode": region, "usagetype": "EBS:VolumeUsage.gp3"},
        {"OnDemand": [term(disk, ON_DEMAND, {HOURLY: ("GB-Mo", usd, "0.0800000000")})]},
    )
    trial = sku_of(region, "trial")
    yield product_row(
        trial,
        "Compute Instance",
        {"group": "FreeTrial", "location": "Any", "regionCode": "", "operation": "RunInstances"},
        {"OnDemand": [term(trial, "A429C66SYZ", {"TKQXKGP374": ("Hrs", usd, "0.0000000000")})]},
    )
    host = sku_of(region, "host")
    yield product_row(
        host,
        "Dedicated Host",
        {"instanceType": "p3", "instanceFamily": "GPU instance", "gpu": "8", "tenancy": "Reserved",
         "regionCode": region, "operatingSystem": "Linux"},
        {"Reserved": []},
    )  # fmt: skip
    general = sku_of(region, "m5.xlarge")
    attributes = {
        "instanceType": "m5.xlarge", "instanceFamily": "General purpose", "vcpu": "4",
        "memory": "16 GiB", "operatingSystem": "Linux", "tenancy": "Shared", "gpuMemory": "NA",
        "capacitystatus": "Used", "preInstalledSw": "NA", "regionCode": region,
        "marketoption": "OnDemand", "operation": "RunInstances", "usagetype": "BoxUsage:m5.xlarge",
    }  # fmt: skip
    yield product_row(
        general,
        "Compute Instance",
        attributes,
        {"OnDemand": [hourly_term(market, general, Decimal("0.192"))]},
    )


def all_rows(market: Market) -> list[Row]:
    """The whole price list, the truth in the middle of everything else."""
    rows = []
    for region in dict.fromkeys(region for region, _ in market.places()):
        rows += other_rows(market, region)
        rows += [machine_row(market, box, region) for box in STRANGERS if "lax" not in region]
    for region, box in market.places():
        rows += [*variant_rows(market, box, region), machine_row(market, box, region)]
    return rows


def offer_file(rows: list[Row], region: str) -> Row:
    """The bulk file of one region."""
    here = [row for row in rows if row["product"]["attributes"].get("regionCode") == region]
    sections: dict[str, dict[str, Row]] = {"OnDemand": {}, "Reserved": {}}
    for row in here:
        for section, terms in row["terms"].items():
            sections[section][row["product"]["sku"]] = terms
    return {
        "formatVersion": "v1.0",
        "offerCode": "AmazonEC2",
        "version": VERSION,
        "publicationDate": PUBLISHED.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "products": {row["product"]["sku"]: row["product"] for row in here},
        "terms": sections,
        "attributesList": {},
    }


def plan_rows(market: Market, region: str) -> Iterator[tuple[str, int, str, Box, Decimal]]:
    """(kind, months, payment, machine, rate) of every savings-plan rate."""
    for place, box in market.places():
        if place != region or not box.plans:
            continue
        for kind in ("Compute", "EC2Instance"):
            for months in TERMS:
                for payment in PAYMENTS:
                    yield (
                        kind,
                        months,
                        payment,
                        box,
                        market.plan_rate(box, region, months, payment, kind),
                    )


def plan_file(market: Market, region: str) -> Row:
    """The savings-plan file of one region, with rates for Windows and unused capacity in it."""
    plans: dict[str, Row] = {}
    products = []
    for kind, months, payment, box, rate in plan_rows(market, region):
        family = {"Compute": "ComputeSavingsPlans", "EC2Instance": "EC2InstanceSavingsPlans"}[kind]
        option = payment.replace("_", " ").title()
        plan_sku = sku_of("plan", kind, str(months), payment)
        if plan_sku not in plans:
            products.append(
                {
                    "sku": plan_sku,
                    "productFamily": family,
                    "attributes": {
                        "purchaseOption": option,
                        "productFamily": family,
                        "granularity": "hourly",
                        "purchaseTerm": f"{months // 12}yr",
                    },
                }
            )
            plans[plan_sku] = {"sku": plan_sku, "description": f"{months // 12} year {option}",
                               "leaseContractLength": {"duration": months // 12, "unit": "year"},
                               "rates": []}  # fmt: skip
        rates = plans[plan_sku]["rates"]
        prefix = NAMES[region][1]
        for name, usage, operation, factor in (
            ("", "BoxUsage", "RunInstances", "1"),
            ("windows", "BoxUsage", "RunInstances:0002", "1.7"),
            ("unused", "UnusedBox", "RunInstances", "0.9"),
        ):
            sku = sku_of(region, box.name, name) if name else sku_of(region, box.name)
            rates.append(
                {
                    "discountedSku": sku,
                    "discountedUsageType": f"{prefix}{usage}:{box.name}",
                    "discountedOperation": operation,
                    "discountedServiceCode": "AmazonEC2",
                    "rateCode": f"{plan_sku}.{sku}",
                    "unit": "Hrs",
                    "discountedRate": {
                        "price": str(rate * Decimal(factor)),
                        "currency": market.currency,
                    },
                    "discountedRegionCode": region,
                    "discountedInstanceType": box.name,
                }
            )
    return {
        "version": VERSION,
        "products": products,
        "terms": {"savingsPlan": list(plans.values())},
    }
