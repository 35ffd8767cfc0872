"""Published price histories as dated offers: only the changes, Linux only. PURE."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from pricing.bundled.draft import Terms, offer_of, standing
from pricing.bundled.gcp import Market
from pricing.bundled.machine import machine
from pricing.bundled.row_audit import Account, Outcome
from pricing.bundled.source import Row, read
from pricing.common.amounts import quantize
from pricing.market.machine_types import MachineType
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption

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
_NOTHING = Decimal(0)


@dataclass(frozen=True)
class _Past:
    """One dated price on its way: where it stands decides whether it is a change."""

    row: Row
    offer: Offer


def past_prices(folder: Path, account: Account, market: Market) -> list[Offer]:
    """Every change of price under `folder`, each dated by the first day it was seen."""
    past = [
        *_aws(folder, account),
        *_azure(folder, account),
        *_gcp(folder, account, market),
    ]
    return list(_changes(past, account))


def _changes(past: list[_Past], account: Account) -> Iterator[Offer]:
    """In order of date, the prices that differ from the one before of the same offer."""
    by_id: dict[str, list[_Past]] = defaultdict(list)
    for one in past:
        by_id[one.offer.id].append(one)
    for same in by_id.values():
        last: Decimal | None = None
        for one in sorted(same, key=lambda p: p.offer.as_of or dt.date.min):
            changed = one.offer.price_per_hour != last
            account.tell(one.row, Outcome.HISTORY if changed else Outcome.UNCHANGED)
            if changed:
                last = one.offer.price_per_hour
                yield one.offer


def _aws(folder: Path, account: Account) -> Iterator[_Past]:
    for row in map(account.enter, read(folder, AWS)):
        machine_type = _shape("aws", row["instance_type"], row, account)
        if machine_type:
            terms = Terms(PurchaseOption.ON_DEMAND, 0, "", row.price("usd_per_hour"), _NOTHING)
            yield _past("aws", row, machine_type, terms, "first_seen_date", AWS_REGION)


def _azure(folder: Path, account: Account) -> Iterator[_Past]:
    """One price for each offer and day; a day with two prices of one offer says neither."""
    seen: dict[tuple[str, dt.date | None], list[_Past]] = defaultdict(list)
    for row in map(account.enter, read(folder, AZURE)):
        option = _AZURE_MODELS.get(row["price_model"])
        if option is None:
            account.tell(row, Outcome.WINDOWS)
            continue
        machine_type = _shape("azure", row["arm_sku_name_inferred"], row, account)
        if machine_type:
            terms = Terms(option, 0, "", row.price("retail_price_usd"), _NOTHING)
            one = _past("azure", row, machine_type, terms, "snapshot_at", row["region"])
            seen[one.offer.id, one.offer.as_of].append(one)
    for same in seen.values():
        if len({one.offer.price_per_hour for one in same}) > 1:
            for one in same:
                account.tell(one.row, Outcome.SUSPICIOUS, f"two prices: {one.offer.id}")
        else:
            yield same[0]
            for one in same[1:]:
                account.tell(one.row, Outcome.DUPLICATE, one.offer.id)


def _gcp(folder: Path, account: Account, market: Market) -> Iterator[_Past]:
    for row in map(account.enter, read(folder, GCP)):
        machine_type = _shape("gcp", row["machine_type"], row, account)
        if machine_type is None:
            continue
        offered = market.offers(row["region"], machine_type.instance_type)
        for terms in _gcp_terms(row):
            yield _past("gcp", row, machine_type, terms, "snapshot_date", row["region"], offered)


def _gcp_terms(row: Row) -> Iterator[Terms]:
    """Hourly on demand and spot; committed use by the month, for one and three years."""
    for option, column, months in (
        (PurchaseOption.ON_DEMAND, "hour", 0),
        (PurchaseOption.SPOT, "hour_spot", 0),
        (PurchaseOption.COMMITTED_USE, "month_1y", 12),
        (PurchaseOption.COMMITTED_USE, "month_3y", 36),
    ):
        price = row.amount(column)
        if price:
            hourly = price / HOURS_PER_MONTH if months else price
            yield Terms(option, months, "no_upfront" if months else "", hourly, _NOTHING)


def _shape(provider: str, name: str, row: Row, account: Account) -> MachineType | None:
    machine_type, outcome, detail = machine(provider, name)
    if machine_type is None:
        account.tell(row, outcome, detail)
    return machine_type


def _past(
    provider: str,
    row: Row,
    machine_type: MachineType,
    terms: Terms,
    dated: str,
    region: str,
    offered: bool = True,
) -> _Past:
    source = _SOURCES[row.file].format_map(row.values)
    told: Mapping[str, str] = {**row.values, "region": region, "source": source}
    full = Row(row.file, row.line, told)
    outcome, _ = standing(machine_type, terms, full, offered=offered, dated=dated)
    offer = offer_of(provider, full, machine_type, terms, row[dated])
    hourly = quantize(offer.price_per_hour)
    return _Past(row, replace(offer, price_per_hour=hourly, sold_now=outcome.is_sold))
