"""Small catalogs and requests for the tests of costing."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pricing.market.offers import Offer, PurchaseOption
from pricing.market.snapshot import Catalog

H100 = "nvidia-h100-80gb-sxm"
TODAY = dt.date(2026, 11, 20)
SEEN = dt.date(2026, 6, 18)


def offer(price: str, option: str = "on_demand", count: int = 8, **fields: Any) -> Offer:
    plain: dict[str, Any] = {
        "provider": "aws",
        "region": "us-east-1",
        "instance_type": f"p5.{6 * count}xlarge",
        "accelerator": H100,
        "as_of": SEEN,
        "source": "price list",
    }
    return Offer(
        accelerator_count=Fraction(count),
        purchase_option=PurchaseOption(option),
        price_per_hour=Decimal(price),
        **(plain | fields),
    )


def catalog(*offers: Offer) -> Catalog:
    return Catalog.of(offers)


CATALOG = catalog(
    offer("55.04"),
    offer("98.32", region="eu-west-1"),
    offer("22.00", "spot", zone="us-east-1a"),
    offer("34.00", "reserved", term_months=12, payment_option="no_upfront"),
    offer("24.00", "reserved", term_months=36, payment_option="no_upfront"),
    offer("0", "reserved", term_months=36, payment_option="all_upfront", upfront=Decimal(600_000)),
    offer("7.20", count=1),
    offer("11.50", provider="azure", region="westus3", instance_type="ND12", count=1),
)


RENT_ALONE = {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0}
"""Renting without a support plan and without people, so that a total is hours times price."""


def request_of(hours: Any = 4000, **fields: Any) -> dict[str, Any]:
    """A request over 24 months; the tornado and what would be cheaper are left out unless asked
    for, to be quick, and rent is all that renting costs unless the finance of a test says
    otherwise."""
    workload = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": hours}
    plain = {"start": "2027-01", "horizon_months": 24, "workload": workload}
    finance = RENT_ALONE | fields.pop("finance", {})
    left_out = {"sensitivity": False, "cheaper_if": False, "decide_every_months": 0}
    return plain | left_out | {"finance": finance} | fields
