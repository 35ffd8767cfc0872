"""A portfolio's answer as files: CSV of its lines, workbook, JSON, FOCUS rows by project."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.labels import category_title
from planner.contract.shown_names import source_name, value_name
from planner.exports.portfolio_csv import TABLE_MODELS, portfolio_csv, written


@dataclass(frozen=True)
class PortfolioFormat:
    """One kind of export: how it is made and what it is served as."""

    suffix: str
    content_type: str
    make: Callable[[PortfolioAnswer], bytes]


def _as_csv(answer: PortfolioAnswer) -> bytes:
    return portfolio_csv(answer, "lines", mark=True)


def _as_json(answer: PortfolioAnswer) -> bytes:
    return json.dumps(answer.to_json(), ensure_ascii=False, indent=1).encode()


def _as_workbook(answer: PortfolioAnswer) -> bytes:
    """A summary, a sheet for each table, and what its figures came from: assumptions and prices."""
    # A plain install of the library has no XlsxWriter.
    import xlsxwriter

    from planner.exports import workbook_inputs as inputs
    from planner.exports.workbook_sheets import OPTIONS, Book, Cell, Column, id_columns

    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, OPTIONS) as raw:
        book = Book(raw, answer.currency)
        facts: list[list[Cell]] = [list(row) for row in _facts(answer)]
        facts.append(["Prices", inputs.price_lists(answer)])
        book.table("Summary", (Column("What", 44), Column("Figure", 60)), facts)
        for name, (model, field) in TABLE_MODELS.items():
            fields = [f for f in model.model_fields if f != "busy_months"]
            named = [f for f in fields if f in _NAMED]
            columns = [Column(title.replace("_", " "), 18) for title in fields]
            columns += id_columns(*(title.replace("_", " ") for title in named))
            rows = [[*(_shown(answer, f, getattr(part, f)) for f in fields),
                     *(getattr(part, f) for f in named)]
                    for part in getattr(answer, field)]  # fmt: skip
            book.table(name.capitalize(), columns, rows)
        inputs.assumptions(book, answer)
        inputs.offers(book, answer)
    return buffer.getvalue()


_NAMED = frozenset({"accelerator", "category", "provider", "purchase_option", "source"})
"""Fields of the tables that hold ids of something that has a name."""


def _shown(answer: PortfolioAnswer, field: str, value: Any) -> Any:
    """A value of a table by the name that people know."""
    if field == "source":
        return source_name(value, answer.offers, answer.labels)
    if field == "category":
        return category_title(value)
    return value_name(field, written(answer, field, value))


def _facts(answer: PortfolioAnswer) -> list[tuple[Any, ...]]:
    return [
        ("Portfolio", answer.name or "all projects"),
        ("Months", f"{answer.horizon_months} from {answer.start}"),
        ("Advice", answer.headline),
        (f"Net present cost, {answer.currency}", answer.net_present_cost),
        (f"Total, {answer.currency}", answer.total_cost),
        (f"Capital to approve now, {answer.currency}", answer.capital_to_approve),
        (f"Resale taken off it, {answer.currency}", answer.resale),
        (f"Planned apart, net present, {answer.currency}", answer.apart),
        (f"Saving, {answer.currency}", answer.saving),
        (f"No plan{_of_these_months(answer)} is cheaper by a larger fraction", answer.gap),
        *([("Range of the total", f"none. {answer.why_no_range}")] if answer.why_no_range else []),
        *_range_rows(answer),
        ("Use of the machines held, fraction", answer.utilisation),
        *((f"{one.name} pays, {answer.currency}", one.share) for one in answer.projects),
        *((f"{one.name}: why", one.explanation) for one in answer.projects),
    ]


def _range_rows(answer: PortfolioAnswer) -> list[tuple[Any, ...]]:
    """The total over simulated outcomes."""
    ends, currency = answer.range, answer.currency
    if ends is None:
        return []
    doubt = "" if ends.holds else " (does not hold here)"
    figures = {"p10": ends.p10, "median": ends.p50, "p90": ends.p90, "mean": ends.mean}
    rows = [
        (f"Total, {name} of simulated cases{doubt}, {currency}", amount)
        for name, amount in figures.items()
    ]
    return [*rows, *([("Range of the total", ends.note)] if ends.note else [])]


def _of_these_months(answer: PortfolioAnswer) -> str:
    """What a proof is of, where work was planned in other months than asked too."""
    return " that does the work in the same months" if answer.is_laid_anew else ""


def _as_focus(answer: PortfolioAnswer) -> bytes:
    from planner.exports.portfolio_focus import as_portfolio_focus

    return as_portfolio_focus(answer)


PORTFOLIO_FORMATS: Mapping[str, PortfolioFormat] = {
    "csv": PortfolioFormat("csv", "text/csv; charset=utf-8", _as_csv),
    "xlsx": PortfolioFormat(
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _as_workbook,
    ),
    "json": PortfolioFormat("json", "application/json", _as_json),
    "focus": PortfolioFormat("focus.csv", "text/csv; charset=utf-8; header=present", _as_focus),
}
