"""Price lists of AWS (China in its own currency), Azure and GCP as offers. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from pricing.market import machine_types
from pricing.market.machine_types import AttachedMachineType, MachineType, TpuSlice
from pricing.market.offers import Offer, PurchaseOption
from tools.bundle.rows import (
    DraftOffer,
    Row,
    RowAudit,
    RowOutcome,
    Terms,
    append_note,
    build_draft,
    find_day,
    find_machine_type,
    parse_day,
    read_rows,
    recognize,
    split_upfront,
)

AWS_PRICES = "data/prices/aws.csv"
ZONES = "data/prices/aws_spot_by_az.csv"
CHINA = "data/prices/aws_prices_china_cny.csv"
OFFERINGS = "data/specs/aws_instance_offerings.csv"

UPFRONT_SPREAD = "effective hourly rate with the unknown upfront part in it"
UPFRONT_DERIVED = "upfront = effective hourly rate x 730 h x term"
SUPERSEDED_BLOCKS = "rates scheduled to update"
"""A Capacity Block price whose source says that it ends on 2025-01-01."""
_CHINA_OPTIONS = {
    "Standard": PurchaseOption.RESERVED,
    "Convertible": PurchaseOption.RESERVED_CONVERTIBLE,
    "Savings": PurchaseOption.SAVINGS_PLAN,
}
_PAYMENTS = {
    "noUpfront": "no_upfront",
    "partialUpfront": "partial_upfront",
    "allUpfront": "all_upfront",
}

AZURE_PRICES = "data/prices/azure.csv"

WINDOWS_LISTED_AS_LINUX = frozenset({"standard_ncc40ads_h100_v5"})
"""Machines whose Windows product name ends in " Win": the karpenter list, which filters
" Windows" alone, gives their Windows price as Linux (westeurope 10.74 against 8.90)."""
_KARPENTER = "karpenter-provider-azure"

GCP_PRICES = "data/prices/gcp.csv"
HOSTS = "data/prices/gcp_hosts_n1.csv"
AVAILABILITY = "data/specs/gcp_machine_type_region_availability.csv"

HOST_SERIES = "n1-standard-"
"""Hosts that attached accelerators are listed with; live prices add the other N1 series."""
SLICES = {"nvidia-b200": "a4-highgpu-8g"}
"""Accelerators whose price is their share of the whole machine: A4 has no SKUs for cores and
memory."""

HostKey = tuple[str, str, str, str]
"""host, region, purchase option, term."""

GCP_TPU_PRICES = "data/prices/gcp_tpu.csv"

_UNIT_UNCLEAR = "MIXED"
_WHOLE_SLICE = "whole slice"
_GENERATION = re.compile(r"v\d+[a-z]*")
_COLUMNS = {
    PurchaseOption.ON_DEMAND: "usd_per_hour_on_demand",
    PurchaseOption.SPOT: "usd_per_hour_spot",
}


def read_aws(folder: Path, audit: RowAudit) -> Iterator[DraftOffer]:
    """Every AWS price under `folder`."""
    offerings = Offerings.from_folder(folder)
    zones = list(map(audit.count_read, read_rows(folder, ZONES)))
    priced_by_zone = {(row["region"], row["instance_type"]) for row in zones}
    for row in map(audit.count_read, read_rows(folder, AWS_PRICES)):
        key = (row["region"], row["instance_type"])
        if row["purchase_option"] == PurchaseOption.SPOT and key in priced_by_zone:
            audit.record(row, RowOutcome.DUPLICATE, "least price of the zones, which are listed")
        elif machine_type := recognize("aws", row["instance_type"], row, audit):
            yield _build_aws_draft(row, machine_type, _parse_terms(row), offerings)
    for row in zones:
        if machine_type := recognize("aws", row["instance_type"], row, audit):
            yield build_draft(
                "aws",
                row,
                machine_type,
                Terms(PurchaseOption.SPOT, 0, "", row.price("usd_per_hour"), Decimal(0)),
                is_offered=offerings.offers(row["region"], machine_type.instance_type),
                date_column="source_date",
                zone=row["availability_zone_id"],
            )
    for row in map(audit.count_read, read_rows(folder, CHINA)):
        if machine_type := recognize("aws", row["instance_type"], row, audit):
            terms = _parse_china_terms(row)
            unknown, upfront = terms.upfront_unknown, terms.upfront
            note = UPFRONT_SPREAD if unknown else UPFRONT_DERIVED if upfront else ""
            yield build_draft(
                "aws",
                row,
                machine_type,
                terms,
                date_column="source_date",
                note=note,
                currency="CNY",
            )


class Offerings:
    """Where AWS lists a machine; silent on regions and machines that its list leaves out."""

    def __init__(self, pairs: set[tuple[str, str]]) -> None:
        self.pairs = pairs
        self.regions = {region for region, _ in pairs}
        self.types = {name for _, name in pairs}

    @classmethod
    def from_folder(cls, folder: Path) -> Offerings:
        rows = read_rows(folder, OFFERINGS)
        return cls(
            {(r["location"], r["instance_type"]) for r in rows if r["location_type"] == "region"}
        )

    def offers(self, region: str, instance_type: str) -> bool:
        """False only where the list covers both and does not pair them."""
        covered = region in self.regions and instance_type in self.types
        return not covered or (region, instance_type) in self.pairs


def _build_aws_draft(
    row: Row, machine_type: MachineType, terms: Terms, offerings: Offerings
) -> DraftOffer:
    is_offered = offerings.offers(row["region"], machine_type.instance_type)
    note = UPFRONT_SPREAD if terms.upfront_unknown else ""
    draft = build_draft("aws", row, machine_type, terms, is_offered=is_offered, note=note)
    if SUPERSEDED_BLOCKS in row["source"] and draft.outcome.is_sold:
        detail = f"{machine_type.instance_type} {row['as_of']}"
        return replace(draft, outcome=RowOutcome.SUPERSEDED, detail=detail)
    return draft


def _parse_terms(row: Row) -> Terms:
    # usd_per_hour is the effective rate: an upfront part is spread over the term into it already.
    return split_upfront(
        PurchaseOption(row["purchase_option"]),
        int(row["term_months"] or 0),
        row["payment_option"],
        row.price("usd_per_hour"),
        row.amount("upfront_usd"),
    )


def _parse_china_terms(row: Row) -> Terms:
    model = row["price_model"]
    effective = row.price("cny_per_hour")
    if model == "on_demand":
        return Terms(PurchaseOption.ON_DEMAND, 0, "", effective, Decimal(0))
    kind, _, payment = model.removeprefix("yrTerm").partition(".")
    months = 12 * int(kind[0])
    # Absent from the source: 0 there stands for "not given" under any payment but none.
    upfront = row.amount("upfront_cny") or None
    return split_upfront(_CHINA_OPTIONS[kind[1:]], months, _PAYMENTS[payment], effective, upfront)


def read_azure(folder: Path, audit: RowAudit) -> Iterator[DraftOffer]:
    """Every Linux price of Azure under `folder`."""
    for row in map(audit.count_read, read_rows(folder, AZURE_PRICES)):
        if row["operating_system"] == "windows":
            audit.record(row, RowOutcome.WINDOWS)
            continue
        machine_type, outcome, detail = find_machine_type("azure", row["instance_type"])
        if machine_type is None:
            if outcome is RowOutcome.UNKNOWN_MACHINE and not detail.startswith("Standard_"):
                # A SKU name in place of a machine name: the priced machine cannot be determined.
                detail = f"SKU name, no machine: {detail} at {row['usd_per_hour']}"
                outcome = RowOutcome.SUSPICIOUS
            audit.record(row, outcome, detail)
        elif _is_windows_price(row, machine_type):
            price = f"{machine_type.instance_type} {row['region']} {row['usd_per_hour']}"
            audit.record(row, RowOutcome.SUSPICIOUS, f"Windows price listed as Linux: {price}")
        else:
            yield build_draft("azure", row, machine_type, _parse_terms(row))


def _is_windows_price(row: Row, machine_type: MachineType) -> bool:
    is_listed = machine_type.instance_type.lower() in WINDOWS_LISTED_AS_LINUX
    return is_listed and _KARPENTER in row["source"]


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


def read_gcp(folder: Path, audit: RowAudit, lists: ReferenceLists) -> Iterator[DraftOffer]:
    """Every GCP machine price under `folder`; TPU slices are read by `read_tpu`."""
    for row in map(audit.count_read, read_rows(folder, GCP_PRICES)):
        if row["per"] == "accelerator":
            yield from _read_accelerator(row, lists, audit)
        else:
            yield from _read_machine(row, row["instance_type"], Decimal(1), lists, audit)


def _read_machine(
    row: Row, name: str, multiplier: Decimal, lists: ReferenceLists, audit: RowAudit
) -> Iterator[DraftOffer]:
    machine_type = recognize("gcp", name, row, audit)
    if machine_type is None:
        return
    is_offered = lists.offers(row["region"], machine_type.instance_type)
    terms = _parse_gcp_terms(row, row.price("usd_per_hour") * multiplier)
    note = "" if multiplier == 1 else f"{multiplier} x the price of one accelerator's share"
    yield build_draft("gcp", row, machine_type, terms, is_offered=is_offered, note=note)


def _read_accelerator(row: Row, lists: ReferenceLists, audit: RowAudit) -> Iterator[DraftOffer]:
    name = row["instance_type"]
    if name in SLICES:
        machine_type = machine_types.find("gcp", SLICES[name])
        count = None if machine_type is None else machine_type.accelerator_count
        yield from _read_machine(row, SLICES[name], Decimal(int(count or 0)), lists, audit)
        return
    attached_drafts = [
        draft
        for machine_type in machine_types.attached_machine_types()
        if machine_type.accelerator_type == name and machine_type.host.startswith(HOST_SERIES)
        for draft in _build_attached(row, machine_type, lists, audit)
    ]
    if not attached_drafts:
        audit.record(row, RowOutcome.HOST_UNKNOWN, f"{name} {row['region']}")
    yield from attached_drafts


def _build_attached(
    row: Row, machine_type: AttachedMachineType, lists: ReferenceLists, audit: RowAudit
) -> Iterator[DraftOffer]:
    key = (machine_type.host, row["region"], row["purchase_option"], row["term_months"])
    host = lists.hosts.get(key)
    if host is None or machine_type.accelerator_count is None:
        return
    audit.record(host, RowOutcome.HOST_PRICE, machine_type.host)
    count = Decimal(int(machine_type.accelerator_count))
    terms = _parse_gcp_terms(row, host.price("usd_per_hour") + count * row.price("usd_per_hour"))
    is_offered = lists.offers(row["region"], machine_type.accelerator_type)
    note = f"{machine_type.host} {host['usd_per_hour']} + {count} x {row['usd_per_hour']}"
    draft = build_draft("gcp", row, machine_type, terms, is_offered=is_offered, note=note)
    older_date = min(filter(None, (draft.offer.as_of, parse_day(host["as_of"]))), default=None)
    dated_offer = replace(draft.offer, as_of=older_date if draft.offer.as_of else None)
    yield replace(draft, offer=dated_offer)


def _parse_gcp_terms(row: Row, price: Decimal) -> Terms:
    months = int(row["term_months"] or 0)
    option = PurchaseOption(row["purchase_option"])
    return split_upfront(option, months, row["payment_option"], price, None)


def read_tpu(folder: Path, audit: RowAudit) -> Iterator[DraftOffer]:
    """Every TPU slice priced under `folder`; of two lists the later in the file is the older."""
    priced_slices: set[tuple[str, str]] = set()
    for row in map(audit.count_read, read_rows(folder, GCP_TPU_PRICES)):
        key = (row["region"], row["tpu"])
        if _UNIT_UNCLEAR in row["basis"]:
            audit.record(row, RowOutcome.UNIT_MIXED, f"{row['tpu']} {row['region']}")
        elif key in priced_slices:
            audit.record(row, RowOutcome.DUPLICATE, f"{row['tpu']} {row['region']}")
        else:
            priced_slices.add(key)
            slices = list(_find_slices(row))
            if not slices:
                audit.record(row, RowOutcome.UNKNOWN_MACHINE, row["tpu"])
            for tpu_slice in slices:
                for option, column in _COLUMNS.items():
                    price = row.amount(column)
                    if price is not None:
                        yield _build_tpu_draft(row, tpu_slice, option, price)


def _find_slices(row: Row) -> Iterator[TpuSlice]:
    generation = _GENERATION.match(row["tpu"])
    accelerator = f"google-tpu-{generation.group()}" if generation else ""
    is_whole_slice = _WHOLE_SLICE in row["basis"]
    for tpu_slice in machine_types.tpu_slices():
        if tpu_slice.name == row["tpu"] if is_whole_slice else tpu_slice.accelerator == accelerator:
            yield tpu_slice


def _build_tpu_draft(
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
        as_of=find_day(row["source_date"], row["source"]),
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
