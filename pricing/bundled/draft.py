"""An offer on its way into the catalog, with the row it came from. PURE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from pricing.bundled.commit_days import find_commit_day
from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.bundled.source import Row, parse_day
from pricing.market.machine_types import MachineType
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption

LAST_OLD_YEAR = 2020
"""Prices of this year and before are last known prices, whatever the machine."""
MAX_SOURCE_CHARS = 480


@dataclass(frozen=True)
class DraftOffer:
    """What a row says, and whether a plan may propose it."""

    row: Row
    offer: Offer
    outcome: RowOutcome
    detail: str = ""


@dataclass(frozen=True)
class Terms:
    """How a row sells: option, term and payment, with the price split into its two parts."""

    option: PurchaseOption
    term_months: int
    payment_option: str
    price_per_hour: Decimal
    upfront: Decimal
    upfront_unknown: bool = False


def split_upfront(
    option: PurchaseOption,
    term_months: int,
    payment_option: str,
    effective_price: Decimal,
    upfront: Decimal | None,
) -> Terms:
    """Recurring price and upfront from an effective hourly rate that has both in it.

    All upfront: nothing recurs and U = effective · 730 · term, or the U that the source gives.
    Partial upfront without U: the effective rate is all that is known, so it becomes the
    recurring price of an offer that is shown and not proposed.

    >>> split_upfront(PurchaseOption.RESERVED, 12, "all_upfront", Decimal("1.949"), None).upfront
    Decimal('17073.240')
    """
    if payment_option == "all_upfront":
        upfront_due = (
            upfront if upfront is not None else effective_price * HOURS_PER_MONTH * term_months
        )
        return Terms(option, term_months, payment_option, Decimal(0), upfront_due)
    unknown = payment_option == "partial_upfront" and upfront is None
    return Terms(
        option, term_months, payment_option, effective_price, upfront or Decimal(0), unknown
    )


def determine_outcome(
    machine_type: MachineType,
    terms: Terms,
    row: Row,
    *,
    is_offered: bool,
    date_column: str = "as_of",
) -> tuple[RowOutcome, str]:
    """Whether a priced machine may be proposed, and if not why: the strongest reason counts."""
    price_date = parse_day(row[date_column])
    if machine_type.retired_on is not None:
        return RowOutcome.RETIRED, machine_type.instance_type
    if price_date is not None and price_date.year <= LAST_OLD_YEAR:
        return RowOutcome.OLD, f"{machine_type.instance_type} {price_date.year}"
    if not is_offered:
        return RowOutcome.NOT_SOLD_THERE, f"{machine_type.instance_type} {row['region']}"
    if terms.option.value in machine_type.not_sold_as:
        return RowOutcome.NOT_SOLD_SO, f"{machine_type.instance_type} {terms.option.value}"
    if terms.upfront_unknown:
        return RowOutcome.UPFRONT_UNKNOWN, machine_type.instance_type
    return RowOutcome.PUBLISHED, ""


def build_offer(
    provider: str,
    row: Row,
    machine_type: MachineType,
    terms: Terms,
    date_text: str,
    note: str = "",
    *,
    zone: str = "",
    currency: str = "USD",
) -> Offer:
    """The offer of a whole machine, whose type must have an accelerator count."""
    if machine_type.accelerator_count is None:
        raise ValueError(f"{machine_type.instance_type}: accelerator count unknown")
    return Offer(
        provider=provider,
        region=row["region"].lower(),
        instance_type=machine_type.instance_type,
        accelerator=machine_type.accelerator,
        accelerator_count=machine_type.accelerator_count,
        purchase_option=terms.option,
        price_per_hour=terms.price_per_hour,
        upfront=terms.upfront,
        currency=currency,
        zone=zone,
        term_months=terms.term_months,
        payment_option=terms.payment_option,
        vcpus=machine_type.vcpus,
        memory_gib=None if machine_type.memory_gib is None else float(machine_type.memory_gib),
        network_gbps=machine_type.network_gbps,
        source=append_note(row["source"], note),
        as_of=parse_day(date_text) or find_commit_day(row["source"]),
    )


def append_note(source: str, note: str) -> str:
    """The source of a price with what was done to it."""
    text = f"{source} ({note})" if note else source
    return text[:MAX_SOURCE_CHARS]


def mark_sold_now(draft: DraftOffer) -> DraftOffer:
    """The draft with its offer marked: one that a plan may propose, or why it may not."""
    sold = draft.outcome.is_sold
    source = append_note(draft.offer.source, "" if sold else draft.outcome.value)
    return replace(draft, offer=replace(draft.offer, sold_now=sold, source=source))


def record_outcomes(drafts: Iterable[DraftOffer], audit: RowAudit) -> None:
    """Record the outcome of the rows of drafts."""
    for draft in drafts:
        audit.record(draft.row, draft.outcome, draft.detail)
