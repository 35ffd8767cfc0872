"""Short ways to make offers for tests."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pricing.market.offers import Offer, PurchaseOption

H100 = "nvidia-h100-80gb-sxm"
A100 = "nvidia-a100-80gb-sxm"
T4 = "nvidia-t4"

FACTS = {H100: (80.0, "NVLink 4"), A100: (80.0, "NVLink 3"), T4: (16.0, "")}


def datasheet(slug: str) -> tuple[float, str]:
    return FACTS.get(slug, (float("nan"), ""))


def offer(price: str = "55.04", count: int | Fraction = 8, **changes: Any) -> Offer:
    values: dict[str, Any] = {
        "provider": "aws",
        "region": "us-east-1",
        "instance_type": "p5.48xlarge",
        "accelerator": H100,
        "accelerator_count": Fraction(count),
        "purchase_option": PurchaseOption.ON_DEMAND,
        "price_per_hour": Decimal(price),
        "as_of": dt.date(2026, 9, 1),
        "source": "test",
    }
    return Offer(**(values | changes))
