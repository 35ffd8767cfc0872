"""Published price histories as dated offers: only the changes, Linux only. PURE."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from pricing.common.amounts import quantize
from pricing.market.machine_types import MachineType
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption
from tools.bundle.clouds import ReferenceLists
from tools.bundle.rows import (
    Row,
    RowAudit,
    RowOutcome,
    Terms,
    build_offer,
    determine_outcome,
    read_rows,
    recognize,
)

AWS = "data/history/aws_price_changes_us_east_1.csv"
AZURE = "data/history/azure_prices_history_radar.csv"
GCP = "data/history/gcp_prices_history_monthly.csv"

AWS_REGION = "us-east-1"
_SOURCES = {
    AWS: "aws/karpenter-provider-aws price list, first seen @{karpenter_commit}",
    AZURE: "andy-diericks/azure-pricing-radar @{commit}",
    GCP: "Cyclenerd/google-cloud-pricing-cost-calculator pricing.yml @{commit}",
}
_AZURE_MODELS = {
    "on_demand": PurchaseOption.ON_DEMAND,
    "spot": PurchaseOption.SPOT,
    "low_priority": PurchaseOption.LOW_PRIORITY,
}
_ZERO = Decimal(0)


@dataclass(frozen=True)
class _PastPrice:
    """One dated price with its row; its place in the series decides whether it is a change."""

    row: Row
    offer: Offer


def past_prices(folder: Path, audit: RowAudit, lists: ReferenceLists) -> list[Offer]:
    """Every change of price under `folder`, each dated by the first day it was seen."""
    dated_prices = [
        *_read_aws(folder, audit),
        *_read_azure(folder, audit),
        *_read_gcp(folder, audit, lists),
    ]
    return list(_select_changes(dated_prices, audit))


def _select_changes(dated_prices: list[_PastPrice], audit: RowAudit) -> Iterator[Offer]:
    by_id: dict[str, list[_PastPrice]] = defaultdict(list)
    for price in dated_prices:
        by_id[price.offer.id].append(price)
    for prices in by_id.values():
        last_price: Decimal | None = None
        for price in sorted(prices, key=lambda p: p.offer.as_of or dt.date.min):
            changed = price.offer.price_per_hour != last_price
            audit.record(price.row, RowOutcome.HISTORY if changed else RowOutcome.UNCHANGED)
            if changed:
                last_price = price.offer.price_per_hour
                yield price.offer


def _read_aws(folder: Path, audit: RowAudit) -> Iterator[_PastPrice]:
    for row in map(audit.count_read, read_rows(folder, AWS)):
        machine_type = recognize("aws", row["instance_type"], row, audit)
        if machine_type:
            terms = Terms(PurchaseOption.ON_DEMAND, 0, "", row.price("usd_per_hour"), _ZERO)
            yield _build_past_price("aws", row, machine_type, terms, "first_seen_date", AWS_REGION)


def _read_azure(folder: Path, audit: RowAudit) -> Iterator[_PastPrice]:
    prices_by_day: dict[tuple[str, dt.date | None], list[_PastPrice]] = defaultdict(list)
    for row in map(audit.count_read, read_rows(folder, AZURE)):
        option = _AZURE_MODELS.get(row["price_model"])
        if option is None:
            audit.record(row, RowOutcome.WINDOWS)
            continue
        machine_type = recognize("azure", row["arm_sku_name_inferred"], row, audit)
        if machine_type:
            terms = Terms(option, 0, "", row.price("retail_price_usd"), _ZERO)
            price = _build_past_price(
                "azure", row, machine_type, terms, "snapshot_at", row["region"]
            )
            prices_by_day[price.offer.id, price.offer.as_of].append(price)
    for prices in prices_by_day.values():
        if len({price.offer.price_per_hour for price in prices}) > 1:
            for price in prices:
                audit.record(price.row, RowOutcome.SUSPICIOUS, f"two prices: {price.offer.id}")
        else:
            yield prices[0]
            for price in prices[1:]:
                audit.record(price.row, RowOutcome.DUPLICATE, price.offer.id)


def _read_gcp(folder: Path, audit: RowAudit, lists: ReferenceLists) -> Iterator[_PastPrice]:
    for row in map(audit.count_read, read_rows(folder, GCP)):
        machine_type = recognize("gcp", row["machine_type"], row, audit)
        if machine_type is None:
            continue
        is_offered = lists.offers(row["region"], machine_type.instance_type)
        for terms in _parse_gcp_terms(row):
            yield _build_past_price(
                "gcp", row, machine_type, terms, "snapshot_date", row["region"], is_offered
            )


def _parse_gcp_terms(row: Row) -> Iterator[Terms]:
    for option, column, months in (
        (PurchaseOption.ON_DEMAND, "hour", 0),
        (PurchaseOption.SPOT, "hour_spot", 0),
        (PurchaseOption.COMMITTED_USE, "month_1y", 12),
        (PurchaseOption.COMMITTED_USE, "month_3y", 36),
    ):
        price = row.amount(column)
        if price:
            hourly = price / HOURS_PER_MONTH if months else price
            yield Terms(option, months, "no_upfront" if months else "", hourly, _ZERO)


def _build_past_price(
    provider: str,
    row: Row,
    machine_type: MachineType,
    terms: Terms,
    date_column: str,
    region: str,
    is_offered: bool = True,
) -> _PastPrice:
    source = _SOURCES[row.file].format_map(row.values)
    values: Mapping[str, str] = {**row.values, "region": region, "source": source}
    completed_row = Row(row.file, row.line, values)
    outcome, _ = determine_outcome(
        machine_type, terms, completed_row, is_offered=is_offered, date_column=date_column
    )
    offer = build_offer(provider, completed_row, machine_type, terms, row[date_column])
    hourly = quantize(offer.price_per_hour)
    return _PastPrice(row, replace(offer, price_per_hour=hourly, sold_now=outcome.is_sold))
