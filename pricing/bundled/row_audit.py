"""What became of every input row: each has exactly one outcome, and none is lost. PURE."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum

from pricing.bundled.source import Row

EXAMPLES = 5
"""Details kept for each outcome of a file; the counts are always whole."""


class Outcome(StrEnum):
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
        return self is Outcome.PUBLISHED

    @property
    def in_catalog(self) -> bool:
        """Whether the price is in the catalog, to be shown at least."""
        return self in _IN_CATALOG


_IN_CATALOG = frozenset(
    {
        Outcome.PUBLISHED,
        Outcome.NOT_SOLD_THERE,
        Outcome.NOT_SOLD_SO,
        Outcome.UPFRONT_UNKNOWN,
        Outcome.SUPERSEDED,
        Outcome.OLD,
        Outcome.RETIRED,
    }
)
_RANK = {outcome: rank for rank, outcome in enumerate(Outcome)}


@dataclass
class Account:
    """Outcomes by row; a row told twice keeps the better outcome."""

    rows: dict[tuple[str, int], Outcome] = field(default_factory=dict)
    details: dict[tuple[str, int], str] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)
    """Rows read of each file, to be balanced against the outcomes."""

    def enter(self, row: Row) -> Row:
        """Count a row as read."""
        self.read[row.file] += 1
        return row

    def tell(self, row: Row, outcome: Outcome, detail: str = "") -> None:
        """Say what became of a row."""
        key = (row.file, row.line)
        if key not in self.rows or _RANK[outcome] < _RANK[self.rows[key]]:
            self.rows[key] = outcome
            self.details[key] = detail

    def balance(self) -> None:
        """Raise `ValueError` unless every row read has one outcome and no other has."""
        told = Counter(file for file, _ in self.rows)
        if told != self.read:
            apart = {f: (self.read[f], told[f]) for f in {*told, *self.read}}
            lost = {f: pair for f, pair in apart.items() if pair[0] != pair[1]}
            raise ValueError(f"rows read and rows accounted for differ: {lost}")

    def report(self) -> dict[str, dict[str, object]]:
        """file → rows, and for each outcome its count and its most frequent details."""
        return {file: self._of_file(file) for file in sorted(self.read)}

    def totals(self) -> dict[str, int]:
        """outcome → rows over all files."""
        return dict(Counter(outcome.value for outcome in self.rows.values()).most_common())

    def _of_file(self, file: str) -> dict[str, object]:
        seen: dict[Outcome, Counter[str]] = defaultdict(Counter)
        for (name, line), outcome in self.rows.items():
            if name == file:
                seen[outcome][self.details[name, line]] += 1
        outcomes = {
            outcome.value: {
                "count": details.total(),
                "examples": {t: n for t, n in details.most_common(EXAMPLES) if t},
            }
            for outcome, details in sorted(seen.items(), key=lambda item: _RANK[item[0]])
        }
        return {"rows": self.read[file], "outcomes": outcomes}
