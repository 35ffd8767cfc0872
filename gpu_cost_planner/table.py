"""A table of an answer: a pandas frame when it is asked for, and shown as one in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """One table; pandas is imported when it is first looked at."""

    name: str
    _build: Callable[[], pd.DataFrame]

    def to_frame(self, *, floats: bool = False) -> pd.DataFrame:
        """The table as a frame; money is exact `Decimal`, or `float64` with `floats=True`."""
        from planner.exports.frames import convert_money

        return convert_money(self._build()) if floats else self._build()

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table as CSV with exact amounts, written to `path` where one is given."""
        from planner.exports.frames import format_csv

        text = format_csv(self._build())
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def __len__(self) -> int:
        return len(self._build())

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self)} rows; .to_frame() is a pandas frame>"

    def _repr_html_(self) -> str:
        html: str = self._build().to_html(max_rows=20, border=0)
        return html
