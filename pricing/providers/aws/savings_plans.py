"""Savings plans: an hourly rate for a machine in return for a commitment of one or three years.

AWS sells two plans for the same machine: EC2 Instance, bound to a family and region, and Compute,
which may move to other machines and costs more. They are offers of their own.

The rate is what one hour of the machine takes out of the commitment, and the commitment is paid
as the payment option says: rate · 730 · months at once (all upfront), half of it at once and half
by the hour (partial), or all by the hour.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.offers import COMPUTE_PLAN_SKU, HOURS_PER_MONTH, Offer, PurchaseOption
from pricing.providers.aws.client import AwsClient
from pricing.providers.aws.machines import Machine
from pricing.providers.aws.price_list import price_list_region
from pricing.providers.aws.rows import make_offer, parse_money

SOURCE = "AWS savings plans"
_PLANS = ("Compute", "EC2Instance")
SAVINGS_PLAN_SKUS = {"Compute": COMPUTE_PLAN_SKU, "EC2Instance": "EC2InstanceSavingsPlans"}
"""The plan type that stands as the SKU of an offer, so that readers can tell the kinds apart."""
_UPFRONT_SHARE = {
    "no_upfront": Decimal(0),
    "partial_upfront": Decimal("0.5"),
    "all_upfront": Decimal(1),
}
_SMALLEST_STEP = Decimal("1e-10")
"""Amounts are kept to ten decimal places."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What a machine costs under one plan."""

    machine: Machine
    region: str
    plan: str
    months: int
    payment: str
    per_hour: Decimal
    currency: str
    sold_now: bool = True


def read(
    client: AwsClient,
    region: str,
    machines: Collection[Machine],
    sold_types: Collection[str] | None,
) -> Iterator[Rate | SkippedRow]:
    """The rates for `machines` in `region`. `sold_types`: what the region offers now, if known."""
    machines_by_type = {machine.instance_type: machine for machine in machines}
    families = sorted({name.partition(".")[0] for name in machines_by_type})
    pages = client.read_all_pages(
        f"savings_plans/{region}",
        "savingsplans",
        price_list_region(region),
        "describe_savings_plans_offering_rates",
        "searchResults",
        serviceCodes=["AmazonEC2"],
        products=["EC2"],
        filters=[
            {"name": "region", "values": [region]},
            {"name": "productDescription", "values": ["Linux/UNIX"]},
            {"name": "tenancy", "values": ["shared"]},
            {"name": "instanceFamily", "values": families},
        ],
        maxResults=1000,
    )
    for page in pages:
        for row in page:
            machine = _find_machine(row, region, machines_by_type)
            if machine is not None:
                is_sold = sold_types is None or machine.instance_type in sold_types
                yield _parse_rate(row, machine, region, is_sold)


def make_offers(
    rates: Iterable[Rate | SkippedRow | NotRead], as_of: dt.date
) -> Iterator[Offer | SkippedRow | NotRead]:
    """One offer for each machine, plan, term and payment option, the cheapest of several rates."""
    cheapest_rates: dict[tuple[str, str, str, int, str], Rate] = {}
    for rate in rates:
        if not isinstance(rate, Rate):
            yield rate
            continue
        key = (rate.region, rate.machine.instance_type, rate.plan, rate.months, rate.payment)
        other = cheapest_rates.get(key)
        if other is None or rate.per_hour < other.per_hour:
            cheapest_rates[key] = rate
    for rate in cheapest_rates.values():
        yield _build_offer(rate, as_of)


def make_rate(
    machine: Machine,
    region: str,
    plan: str,
    months: int,
    payment: str,
    price: object,
    **fields: Any,
) -> Rate | SkippedRow:
    """The rate, or why it is none."""
    label = f"{machine.instance_type} in {region}, {plan} {months} months {payment}"
    payment = payment.lower().replace(" ", "_")
    if payment not in _UPFRONT_SHARE or months not in (12, 36):
        return SkippedRow("unknown term", label)
    try:
        per_hour = parse_money(price)
    except ValueError as error:
        return SkippedRow("unreadable price", f"{label}: {error}")
    if not per_hour:
        return SkippedRow("price is 0", label)
    return Rate(machine, region, plan, months, payment, per_hour, **fields)


def is_linux_use(usage_type: str, operation: str) -> bool:
    """Whether a rate is for hours of a Linux machine on shared hardware.

    >>> is_linux_use("USW2-BoxUsage:p5.48xlarge", "RunInstances")
    True
    >>> is_linux_use("USW2-UnusedBox:p5.48xlarge", "RunInstances")
    False
    """
    usage = usage_type.partition(":")[0].rpartition("-")[2]
    return usage == "BoxUsage" and operation == "RunInstances"


def _find_machine(
    row: Mapping[str, Any], region: str, machines_by_type: Mapping[str, Machine]
) -> Machine | None:
    """The machine of a rate that is for Linux, on shared hardware, here."""
    properties = {item["name"]: item["value"] for item in row.get("properties", ())}
    is_linux_rate = (
        properties.get("region", region) == region
        and properties.get("productDescription", "Linux/UNIX") == "Linux/UNIX"
        and properties.get("tenancy", "shared") == "shared"
        and row.get("unit", "Hrs") in ("Hrs", "Hours")
        and is_linux_use(row.get("usageType", ""), row.get("operation", ""))
        and row.get("savingsPlanOffering", {}).get("planType") in _PLANS
    )
    return machines_by_type.get(properties.get("instanceType", "")) if is_linux_rate else None


def _parse_rate(
    row: Mapping[str, Any], machine: Machine, region: str, sold_now: bool
) -> Rate | SkippedRow:
    plan = row["savingsPlanOffering"]
    return make_rate(
        machine,
        region,
        plan["planType"],
        round(plan.get("durationSeconds", 0) / 3600 / HOURS_PER_MONTH),
        plan.get("paymentOption", ""),
        row.get("rate"),
        currency=plan.get("currency", "USD"),
        sold_now=sold_now,
    )


def _build_offer(rate: Rate, as_of: dt.date) -> Offer:
    upfront_share = _UPFRONT_SHARE[rate.payment]
    total = rate.per_hour * HOURS_PER_MONTH * rate.months
    return make_offer(
        rate.machine,
        rate.region,
        option=PurchaseOption.SAVINGS_PLAN,
        price_per_hour=_round(rate.per_hour * (1 - upfront_share)),
        upfront=_round(total * upfront_share),
        currency=rate.currency,
        term_months=rate.months,
        payment_option=rate.payment,
        as_of=as_of,
        source=SOURCE,
        sku=SAVINGS_PLAN_SKUS.get(rate.plan, ""),
        sold_now=rate.sold_now,
    )


def _round(amount: Decimal) -> Decimal:
    return amount.quantize(_SMALLEST_STEP, ROUND_HALF_EVEN)
