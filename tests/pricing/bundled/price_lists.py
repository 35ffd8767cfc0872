"""A small catalog in a folder, as the one that comes along, and lists to add to it."""

import csv
import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from pricing.bundled import catalog
from pricing.market.offers import Offer, PurchaseOption
from tools.bundle import Bundle, build_report, write

H100 = "nvidia-h100-80gb-sxm"
REGIONS = """provider,region,geography,country,city
aws,us-east-1,north-america,US,Ashburn
aws,us-west-2,north-america,US,Boardman
gcp,us-central1,north-america,US,Council Bluffs
azure,eastus,north-america,US,Richmond
"""
RATES = "currency,date,units_per_usd,source\nCNY,2026-06-30,6.7758,a bank\n"


def offer(machine: str = "p5.48xlarge", usd_per_hour: str = "55.04", **more: Any) -> Offer:
    """Of AWS in us-east-1, on demand, eight H100, on 1 August 2026."""
    values: dict[str, Any] = {
        "provider": "aws",
        "region": "us-east-1",
        "accelerator": H100,
        "accelerator_count": Fraction(8),
        "purchase_option": PurchaseOption.ON_DEMAND,
        "source": "a list",
        "as_of": dt.date(2026, 8, 1),
    }
    return Offer(instance_type=machine, price_per_hour=Decimal(usd_per_hour), **values | more)


def write_catalog(folder: Path, *offers: Offer, past: tuple[Offer, ...] = ()) -> Path:
    """A whole catalog of these offers, and the reference data that it needs."""
    bundle = Bundle(tuple(sorted(offers, key=lambda one: one.id)), past)
    write(bundle, folder)
    (folder / catalog.REGIONS).write_text(REGIONS)
    (folder / catalog.EXCHANGE_RATES).write_text(RATES)
    (folder / catalog.REPORT).write_text(build_report(bundle, (), {}))
    return folder


def write_list(path: Path, *rows: Mapping[str, str]) -> Path:
    """A list of prices; a row leaves out what is as usual."""
    usual = {
        "provider": "aws",
        "region": "us-east-1",
        "instance_type": "p5.48xlarge",
        "purchase_option": "on_demand",
        "price_per_hour": "55.04",
        "source": "a list",
        "as_of": "2026-09-01",
    }
    with path.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, list({k: 0 for row in (usual, *rows) for k in row}))
        writer.writeheader()
        writer.writerows(usual | row for row in rows)
    return path
