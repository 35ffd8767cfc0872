"""What became of every input row: each has exactly one outcome, and none is lost. PURE."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum

from pricing.bundled.source import Row

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
