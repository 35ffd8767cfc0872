"""Spot interruption bands, storage and egress prices from their lists. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.bundled.source import Row, read_rows
from pricing.market.interruptions import InterruptionBand
from pricing.market.storage_prices import StoragePrice

INTERRUPTIONS = "data/prices/aws_spot_advisor.csv"
STORAGE = "data/prices/gcp_storage_egress.csv"

_INTERRUPTION_SHARES = {
    "<5%": (0.0, 0.05),
    "5-10%": (0.05, 0.10),
    "10-15%": (0.10, 0.15),
    "15-20%": (0.15, 0.20),
    ">20%": (0.20, 1.0),
}
"""Share of instances interrupted within a month, from and up to."""
_ADVISOR = "AWS Spot Instance Advisor"
_KINDS = {
    ("bucket", "standard"): "object",
    ("storage", "balanced"): "block",
    ("storage", "ssd"): "block_ssd",
}
_EGRESS = "egress/internet/"
_TIERS = {"0-1": Decimal(0), "1-10": Decimal(1024), "10n": Decimal(10240)}
"""GiB a month from which a rate of egress to the internet holds."""


def interruptions(folder: Path, audit: RowAudit) -> list[InterruptionBand]:
    """The band of each AWS machine and region; its estimated spot price is not a price."""
    bands = []
    for row in map(audit.count_read, read_rows(folder, INTERRUPTIONS)):
        low, high = _INTERRUPTION_SHARES[row["interruption_freq"]]
        audit.record(row, RowOutcome.INTERRUPTIONS)
        bands.append(
            InterruptionBand("aws", row["region"], row["instance_type"], low, high, _ADVISOR)
        )
    return bands


def storage_prices(folder: Path, audit: RowAudit) -> list[StoragePrice]:
    """Object and block storage and egress to the internet by GCP region."""
    prices = []
    for row in map(audit.count_read, read_rows(folder, STORAGE)):
        price = _parse_storage_price(row)
        audit.record(row, RowOutcome.STORAGE_PRICE if price else RowOutcome.NOT_NEEDED, row["kind"])
        prices += [price] if price else []
    return prices


def _parse_storage_price(row: Row) -> StoragePrice | None:
    if row["key"] != "month":
        return None
    name, _, region = row["region"].rpartition("/")
    if row["kind"] == "network":
        tier = name.removeprefix(_EGRESS)
        if not name.startswith(_EGRESS) or tier not in _TIERS:
            return None
        return _build_storage_price(row, region, "egress", _TIERS[tier])
    source_kind = name if row["kind"] == "bucket" else row["name"]
    kind = _KINDS.get((row["kind"], source_kind))
    return _build_storage_price(row, region, kind, Decimal(0)) if kind else None


def _build_storage_price(row: Row, region: str, kind: str, above_gib: Decimal) -> StoragePrice:
    return StoragePrice(
        provider="gcp",
        region=region,
        kind=kind,
        above_gib=float(above_gib),
        price=float(row.price("usd")),
        currency="USD",
        as_of=row["as_of"],
        source=row["source"],
    )


def list_documented_prices() -> Iterator[StoragePrice]:
    """Prices of AWS and Azure that are published in documents, not in a list."""
    aws = "AWS price list file"
    yield StoragePrice("aws", "us-east-2", "block", 0, 0.08, "USD", "2023-03-22", aws)
    yield StoragePrice("aws", "us-east-1", "block", 0, 0.08, "USD", "", "public test data")
    yield StoragePrice("aws", "cn-northwest-1", "block", 0, 0.5312, "CNY", "2023-03-14", aws)
    page = "alexjguy/AWS-costs-markdown, us-east-2"
    for above_gib, price in ((0, 0.09), (10_240, 0.085), (51_200, 0.07), (153_600, 0.05)):
        yield StoragePrice("aws", "", "egress", above_gib, price, "USD", "2018-08-01", page)
