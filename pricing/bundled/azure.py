"""Azure price lists as offers: Linux only, Windows left out, reservations split. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pricing.bundled.draft import DraftOffer, build_offer, determine_outcome, split_upfront
from pricing.bundled.machine import find_machine_type
from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.bundled.source import Row, read_rows
from pricing.market.machine_types import MachineType
from pricing.market.offers import PurchaseOption

PRICES = "data/prices/azure.csv"

WINDOWS_LISTED_AS_LINUX = frozenset({"standard_ncc40ads_h100_v5"})
"""Machines whose Windows product name ends in " Win": the karpenter list, which filters
" Windows" alone, gives their Windows price as Linux (westeurope 10.74 against 8.90)."""
_KARPENTER = "karpenter-provider-azure"


def read_drafts(folder: Path, audit: RowAudit) -> Iterator[DraftOffer]:
    """Every Linux price of Azure under `folder`."""
    for row in map(audit.count_read, read_rows(folder, PRICES)):
        if row["operating_system"] == "windows":
            audit.record(row, RowOutcome.WINDOWS)
            continue
        machine_type, outcome, detail = find_machine_type("azure", row["instance_type"])
        if machine_type is None:
            audit.record(row, *_refine_outcome(row, outcome, detail))
        elif _is_windows_price(row, machine_type):
            price = f"{machine_type.instance_type} {row['region']} {row['usd_per_hour']}"
            audit.record(row, RowOutcome.SUSPICIOUS, f"Windows price listed as Linux: {price}")
        else:
            yield _build_draft(row, machine_type)


def _refine_outcome(row: Row, outcome: RowOutcome, detail: str) -> tuple[RowOutcome, str]:
    """A SKU name in place of a machine name: the priced machine cannot be determined."""
    if outcome is RowOutcome.UNKNOWN_MACHINE and not detail.startswith("Standard_"):
        return RowOutcome.SUSPICIOUS, f"SKU name, no machine: {detail} at {row['usd_per_hour']}"
    return outcome, detail


def _is_windows_price(row: Row, machine_type: MachineType) -> bool:
    is_listed = machine_type.instance_type.lower() in WINDOWS_LISTED_AS_LINUX
    return is_listed and _KARPENTER in row["source"]


def _build_draft(row: Row, machine_type: MachineType) -> DraftOffer:
    # usd_per_hour of a reservation is hourly, with the upfront of the whole term in it.
    terms = split_upfront(
        PurchaseOption(row["purchase_option"]),
        int(row["term_months"] or 0),
        row["payment_option"],
        row.price("usd_per_hour"),
        row.amount("upfront_usd"),
    )
    outcome, detail = determine_outcome(machine_type, terms, row, is_offered=True)
    return DraftOffer(
        row, build_offer("azure", row, machine_type, terms, row["as_of"]), outcome, detail
    )
