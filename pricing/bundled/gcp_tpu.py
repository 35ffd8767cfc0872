"""TPU price lists as slices: the unit of each row decides how many of it a slice takes. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from pricing.bundled.commit_days import find_commit_day
from pricing.bundled.draft import DraftOffer, append_note
from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.bundled.source import Row, parse_day, read_rows
from pricing.market import machine_types
from pricing.market.machine_types import TpuSlice
from pricing.market.offers import Offer, PurchaseOption

PRICES = "data/prices/gcp_tpu.csv"

_UNIT_UNCLEAR = "MIXED"
_WHOLE_SLICE = "whole slice"
_GENERATION = re.compile(r"v\d+[a-z]*")
_COLUMNS = {
    PurchaseOption.ON_DEMAND: "usd_per_hour_on_demand",
    PurchaseOption.SPOT: "usd_per_hour_spot",
}


def read_drafts(folder: Path, audit: RowAudit) -> Iterator[DraftOffer]:
    """Every TPU slice priced under `folder`; of two lists the later in the file is the older."""
    priced_slices: set[tuple[str, str]] = set()
    for row in map(audit.count_read, read_rows(folder, PRICES)):
        key = (row["region"], row["tpu"])
        if _UNIT_UNCLEAR in row["basis"]:
            audit.record(row, RowOutcome.UNIT_MIXED, f"{row['tpu']} {row['region']}")
        elif key in priced_slices:
            audit.record(row, RowOutcome.DUPLICATE, f"{row['tpu']} {row['region']}")
        else:
            priced_slices.add(key)
            yield from _read_row(row, audit)


def _read_row(row: Row, audit: RowAudit) -> Iterator[DraftOffer]:
    slices = list(_find_slices(row))
    if not slices:
        audit.record(row, RowOutcome.UNKNOWN_MACHINE, row["tpu"])
    for tpu_slice in slices:
        for option, column in _COLUMNS.items():
            price = row.amount(column)
            if price is not None:
                yield _build_draft(row, tpu_slice, option, price)


def _find_slices(row: Row) -> Iterator[TpuSlice]:
    """The slices that a row prices: itself, or every size of its generation by the chip."""
    generation = _GENERATION.match(row["tpu"])
    accelerator = f"google-tpu-{generation.group()}" if generation else ""
    is_whole_slice = _WHOLE_SLICE in row["basis"]
    for tpu_slice in machine_types.tpu_slices():
        if tpu_slice.name == row["tpu"] if is_whole_slice else tpu_slice.accelerator == accelerator:
            yield tpu_slice


def _build_draft(
    row: Row, tpu_slice: TpuSlice, option: PurchaseOption, price: Decimal
) -> DraftOffer:
    is_whole_slice = _WHOLE_SLICE in row["basis"]
    hourly = price if is_whole_slice else price * tpu_slice.chips
    note = "" if is_whole_slice else f"{tpu_slice.chips} chips x {price}"
    offer = Offer(
        provider="gcp",
        region=row["region"],
        instance_type=tpu_slice.name,
        accelerator=tpu_slice.accelerator,
        accelerator_count=Fraction(tpu_slice.chips),
        purchase_option=option,
        price_per_hour=hourly,
        vcpus=tpu_slice.vcpus,
        memory_gib=None if tpu_slice.memory_gib is None else float(tpu_slice.memory_gib),
        source=append_note(row["source"], note),
        as_of=parse_day(row["source_date"]) or find_commit_day(row["source"]),
    )
    if _is_offered(row["region"], tpu_slice):
        return DraftOffer(row, offer, RowOutcome.PUBLISHED)
    return DraftOffer(row, offer, RowOutcome.NOT_SOLD_THERE, f"{row['tpu']} {row['region']}")


def _is_offered(region: str, tpu_slice: TpuSlice) -> bool:
    if not tpu_slice.machine_types:
        return False
    listed_regions = machine_types.regions_by_machine_type().items()
    return any(
        region in regions
        for name, regions in listed_regions
        if name.startswith(tpu_slice.machine_types)
    )
