"""Offers kept in a file: the bundled catalog, and published histories. No Django, no database."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
from collections.abc import Iterator
from pathlib import Path

import zstandard

from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_rows import OFFER_COLUMNS, from_row
from pricing.market.offers import Offer


def read_csv(path: Path) -> Iterator[Offer]:
    """The offers of a CSV file with the columns of `OFFER_COLUMNS`, compressed or not.

    Raises `InvalidInput` naming file, line and column.
    """
    with _open(path) as lines:
        reader = csv.DictReader(lines)
        unknown = set(reader.fieldnames or ()) - set(OFFER_COLUMNS)
        if unknown or not reader.fieldnames:
            raise InvalidInput(
                path.name,
                f"column {min(unknown, default='')!r} is unknown; allowed are "
                + ", ".join(OFFER_COLUMNS),
            )
        for row in reader:
            yield from_row(row, f"{path.name} line {reader.line_num}")


def _open(path: Path) -> io.TextIOBase:
    openers = {".gz": gzip.open, ".xz": lzma.open, ".zst": zstandard.open}
    opener = openers.get(path.suffix, open)
    try:
        return opener(path, "rt", encoding="utf-8", newline="")  # type: ignore[operator,no-any-return]
    except OSError as error:
        raise InvalidInput(str(path), f"cannot be read: {error.strerror or error}") from None
