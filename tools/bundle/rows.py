"""Rows of the price lists that a catalog is built from. PURE."""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path

from pricing.common.invalid_input import InvalidInput
from pricing.market import machine_types
from pricing.market.machine_types import MachineType
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption


@dataclass(frozen=True)
class Row:
    """One line of one file; `row["usd_per_hour"]` is its text, "" where it is absent."""

    file: str
    line: int
    values: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        try:
            return self.values[column].strip()
        except KeyError:
            raise InvalidInput(self.location, f"has no column {column!r}") from None

    @property
    def location(self) -> str:
        """Where it is, for people."""
        return f"{self.file} line {self.line}"

    def amount(self, column: str) -> Decimal | None:
        """Money of a column; None where it is absent. `InvalidInput` for what is no number."""
        text = self[column]
        if not text:
            return None
        try:
            amount = Decimal(text)
        except InvalidOperation:
            raise InvalidInput(self.location, f"{column} {text!r} is not a number") from None
        if not amount.is_finite():
            raise InvalidInput(self.location, f"{column} {text!r} is not a number")
        return amount

    def price(self, column: str) -> Decimal:
        """Money that must be there: `InvalidInput` where it is absent."""
        amount = self.amount(column)
        if amount is None:
            raise InvalidInput(self.location, f"{column} is empty; every price row needs it")
        return amount


def read_rows(folder: Path, file: str) -> Iterator[Row]:
    """Rows of a CSV file under `folder`; `InvalidInput` names a file that is not there."""
    path = folder / file
    if not path.is_file():
        raise InvalidInput("source", f"{path} is missing; it is one of the required price lists")
    with path.open(newline="", encoding="utf-8") as lines:
        for line, values in enumerate(csv.DictReader(lines), start=2):
            yield Row(file, line, {k: v or "" for k, v in values.items() if k})


def parse_day(text: str) -> dt.date | None:
    """A day, the first of a month, or None where the source carries no date.

    >>> parse_day("2026-02"), parse_day("2026-08-20"), parse_day("undated (v8 series)")
    (datetime.date(2026, 2, 1), datetime.date(2026, 8, 20), None)
    """
    for form in (text[:10], f"{text}-01"):
        try:
            return dt.date.fromisoformat(form)
        except ValueError:
            continue
    return None


EXAMPLES = 5
"""Details kept for each outcome of a file; the counts are always whole."""


class RowOutcome(StrEnum):
    """Where a row went. The order is precedence: the first is the best that can be said."""

    PUBLISHED = "published"
    NOT_SOLD_THERE = "not sold there"
    NOT_SOLD_SO = "not sold under this option"
    UPFRONT_UNKNOWN = "upfront unknown: shown, not proposed"
    SUPERSEDED = "superseded: last known price"
    OLD = "old price: last known"
    RETIRED = "retired: last known price"
    HISTORY = "history"
    HOST_PRICE = "host price used"
    INTERRUPTIONS = "interruption band, no price"
    REGION = "region"
    EXCHANGE_RATE = "exchange rate"
    STORAGE_PRICE = "storage or egress price"
    UNCHANGED = "unchanged since the row before"
    OLDER = "an older price of the same offer: history"
    DUPLICATE = "duplicate"
    WINDOWS = "windows"
    DEDICATED_HOST = "dedicated host"
    HOST_UNKNOWN = "host price unknown"
    HOST_UNUSED = "host that carries no accelerator here"
    NO_ACCELERATOR = "no deep-learning accelerator"
    UNKNOWN_MACHINE = "unknown machine"
    UNKNOWN_ACCELERATOR = "unknown accelerator"
    FRACTION_UNKNOWN = "fraction of the accelerator unknown"
    SUSPICIOUS = "price suspicious"
    UNIT_MIXED = "unit unclear in the source"
    NOT_NEEDED = "another service"

    @property
    def is_sold(self) -> bool:
        """Whether a plan may propose the offer."""
        return self is RowOutcome.PUBLISHED

    @property
    def in_catalog(self) -> bool:
        """Whether the price is in the catalog, to be shown at least."""
        return self in _IN_CATALOG


_IN_CATALOG = frozenset(
    {
        RowOutcome.PUBLISHED,
        RowOutcome.NOT_SOLD_THERE,
        RowOutcome.NOT_SOLD_SO,
        RowOutcome.UPFRONT_UNKNOWN,
        RowOutcome.SUPERSEDED,
        RowOutcome.OLD,
        RowOutcome.RETIRED,
    }
)
_RANK = {outcome: rank for rank, outcome in enumerate(RowOutcome)}


