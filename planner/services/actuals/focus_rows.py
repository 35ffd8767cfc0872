"""Rows of FOCUS 1.2 billing as rows of actuals. Their hours are hours of machines."""

from __future__ import annotations

from collections.abc import Mapping

from planner.services.actuals import cells
from planner.services.actuals.cells import Group, Row
from planner.usage.cells import Moments
from planner.usage.formats.base import most_at_once
from planner.usage.formats.focus_machines import find_machine_of_row
from pricing.common import strict_json
from pricing.common.invalid_input import InvalidInput

REQUIRED = ("ChargePeriodStart", "BilledCost", "BillingCurrency", "ChargeCategory")
_PROVIDERS = {
    "amazon web services": "aws",
    "aws": "aws",
    "microsoft": "azure",
    "microsoft azure": "azure",
    "azure": "azure",
    "google cloud": "gcp",
    "google": "gcp",
    "gcp": "gcp",
}
_PRICING_CATEGORIES = {"Standard": "on_demand", "Dynamic": "spot", "Committed": "committed"}
_SERVICE_CATEGORIES = {"Storage": "storage", "Networking": "egress"}
_DESCRIBING = ("x_UsageType", "SkuMeter", "x_SkuMeterName", "ChargeDescription")
"""Columns that would name a machine, were it one."""
_HOURS = ("hours", "hour", "hrs")
_REFUNDS = ("Credit", "Adjustment")
_TRUE = ("true", "1", "yes")
_NEVER = float("-inf")
_PERIOD = ("ChargePeriodStart", "ChargePeriodEnd")
_moments = Moments(utc_only=False)


def focus_row(record: Mapping[str, str]) -> Row:
    _refuse_forecast(record)
    machine, accelerators = _machine(record)
    name = cells.text(record, "ProviderName", 120).lower()
    group = Group(
        month=cells.month_of_moment(record["ChargePeriodStart"], "ChargePeriodStart"),
        provider=_PROVIDERS.get(name, name[:60]),
        region=cells.text(record, "RegionId", 60),
        instance_type=machine,
        purchase_option=_PRICING_CATEGORIES.get(record.get("PricingCategory") or "", ""),
        category=_category(record),
    )
    hours = 0.0 if accelerators == 0 else _hours(record)
    doubt, until = _judge(record, hours, accelerators or 1.0)
    amount = cells.amount(record["BilledCost"], "BilledCost")
    return Row(group, hours, amount, _currency(record), doubt, until)


def _judge(record: Mapping[str, str], hours: float, accelerators: float) -> tuple[str, float]:
    """What is more than the machines of a row could give in its period, and when that ends; of
    fees nothing is, as their periods are those of their invoice."""
    if hours <= 0 or record["ChargeCategory"] == "Purchase":
        return "", _NEVER
    try:
        start, end = (_moments(record.get(name) or "", name).seconds for name in _PERIOD)
    except InvalidInput:  # a period without an end judges nothing
        return "", _NEVER
    period = (end - start) / 3600
    most = most_at_once(record.get("ResourceId") or "", accelerators)
    if period <= 0 or hours * accelerators <= most * period:
        return "", end
    return f"{hours:,.0f} machine-hours in {period:,.2f} h", end


def _refuse_forecast(record: Mapping[str, str]) -> None:
    if (record.get("x_IsForecast") or "").strip().lower() in _TRUE:
        problem = "says that the row is a forecast, which is no bill; upload what was billed"
        raise InvalidInput("x_IsForecast", problem)


def _currency(record: Mapping[str, str]) -> str:
    currency = cells.text(record, "BillingCurrency", 10)
    if not currency:
        problem = "is empty; give the currency of BilledCost, such as USD"
        raise InvalidInput("BillingCurrency", problem)
    return currency


def _hours(record: Mapping[str, str]) -> float:
    """Hours of machines: consumed ones; of a commitment on machines those paid for, used or not,
    because that is what a plan counts of it. One on money (a savings plan) buys no hours: those
    that it covered count."""
    is_of_money = (record.get("CommitmentDiscountCategory") or "").strip().lower() == "spend"
    is_committed = bool(record.get("CommitmentDiscountId")) and not is_of_money
    if is_of_money and record["ChargeCategory"] == "Purchase":
        return 0.0
    kind = "Pricing" if is_committed else "Consumed"
    if is_committed and record["ChargeCategory"] != "Purchase":
        return 0.0
    if (record.get(f"{kind}Unit") or "").strip().lower() not in _HOURS:
        return 0.0
    return _quantity(record, f"{kind}Quantity")


def _quantity(record: Mapping[str, str], name: str) -> float:
    """Hours; less than none where a correction or a credit takes them back."""
    quantity = record.get(name) or "0"
    if record.get("ChargeClass") == "Correction" or record["ChargeCategory"] in _REFUNDS:
        return cells.hours(quantity, name, least=-cells.MAX_HOURS)
    try:
        return cells.hours(quantity, name)
    except InvalidInput as refusal:
        if not quantity.strip().startswith("-"):
            raise
        hint = "less is taken back by a row with ChargeClass Correction"
        raise InvalidInput(name, f"{refusal.message}; {hint}") from None


def _machine(record: Mapping[str, str]) -> tuple[str, float | None]:
    """Name of the machine and its accelerators: None where only the plan or nobody knows them."""
    if named := cells.text(record, "x_InstanceType", 120):
        return named, None
    try:
        details = strict_json.loads(record.get("SkuPriceDetails") or "{}")
    except ValueError:
        raise InvalidInput("SkuPriceDetails", "is not JSON") from None
    name, accelerators = find_machine_of_row(record)
    stated = details.get("InstanceType") if isinstance(details, dict) else None
    if not name:
        says_what = any(record.get(column) for column in _DESCRIBING)
        return (stated[:120] if isinstance(stated, str) else ""), 0.0 if says_what else None
    return name, accelerators


def _category(record: Mapping[str, str]) -> str:
    """Our word for a FOCUS row's charge and service."""
    charge = record["ChargeCategory"] or ""
    if category := cells.text(record, "x_Category", 30):
        return category
    if charge == "Tax":
        return "tax"
    if record.get("CommitmentDiscountId"):
        return "commitment"
    return _SERVICE_CATEGORIES.get(record.get("ServiceCategory") or "", "compute")
