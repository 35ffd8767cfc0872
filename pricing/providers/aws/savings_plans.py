"""Savings plans: an hourly rate for a machine in return for a commitment of one or three years.

AWS sells two plans for the same machine, one that may move between machines and one that may
not. As offers they differ in nothing but price, so that the cheaper one is kept.

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

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption
from pricing.providers.aws.calls import Calls
from pricing.providers.aws.machines import Machine
from pricing.providers.aws.price_list import home_of
from pricing.providers.aws.rows import money, offer_of

SOURCE = "AWS savings plans"
_PLANS = ("Compute", "EC2Instance")
_UPFRONT_PART = {
    "no_upfront": Decimal(0),
    "partial_upfront": Decimal("0.5"),
    "all_upfront": Decimal(1),
}
_SMALLEST = Decimal("1e-10")
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
    calls: Calls, region: str, machines: Collection[Machine], sold: Collection[str] | None
) -> Iterator[Rate | SkippedRow]:
    """The rates for `machines` in `region`. `sold`: what the region offers now, if known."""
    by_name = {machine.instance_type: machine for machine in machines}
    families = sorted({name.partition(".")[0] for name in by_name})
    pages = calls.all_pages(
        f"savings_plans/{region}",
        "savingsplans",
        home_of(region),
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
            machine = _machine_of(row, region, by_name)
            if machine is not None:
                now = sold is None or machine.instance_type in sold
                yield _rate(row, machine, region, now)


def cheapest(rates: Iterable[Rate | SkippedRow], as_of: dt.date) -> Iterator[Offer | SkippedRow]:
    """One offer for each machine, term and payment option."""
    best: dict[tuple[str, str, int, str], Rate] = {}
    for rate in rates:
        if isinstance(rate, SkippedRow):
            yield rate
            continue
        key = (rate.region, rate.machine.instance_type, rate.months, rate.payment)
        other = best.get(key)
        if other is None or rate.per_hour < other.per_hour:
            best[key] = rate
        if other is not None and other.plan != rate.plan:
            dearer = other if best[key] is rate else rate
            yield SkippedRow("a dearer savings plan for the same machine", dearer.plan)
    for rate in best.values():
        yield _offer(rate, as_of)


def rate_of(
    machine: Machine, region: str, plan: str, months: int, payment: str, price: object, **more: Any
) -> Rate | SkippedRow:
    """The rate, or why it is none."""
    where = f"{machine.instance_type} in {region}, {plan} {months} months {payment}"
    payment = payment.lower().replace(" ", "_")
    if payment not in _UPFRONT_PART or months not in (12, 36):
        return SkippedRow("unknown term", where)
    try:
        per_hour = money(price)
    except ValueError as error:
        return SkippedRow("unreadable price", f"{where}: {error}")
    if not per_hour:
        return SkippedRow("price is 0", where)
    return Rate(machine, region, plan, months, payment, per_hour, **more)


def is_linux_use(usage_type: str, operation: str) -> bool:
    """Whether a rate is for hours of a Linux machine on shared hardware.

    >>> is_linux_use("USW2-BoxUsage:p5.48xlarge", "RunInstances")
    True
    >>> is_linux_use("USW2-UnusedBox:p5.48xlarge", "RunInstances")
    False
    """
    usage = usage_type.partition(":")[0].rpartition("-")[2]
    return usage == "BoxUsage" and operation == "RunInstances"


def _machine_of(
    row: Mapping[str, Any], region: str, by_name: Mapping[str, Machine]
) -> Machine | None:
    """The machine of a rate that is for Linux, on shared hardware, here."""
    said = {item["name"]: item["value"] for item in row.get("properties", ())}
    usual = (
        said.get("region", region) == region
        and said.get("productDescription", "Linux/UNIX") == "Linux/UNIX"
        and said.get("tenancy", "shared") == "shared"
        and row.get("unit", "Hrs") in ("Hrs", "Hours")
        and is_linux_use(row.get("usageType", ""), row.get("operation", ""))
        and row.get("savingsPlanOffering", {}).get("planType") in _PLANS
    )
    return by_name.get(said.get("instanceType", "")) if usual else None


def _rate(
    row: Mapping[str, Any], machine: Machine, region: str, sold_now: bool
) -> Rate | SkippedRow:
    plan = row["savingsPlanOffering"]
    return rate_of(
        machine,
        region,
        plan["planType"],
        round(plan.get("durationSeconds", 0) / 3600 / HOURS_PER_MONTH),
        plan.get("paymentOption", ""),
        row.get("rate"),
        currency=plan.get("currency", "USD"),
        sold_now=sold_now,
    )


def _offer(rate: Rate, as_of: dt.date) -> Offer:
    part = _UPFRONT_PART[rate.payment]
    total = rate.per_hour * HOURS_PER_MONTH * rate.months
    return offer_of(
        rate.machine,
        rate.region,
        option=PurchaseOption.SAVINGS_PLAN,
        price_per_hour=_kept(rate.per_hour * (1 - part)),
        upfront=_kept(total * part),
        currency=rate.currency,
        term_months=rate.months,
        payment_option=rate.payment,
        as_of=as_of,
        source=SOURCE,
        sold_now=rate.sold_now,
    )


def _kept(amount: Decimal) -> Decimal:
    return amount.quantize(_SMALLEST, ROUND_HALF_EVEN)
