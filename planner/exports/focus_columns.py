"""Columns of FOCUS 1.2's Cost and Usage dataset, in order, and our own beside them."""

from __future__ import annotations

import datetime as dt

COLUMNS = (
    "AvailabilityZone",
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingAccountType",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "CapacityReservationId",
    "CapacityReservationStatus",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "CommitmentDiscountCategory",
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountQuantity",
    "CommitmentDiscountStatus",
    "CommitmentDiscountType",
    "CommitmentDiscountUnit",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "ContractedUnitPrice",
    "EffectiveCost",
    "InvoiceId",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingCurrency",
    "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "RegionName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
    "SkuId",
    "SkuMeter",
    "SkuPriceDetails",
    "SkuPriceId",
    "SubAccountId",
    "SubAccountName",
    "SubAccountType",
    "Tags",
)
APPROVAL_COLUMNS = ("x_SavedComparisonId", "x_State", "x_StateBy", "x_StateAt")
OWN_COLUMNS = (
    "x_IsForecast",
    "x_ScenarioId",
    "x_Revision",
    "x_Percentile",
    "x_Accelerator",
    "x_AcceleratorCount",
    "x_AcceleratorHours",
    "x_CapexOpex",
    "x_DepreciationMethod",
    "x_Category",
    "x_InstanceType",
    *APPROVAL_COLUMNS,
)

SERVICE_CATEGORIES = {
    "storage": ("Storage", "Object Storage"),
    "egress": ("Networking", "Network Connectivity"),
}
COMPUTE = ("Compute", "Virtual Machines")
OTHER_COMPUTE = ("Compute", "Other (Compute)")

UNPRICED = {"tax": "Tax", "residual": "Credit", "credit": "Credit", "shortfall": "Adjustment"}
"""Categories of lines that have no price → their charge category."""
CAPITAL = frozenset({"capex", "install", "network_storage", "spares"})


def unit_of(unit: str) -> str:
    """A line's unit in FOCUS's unit format."""
    if unit == "node-hours":
        return "Hours"
    what, dash, time = unit.rpartition("-")
    if not dash:
        what, time = unit, ""
    return (what.capitalize() if what.islower() else what) + dash + time.capitalize()


def period_columns(start: dt.date, end: dt.date) -> dict[str, str]:
    first, last = f"{start}T00:00:00Z", f"{end}T00:00:00Z"
    return {
        "BillingPeriodStart": first,
        "BillingPeriodEnd": last,
        "ChargePeriodStart": first,
        "ChargePeriodEnd": last,
    }
