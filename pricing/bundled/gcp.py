"""GCP price lists as offers: whole machines, and accelerators attached to a host. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from pricing.bundled.draft import DraftOffer, Terms, build_offer, determine_outcome, split_upfront
from pricing.bundled.machine import find_machine_type
from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.bundled.source import Row, parse_day, read_rows
from pricing.market import machine_types
from pricing.market.machine_types import AttachedMachineType
from pricing.market.offers import PurchaseOption

PRICES = "data/prices/gcp.csv"
HOSTS = "data/prices/gcp_hosts_n1.csv"
AVAILABILITY = "data/specs/gcp_machine_type_region_availability.csv"

HOST_SERIES = "n1-standard-"
"""Hosts that attached accelerators are listed with; live prices add the other N1 series."""
SLICES = {"nvidia-b200": "a4-highgpu-8g"}
"""Accelerators whose price is their share of the whole machine: A4 has no SKUs for cores and
memory."""

HostKey = tuple[str, str, str, str]
"""host, region, purchase option, term."""


@dataclass(frozen=True)
class ReferenceLists:
    """What the other lists say: where machines are offered, what hosts cost."""

    listed: Mapping[tuple[str, str], bool]
    """(region, machine) → whether a second list has it there."""
    hosts: Mapping[HostKey, Row]

    @classmethod
    def from_folder(cls, folder: Path, audit: RowAudit) -> ReferenceLists:
        columns = "listed_in_karpenter_2026-08-03"
        rows = read_rows(folder, AVAILABILITY)
        listed = {(r["region"], r["machine_type"]): r[columns] == "yes" for r in rows}
        hosts = {}
        for row in map(audit.count_read, read_rows(folder, HOSTS)):
            audit.record(row, RowOutcome.HOST_UNUSED, row["instance_type"])
            key = (row["instance_type"], row["region"], row["purchase_option"], row["term_months"])
            hosts[key] = row
        return cls(listed, hosts)

    def offers(self, region: str, name: str) -> bool:
        """Whether a machine, or an attachable accelerator, can be had in a region."""
        is_listed = self.listed.get((region, name))
        return (
            region in machine_types.regions_by_machine_type().get(name, frozenset())
            if is_listed is None
            else is_listed
        )


def read_drafts(folder: Path, audit: RowAudit, lists: ReferenceLists) -> Iterator[DraftOffer]:
    """Every GCP machine price under `folder`; TPU slices are in `gcp_tpu`."""
    for row in map(audit.count_read, read_rows(folder, PRICES)):
        if row["per"] == "accelerator":
            yield from _read_accelerator(row, lists, audit)
        else:
            yield from _read_machine(row, row["instance_type"], Decimal(1), lists, audit)


def _read_machine(
    row: Row, name: str, multiplier: Decimal, lists: ReferenceLists, audit: RowAudit
) -> Iterator[DraftOffer]:
    machine_type, outcome, detail = find_machine_type("gcp", name)
    if machine_type is None:
        audit.record(row, outcome, detail)
        return
    is_offered = lists.offers(row["region"], machine_type.instance_type)
    terms = _parse_terms(row, row.price("usd_per_hour") * multiplier)
    note = "" if multiplier == 1 else f"{multiplier} x the price of one accelerator's share"
    outcome, detail = determine_outcome(machine_type, terms, row, is_offered=is_offered)
    yield DraftOffer(
        row, build_offer("gcp", row, machine_type, terms, row["as_of"], note), outcome, detail
    )


def _read_accelerator(row: Row, lists: ReferenceLists, audit: RowAudit) -> Iterator[DraftOffer]:
    """An accelerator alone: its host comes on top, or the price stays out."""
    name = row["instance_type"]
    if name in SLICES:
        machine_type = machine_types.find("gcp", SLICES[name])
        count = None if machine_type is None else machine_type.accelerator_count
        yield from _read_machine(row, SLICES[name], Decimal(int(count or 0)), lists, audit)
        return
    attached_types = [
        s for s in machine_types.attached_machine_types() if s.accelerator_type == name
    ]
    supported_types = [s for s in attached_types if s.host.startswith(HOST_SERIES)]
    attached_drafts = [
        draft
        for machine_type in supported_types
        for draft in _build_attached(row, machine_type, lists, audit)
    ]
    if not attached_drafts:
        audit.record(row, RowOutcome.HOST_UNKNOWN, f"{name} {row['region']}")
    yield from attached_drafts


def _build_attached(
    row: Row, machine_type: AttachedMachineType, lists: ReferenceLists, audit: RowAudit
) -> Iterator[DraftOffer]:
    """price = host + count · accelerator, dated by the older of the two."""
    key = (machine_type.host, row["region"], row["purchase_option"], row["term_months"])
    host = lists.hosts.get(key)
    if host is None or machine_type.accelerator_count is None:
        return
    audit.record(host, RowOutcome.HOST_PRICE, machine_type.host)
    count = Decimal(int(machine_type.accelerator_count))
    terms = _parse_terms(row, host.price("usd_per_hour") + count * row.price("usd_per_hour"))
    is_offered = lists.offers(row["region"], machine_type.accelerator_type)
    outcome, detail = determine_outcome(machine_type, terms, row, is_offered=is_offered)
    note = f"{machine_type.host} {host['usd_per_hour']} + {count} x {row['usd_per_hour']}"
    offer = build_offer("gcp", row, machine_type, terms, row["as_of"], note)
    older_date = min(filter(None, (offer.as_of, parse_day(host["as_of"]))), default=None)
    dated_offer = replace(offer, as_of=older_date if offer.as_of else None)
    yield DraftOffer(row, dated_offer, outcome, detail)


def _parse_terms(row: Row, price: Decimal) -> Terms:
    months = int(row["term_months"] or 0)
    option = PurchaseOption(row["purchase_option"])
    return split_upfront(option, months, row["payment_option"], price, None)