@dataclass
class RowAudit:
    """Outcomes by row; a row recorded twice keeps the better outcome."""

    outcomes: dict[tuple[str, int], RowOutcome] = field(default_factory=dict)
    details: dict[tuple[str, int], str] = field(default_factory=dict)
    rows_read: Counter[str] = field(default_factory=Counter)
    """Rows read of each file, to be balanced against the outcomes."""

    def count_read(self, row: Row) -> Row:
        """Count a row as read."""
        self.rows_read[row.file] += 1
        return row

    def record(self, row: Row, outcome: RowOutcome, detail: str = "") -> None:
        """Say what became of a row."""
        key = (row.file, row.line)
        if key not in self.outcomes or _RANK[outcome] < _RANK[self.outcomes[key]]:
            self.outcomes[key] = outcome
            self.details[key] = detail

    def check_complete(self) -> None:
        """Raise `ValueError` unless every row read has one outcome and no other has."""
        recorded = Counter(file for file, _ in self.outcomes)
        if recorded != self.rows_read:
            read_and_recorded = {
                f: (self.rows_read[f], recorded[f]) for f in {*recorded, *self.rows_read}
            }
            mismatched = {f: pair for f, pair in read_and_recorded.items() if pair[0] != pair[1]}
            raise ValueError(f"rows read and rows recorded differ: {mismatched}")

    def report(self) -> dict[str, dict[str, object]]:
        """file → rows, and for each outcome its count and its most frequent details."""
        return {file: self._report_file(file) for file in sorted(self.rows_read)}

    def totals(self) -> dict[str, int]:
        """outcome → rows over all files."""
        return dict(Counter(outcome.value for outcome in self.outcomes.values()).most_common())

    def _report_file(self, file: str) -> dict[str, object]:
        details_by_outcome: dict[RowOutcome, Counter[str]] = defaultdict(Counter)
        for (name, line), outcome in self.outcomes.items():
            if name == file:
                details_by_outcome[outcome][self.details[name, line]] += 1
        outcomes = {
            outcome.value: {
                "count": details.total(),
                "examples": {t: n for t, n in details.most_common(EXAMPLES) if t},
            }
            for outcome, details in sorted(
                details_by_outcome.items(), key=lambda item: _RANK[item[0]]
            )
        }
        return {"rows": self.rows_read[file], "outcomes": outcomes}


_DEDICATED_HOST = re.compile(r"_Type\d+$")


def find_machine_type(provider: str, name: str) -> tuple[MachineType | None, RowOutcome, str]:
    """The machine type, or None with the outcome and its detail.

    >>> find_machine_type("azure", "Standard_NP10s")[1:]
    (<RowOutcome.NO_ACCELERATOR: 'no deep-learning accelerator'>, 'Standard_NP10s')
    """
    machine_type = machine_types.find(provider, name)
    if machine_type is None:
        dedicated = _DEDICATED_HOST.search(name)
        return None, RowOutcome.DEDICATED_HOST if dedicated else RowOutcome.UNKNOWN_MACHINE, name
    if not machine_type.accelerator:
        return None, RowOutcome.NO_ACCELERATOR, name
    if machine_type.accelerator_count is None:
        return None, RowOutcome.FRACTION_UNKNOWN, name
    return machine_type, RowOutcome.PUBLISHED, ""


def recognize(provider: str, name: str, row: Row, audit: RowAudit) -> MachineType | None:
    """The machine type; None after recording why the row has none."""
    machine_type, outcome, detail = find_machine_type(provider, name)
    if machine_type is None:
        audit.record(row, outcome, detail)
    return machine_type


COMMIT_DAYS: Mapping[str, dt.date] = {
    # Spot prices of L4 in 18 regions: all 18 are those of Cyclenerd's list of 2026-03-05 (2 x
    # g2-standard-4 less g2-standard-8), 7 those of 2026-02-05 and 8 those of 2026-04-02.
    "skypilot-org/skypilot-catalog@006059e": dt.date(2026, 3, 5),
}
"""Repository and commit, as a source begins → day on which its undated prices were in force."""
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
        as_of=find_day(date_text, row["source"]),
    )


def find_day(text: str, source: str) -> dt.date | None:
    """The day that a row gives, or that of the commit its list comes from.

    >>> find_day("", "skypilot-org/skypilot-catalog@006059e catalogs/v8/gcp/vms.csv")
    datetime.date(2026, 3, 5)
    """
    return parse_day(text) or COMMIT_DAYS.get(source.partition(" ")[0])


def build_draft(
    provider: str,
    row: Row,
    machine_type: MachineType,
    terms: Terms,
    *,
    is_offered: bool = True,
    date_column: str = "as_of",
    **details: str,
) -> DraftOffer:
    """The offer of a row with its outcome; `details` as `build_offer` takes them."""
    outcome, detail = determine_outcome(
        machine_type, terms, row, is_offered=is_offered, date_column=date_column
    )
    offer = build_offer(provider, row, machine_type, terms, row[date_column], **details)
    return DraftOffer(row, offer, outcome, detail)


def append_note(source: str, note: str) -> str:
    """The source of a price with what was done to it."""
    text = f"{source} ({note})" if note else source
    return text[:MAX_SOURCE_CHARS]


def mark_sold_now(draft: DraftOffer) -> DraftOffer:
    """The draft with its offer marked: one that a plan may propose, or why it may not."""
    sold = draft.outcome.is_sold
    source = append_note(draft.offer.source, "" if sold else draft.outcome.value)
    return replace(draft, offer=replace(draft.offer, sold_now=sold, source=source))
