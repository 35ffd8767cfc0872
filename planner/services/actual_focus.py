"""Rows of FOCUS 1.2 billing as rows of actuals. Their hours are hours of machines."""

from __future__ import annotations

import json
from collections.abc import Mapping

from planner.services import actual_cells as cells
from planner.services.actual_cells import Group, Row
from pricing.invalid_input import InvalidInput

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
_HOURS = ("hours", "hour", "hrs")


def focus_row(record: Mapping[str, str]) -> Row:
    name = cells.text(record, "ProviderName", 120).lower()
    group = Group(
        month=cells.month((record["ChargePeriodStart"] or "")[:7], "ChargePeriodStart"),
        provider=_PROVIDERS.get(name, name[:60]),
        region=cells.text(record, "RegionId", 60),
        instance_type=_instance_type(record),
        purchase_option=_PRICING_CATEGORIES.get(record.get("PricingCategory") or "", ""),
        category=_category(record),
    )
    return Row(
        group,
        _hours(record),
        cells.amount(record["BilledCost"], "BilledCost"),
        cells.text(record, "BillingCurrency", 10),
    )


def _hours(record: Mapping[str, str]) -> float:
    """Hours of machines: consumed ones; of a commitment those paid for, used or not, because
    that is what a plan counts of it."""
    is_committed = bool(record.get("CommitmentDiscountId"))
    kind = "Pricing" if is_committed else "Consumed"
    if is_committed and record["ChargeCategory"] != "Purchase":
        return 0.0
    if (record.get(f"{kind}Unit") or "").strip().lower() not in _HOURS:
        return 0.0
    return cells.hours(record.get(f"{kind}Quantity") or "0", f"{kind}Quantity")


def _instance_type(record: Mapping[str, str]) -> str:
    if given := cells.text(record, "x_InstanceType", 120):
        return given
    try:
        details = json.loads(record.get("SkuPriceDetails") or "{}")
    except (ValueError, RecursionError):
        raise InvalidInput("SkuPriceDetails", "is not JSON") from None
    found = details.get("InstanceType") if isinstance(details, dict) else None
    return found[:120] if isinstance(found, str) else ""


def _category(record: Mapping[str, str]) -> str:
    """Our word for a FOCUS row's charge and service."""
    charge = record["ChargeCategory"] or ""
    if own := cells.text(record, "x_Category", 30):
        return own
    if charge == "Tax":
        return "tax"
    if record.get("CommitmentDiscountId"):
        return "commitment"
    return _SERVICE_CATEGORIES.get(record.get("ServiceCategory") or "", "compute")
