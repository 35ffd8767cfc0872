"""A CSV for people: one row per cost line, with the sources of its price."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from planner.contract.amounts import format_month
from planner.contract.answer.comparison import SavedPlan
from planner.contract.answer.scenario import CostLine

APPROVAL_COLUMNS = ("saved_comparison", "state", "state_by", "state_at")
"""On every row, since a row is what is copied elsewhere."""
_OF_LINES = (
    *("label", "provider", "region", "instance_type", "purchase_option", "quantity", "unit"),
    *("unit_price", "amount", "offer_id"),
)
COLUMNS = (
    *("scenario", "month", "category", *_OF_LINES[:-1], "currency", "offer_id"),
    *("price_as_of", "price_source", *APPROVAL_COLUMNS),
)


def as_csv(answer: SavedPlan, context: Context) -> bytes:
    """UTF-8 with a byte order mark, so that spreadsheets read every letter."""
    approval = dict(zip(APPROVAL_COLUMNS, context.approval_columns, strict=True))
    rows: list[dict[str, Any]] = []
    for scenario, line in cost_rows(answer):
        offer = answer.offers.get(line.offer_id)
        cells = {name: getattr(line, name) for name in _OF_LINES} | {
            "scenario": scenario,
            "month": format_month(answer.month(line.month)),
            "category": line.category.value,
            "currency": answer.currency,
            "price_as_of": offer.as_of.isoformat() if offer and offer.as_of else "",
            "price_source": offer.source if offer else "",
        }
        rows.append(cells | approval)
    return csv_bytes(COLUMNS, rows, mark=True)


def csv_bytes(
    columns: Iterable[str], rows: Iterable[Mapping[str, Any]], *, mark: bool = False
) -> bytes:
    """Rows as CSV: numbers as they are, text marked where it would run as a formula."""
    buffer = io.StringIO()
    names = tuple(columns)
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in names])
    return buffer.getvalue().encode("utf-8-sig" if mark else "utf-8")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return f"{value:f}"
    return text_cell(value) if isinstance(value, str) else str(value)


_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
"""What spreadsheets take for the beginning of a formula, the full-width forms included."""
_BEGINS = re.compile(rf"[\t\r\n]|\s*[{_SIGNS}]")
_AFTER_A_SEPARATOR = re.compile(rf'([;\t\r\n][\s"]*)(?=[{_SIGNS}])')
_DIFFERENT_TEXTS = 4096
"""Texts that are remembered: the columns of an export repeat a few of them in every row."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


@lru_cache(_DIFFERENT_TEXTS)
def text_cell(text: str) -> str:
    """`text` for a CSV cell: marked with an apostrophe where it would run as a formula.

    A plain number stays one.

    Where a spreadsheet separates by semicolon or tab (Excel does in most of Europe), or breaks a
    line within a cell, the quotes around a cell of our file do not hold it together: a cell
    begins in the midst of the text. So what follows such a sign is marked too, numbers as well,
    since there the rest of our line follows them.
    """
    if _NUMBER.fullmatch(text):
        return text
    marked = _AFTER_A_SEPARATOR.sub(r"\1'", text)
    return f"'{marked}" if _BEGINS.match(text) else marked


@dataclass(frozen=True)
class Step:
    """A state of a saved comparison: who brought it there and when."""

    state: str
    by: str
    at: dt.datetime

    @property
    def moment(self) -> str:
        """UTC, as FOCUS writes it."""
        return f"{self.at.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class Context:
    """Whose comparison it is; empty where nobody saved it."""

    name: str = ""
    team: str = ""
    project: str = ""
    cost_centre: str = ""
    created: dt.date | None = None
    scenario: str = ""
    """The scenario that FOCUS rows are of; empty for the recommended one."""
    is_forecast: bool = True
    """False where FOCUS rows are of what was paid."""
    saved: str = ""
    """Id of the saved comparison."""
    steps: tuple[Step, ...] = ()
    """What it went through, the state that it is in last."""
    request: Mapping[str, Any] = field(default_factory=dict)
    """The request that was answered."""

    @property
    def approval_status(self) -> Step | None:
        """The state that it is in; None where nobody saved it."""
        return self.steps[-1] if self.steps else None

    @property
    def approval_columns(self) -> tuple[str, str, str, str]:
        step = self.approval_status
        return (self.saved, step.state, step.by, step.moment) if step else ("", "", "", "")


def cost_rows(answer: SavedPlan) -> Iterator[tuple[str, CostLine]]:
    """Every cost line with the scenario that it is of."""
    for scenario in answer.feasible:
        for line in scenario.lines:
            yield scenario.key.value, line
