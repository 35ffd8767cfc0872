"""What several files hold at once: the same bytes, the same rows, the same month of a bill. PURE.

A file that is there twice counts once. So does a row of a bill that an earlier file holds to the
letter, as where exports overlap; two equal rows of one file are two. A month of a provider that
comes from several files is named: parts of a bill add up, two versions of it do not.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, BinaryIO, cast

from planner.usage.cells import plain_name

MAX_COMPARED_ROWS = 2_000_000
"""Most rows that are compared with those of other files: about 200 MB of marks."""
MAX_NAMED = 10
_VOLATILE = frozenset(
    ("exporttime", "invoiceid", "xinvoiceid", "billinvoiceid", "invoicedetailid", "partitiondate")
)
"""Columns that change from one export of a bill to the next, while its rows stay the same."""
Row = Any
IsRepeated = Callable[[Row, int], bool]


class Overlaps:
    """What of the file at hand was in an earlier one."""

    def __init__(self) -> None:
        self.is_on = False
        """Whether there are several files; one alone is not searched."""
        self._files: list[str] = []
        self._digests: dict[bytes, int] = {}
        self._rows: dict[int, int] = {}
        """Hash of a row → place of the file that held it first."""
        self._repeated: Counter[int] = Counter()
        self._first_repeated = 0
        self._months: dict[tuple[str, str], dict[int, None]] = defaultdict(dict)

    def find_same(self, stream: BinaryIO) -> int | None:
        """Place of an earlier file of the same bytes; the stream stays where it is."""
        if not self.is_on or not stream.seekable():
            return None
        place = stream.tell()
        digest = hashlib.file_digest(cast(Any, stream), "sha256").digest()
        stream.seek(place)
        first = self._digests.setdefault(digest, len(self._files))
        return first if first < len(self._files) else None

    def begin(self, name: str) -> None:
        self._files.append(name)
        self._repeated.clear()

    @property
    def file(self) -> str:
        """Name of the file at hand."""
        return self._files[-1] if self._files else "the file"

    def rows_of(self, header: Sequence[str]) -> IsRepeated:
        """What tells whether a row under this header was in an earlier file, and marks it."""
        if not self.is_on:
            return _never
        names = [(plain_name(name), index) for index, name in enumerate(header)]
        places = [index for name, index in sorted(names) if name not in _VOLATILE]
        if len(places) < 2:
            return _never
        pick = itemgetter(*places)
        columns = tuple(name for name, _ in sorted(names) if name not in _VOLATILE)
        return lambda row, number: self._is_repeated(hash((columns, pick(row))), number)

    def objects(self) -> IsRepeated:
        """The same for rows that are JSON objects."""
        if not self.is_on:
            return _never
        return lambda row, number: self._is_repeated(hash(_text_of(row)), number)

    def charge(self, provider: str, month: str) -> None:
        """A row of the file at hand charges something for this month."""
        self._months[provider, month][len(self._files) - 1] = None

    def _is_repeated(self, mark: int, number: int) -> bool:
        current = len(self._files) - 1
        if len(self._rows) < MAX_COMPARED_ROWS:
            first = self._rows.setdefault(mark, current)
        else:
            first = self._rows.get(mark, current)
        if first == current:
            return False
        if not self._repeated:
            self._first_repeated = number
        self._repeated[first] += 1
        return True

    def notes_of_file(self) -> Iterator[str]:
        """What of the file at hand was in earlier ones."""
        for first, count in self._repeated.most_common(MAX_NAMED):
            yield (
                f"{self._files[-1]}: {count:,} rows from row {self._first_repeated} on are rows of "
                f"{self._files[first]} to the letter and count once."
            )

    def notes_of_months(self) -> Iterator[str]:
        """Months of a provider that several files charge."""
        by_files: dict[tuple[str, tuple[int, ...]], list[str]] = defaultdict(list)
        for (provider, month), files in self._months.items():
            if len(files) > 1:
                by_files[provider, tuple(files)].append(month)
        for (provider, several), months in list(by_files.items())[:MAX_NAMED]:
            names = ", ".join(self._files[one] for one in several[:4])
            more = f" and {len(several) - 4} more" if len(several) > 4 else ""
            yield (
                f"{_span(months)} of {provider or 'one provider'} is in {names}{more}: parts of "
                "one bill add up; of two versions or forms of it leave one out, or it counts twice."
            )
        if len(self._rows) >= MAX_COMPARED_ROWS:
            yield (
                f"Rows beyond the first {MAX_COMPARED_ROWS:,} were not compared with those of "
                "other files."
            )


def _never(row: Row, number: int) -> bool:
    return False


def _text_of(row: Mapping[str, Any]) -> str:
    lasting = {name: value for name, value in row.items() if plain_name(name) not in _VOLATILE}
    return json.dumps(lasting, sort_keys=True, default=str)


def _span(months: Iterable[str]) -> str:
    ordered = sorted(months)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
