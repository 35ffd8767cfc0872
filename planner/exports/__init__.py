"""A comparison's answer as files: CSV, workbook, JSON, FOCUS."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports.csv_export import Context, as_csv
from planner.exports.focus import as_commitments, as_focus, as_focus_1_2

__all__ = ["FORMATS", "Context", "Format"]


@dataclass(frozen=True)
class Format:
    """One kind of export: how it is made and what it is served as."""

    suffix: str
    content_type: str
    make: Callable[..., bytes]
    title: str
    """What a page calls it."""


def json_bytes(answer: Mapping[str, Any], context: Context) -> bytes:
    approval: dict[str, Any] = {}
    if context.approval_status is not None:
        approval["saved_comparison"] = {
            "id": context.saved,
            "name": context.name,
            "team": context.team,
            "project": context.project,
            "state": context.approval_status.state,
            "steps": [{"state": s.state, "by": s.by, "at": s.moment} for s in context.steps],
        }
    return json.dumps({**approval, **answer}, ensure_ascii=False, indent=1).encode()


def _as_workbook(answer: ComparisonAnswer, context: Context) -> bytes:
    # A plain install of the library reads frames from this package and has no XlsxWriter.
    from planner.exports.workbook import as_workbook

    return as_workbook(answer, context)


TABLES = (
    *("scenarios", "lines", "capacity", "purchases", "fiscal_years", "break_even"),
    *("assumptions", "drivers", "risk", "verdict"),
)
"""Names of the tables of an answer, known without loading pandas; `frames` builds them."""
FOCUS_TYPE = "text/csv; charset=utf-8; header=present"
FORMATS = {
    "csv": Format("csv", "text/csv; charset=utf-8", as_csv, "CSV"),
    "xlsx": Format(
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _as_workbook,
        "Excel",
    ),
    "json": Format(
        "json",
        "application/json",
        lambda answer, context: json_bytes(answer.to_json(), context),
        "JSON",
    ),
    "focus": Format("focus.csv", FOCUS_TYPE, as_focus, "FOCUS 1.4"),
    "focus-1.2": Format("focus.csv", FOCUS_TYPE, as_focus_1_2, "FOCUS 1.2"),
    "commitments": Format("contract-commitments.csv", FOCUS_TYPE, as_commitments, "Commitments"),
}


def address_format(forms: Iterable[str]) -> type:
    """The converter for the part of an address that names one of `forms`; its expression is one
    group, for documents that anchor it."""
    regex = f"(?:{'|'.join(forms)})"
    return type(
        "OneOfThem", (), {"regex": regex, "to_python": lambda _, v: v, "to_url": lambda _, v: v}
    )
