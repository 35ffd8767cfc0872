"""AWS price lists as offers: commercial regions, spot by zone, China in its own currency. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from pricing.bundled.draft import DraftOffer, Terms, build_offer, determine_outcome, split_upfront
from pricing.bundled.machine import find_machine_type
from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.bundled.source import Row, read_rows
from pricing.market.machine_types import MachineType
from pricing.market.offers import PurchaseOption

PRICES = "data/prices/aws.csv"
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


def read_drafts(folder: Path, audit: RowAudit) -> Iterator[DraftOffer]:
    """Every AWS price under `folder`."""
    offerings = Offerings.from_folder(folder)
    zones = list(map(audit.count_read, read_rows(folder, ZONES)))
    priced_by_zone = {(row["region"], row["instance_type"]) for row in zones}
    for row in map(audit.count_read, read_rows(folder, PRICES)):
        option = PurchaseOption(row["purchase_option"])
        key = (row["region"], row["instance_type"])
        if option is PurchaseOption.SPOT and key in priced_by_zone:
            audit.record(row, RowOutcome.DUPLICATE, "least price of the zones, which are listed")
        elif machine_type := _find_machine_type(row, audit):
            yield _build_draft(row, machine_type, _parse_terms(row, option), offerings)
    for row in zones:
        if machine_type := _find_machine_type(row, audit):
            yield _build_zone_draft(row, machine_type, offerings)
    for row in map(audit.count_read, read_rows(folder, CHINA)):
        if machine_type := _find_machine_type(row, audit):
            yield _build_china_draft(row, machine_type)


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


def _find_machine_type(row: Row, audit: RowAudit) -> MachineType | None:
    machine_type, outcome, detail = find_machine_type("aws", row["instance_type"])
    if machine_type is None:
        audit.record(row, outcome, detail)
    return machine_type


def _parse_terms(row: Row, option: PurchaseOption) -> Terms:
    # usd_per_hour is the effective rate: the upfront of 2017 rows is spread into it already.
    months, payment = int(row["term_months"] or 0), row["payment_option"]
    return split_upfront(
        option, months, payment, row.price("usd_per_hour"), row.amount("upfront_usd")
    )


def _build_draft(
    row: Row, machine_type: MachineType, terms: Terms, offerings: Offerings
) -> DraftOffer:
    is_offered = offerings.offers(row["region"], machine_type.instance_type)
    outcome, detail = determine_outcome(machine_type, terms, row, is_offered=is_offered)
    if SUPERSEDED_BLOCKS in row["source"] and outcome.is_sold:
        outcome, detail = RowOutcome.SUPERSEDED, f"{machine_type.instance_type} {row['as_of']}"
    note = UPFRONT_SPREAD if terms.upfront_unknown else ""
    return DraftOffer(
        row, build_offer("aws", row, machine_type, terms, row["as_of"], note), outcome, detail
    )


def _build_zone_draft(row: Row, machine_type: MachineType, offerings: Offerings) -> DraftOffer:
    terms = Terms(PurchaseOption.SPOT, 0, "", row.price("usd_per_hour"), Decimal(0))
    is_offered = offerings.offers(row["region"], machine_type.instance_type)
    outcome, detail = determine_outcome(
        machine_type, terms, row, is_offered=is_offered, date_column="source_date"
    )
    zone = row["availability_zone_id"]
    offer = build_offer("aws", row, machine_type, terms, row["source_date"], zone=zone)
    return DraftOffer(row, offer, outcome, detail)


def _build_china_draft(row: Row, machine_type: MachineType) -> DraftOffer:
    terms = _parse_china_terms(row)
    outcome, detail = determine_outcome(
        machine_type, terms, row, is_offered=True, date_column="source_date"
    )
    note = UPFRONT_SPREAD if terms.upfront_unknown else UPFRONT_DERIVED if terms.upfront else ""
    offer = build_offer("aws", row, machine_type, terms, row["source_date"], note, currency="CNY")
    return DraftOffer(row, offer, outcome, detail)


def _parse_china_terms(row: Row) -> Terms:
    """`yrTerm1Savings.allUpfront`: option and term before the dot, payment after it."""
    model = row["price_model"]
    effective = row.price("cny_per_hour")
    if model == "on_demand":
        return Terms(PurchaseOption.ON_DEMAND, 0, "", effective, Decimal(0))
    kind, _, payment = model.removeprefix("yrTerm").partition(".")
    months = 12 * int(kind[0])
    # Absent from the source: 0 there stands for "not given" under any payment but none.
    upfront = row.amount("upfront_cny") or None
    return split_upfront(_CHINA_OPTIONS[kind[1:]], months, _PAYMENTS[payment], effective, upfront)
