"""Azure price lists as offers: Linux only, Windows told apart, reservations split. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pricing.bundled.draft import Draft, offer_of, split, standing
from pricing.bundled.machine import machine
from pricing.bundled.row_audit import Account, Outcome
from pricing.bundled.source import Row, read
from pricing.market.machine_types import MachineType
from pricing.market.offers import PurchaseOption

PRICES = "data/prices/azure.csv"

WINDOWS_LISTED_AS_LINUX = frozenset({"standard_ncc40ads_h100_v5"})
"""Machines whose Windows product name ends in " Win": the karpenter list, which filters
" Windows" alone, gives their Windows price as Linux (westeurope 10.74 against 8.90)."""
_KARPENTER = "karpenter-provider-azure"


def drafts(folder: Path, account: Account) -> Iterator[Draft]:
    """Every Linux price of Azure under `folder`."""
    for row in map(account.enter, read(folder, PRICES)):
        if row["operating_system"] == "windows":
            account.tell(row, Outcome.WINDOWS)
            continue
        machine_type, outcome, detail = machine("azure", row["instance_type"])
        if machine_type is None:
            account.tell(row, *_without_machine(row, outcome, detail))
        elif _is_windows_price(row, machine_type):
            price = f"{machine_type.instance_type} {row['region']} {row['usd_per_hour']}"
            account.tell(row, Outcome.SUSPICIOUS, f"Windows price listed as Linux: {price}")
        else:
            yield _draft(row, machine_type)


def _without_machine(row: Row, outcome: Outcome, detail: str) -> tuple[Outcome, str]:
    """A SKU name in place of a machine name: which machine is priced cannot be told."""
    if outcome is Outcome.UNKNOWN_MACHINE and not detail.startswith("Standard_"):
        return Outcome.SUSPICIOUS, f"SKU name, no machine: {detail} at {row['usd_per_hour']}"
    return outcome, detail


def _is_windows_price(row: Row, machine_type: MachineType) -> bool:
    listed = machine_type.instance_type.lower() in WINDOWS_LISTED_AS_LINUX
    return listed and _KARPENTER in row["source"]


def _draft(row: Row, machine_type: MachineType) -> Draft:
    # usd_per_hour of a reservation is hourly, with the upfront of the whole term in it.
    terms = split(
        PurchaseOption(row["purchase_option"]),
        int(row["term_months"] or 0),
        row["payment_option"],
        row.price("usd_per_hour"),
        row.amount("upfront_usd"),
    )
    outcome, detail = standing(machine_type, terms, row, offered=True)
    return Draft(row, offer_of("azure", row, machine_type, terms, row["as_of"]), outcome, detail)
