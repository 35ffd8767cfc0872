"""What a sweep has done so far, in a file: a sweep that was stopped goes on from there.

One line of JSON for each comparison, written when it is done. Only one process writes. A line
that was being written when the process ended is cut off when the file is next opened.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pricing.common.invalid_input import InvalidInput


class Journal:
    """Rows by key; use as a context. Without a path nothing is kept."""

    def __init__(self, path: str | Path | None) -> None:
        self._path = None if path is None else Path(path)
        self._file: IO[bytes] | None = None
        self.rows: dict[str, dict[str, Any]] = {}
        """Rows of this and of earlier sweeps that wrote the file, by key."""

    def __enter__(self) -> Self:
        if self._path is not None:
            self._file = self._path.open("a+b")
            self._read(self._file)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Keep the row of a comparison that is done."""
        self.rows[key] = row
        if self._file is not None:
            self._file.write(json.dumps([key, row], ensure_ascii=False).encode() + b"\n")
            self._file.flush()

    def _read(self, file: IO[bytes]) -> None:
        file.seek(0)
        end = 0
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                key, row = json.loads(line)
                self.rows[key] = dict(row)
            except (ValueError, TypeError):
                raise InvalidInput(
                    "journal",
                    f"{self._path} line {number} is no line of a journal; name another file",
                ) from None
            end += len(line)
        file.truncate(end)
        file.seek(0, 2)
