"""A portfolio's answer as files: CSV of its lines, workbook, JSON, FOCUS rows by project."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from planner.contract.amounts import format_month
from planner.contract.answer.common import AnswerModel, ScenarioKey
from planner.contract.answer.comparison import SavedPlan, source_name
from planner.contract.answer.portfolio import (
    ChargeRate,
    MonthOfMachines,
    PortfolioAnswer,
    PortfolioLine,
    ProjectShare,
    ProjectUse,
)
from planner.contract.answer.scenario import CapacityRow, Purchase, ScenarioRecord
from planner.contract.answer.verdict import Choice
from planner.contract.labels import category_title, value_name
from planner.exports import FORMATS
from planner.exports.csv_export import Context, csv_bytes
from planner.exports.focus import FOCUS_COLUMNS, VERSIONS, Cells, focus_rows
from planner.portfolio.words import METHOD_TITLES, list_orders, list_signed


def _as_workbook(answer: PortfolioAnswer) -> bytes:
    # A plain install of the library has no XlsxWriter.
    import xlsxwriter

    from planner.exports import workbook as inputs
    from planner.exports.workbook import OPTIONS, Book, Column, id_column

    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, OPTIONS) as raw:
        book = Book(raw, answer.currency)
        facts = [*_facts(answer), ("Prices", inputs.price_lists(answer))]
        columns = [Column("What", 44, itemgetter(0)), Column("Figure", 60, itemgetter(1))]
        book.table("Summary", columns, facts)
        for name, (model, field) in TABLE_MODELS.items():
            fields = [f for f in model.model_fields if f != "busy_months"]
            columns = [Column(f.replace("_", " "), 18, partial(_show, answer, f)) for f in fields]
            named = (f for f in fields if f in _NAMED)
            columns += [id_column(f.replace("_", " "), attrgetter(f)) for f in named]
            book.table(name.capitalize(), columns, getattr(answer, field))
        inputs.assumptions(book, answer)
        inputs.offers(book, answer)
    return buffer.getvalue()


_NAMED = frozenset({"accelerator", "category", "provider", "purchase_option", "source"})
"""Fields of the tables that hold ids of something that has a name."""


def _show(answer: PortfolioAnswer, field: str, row: AnswerModel) -> Any:
    value = getattr(row, field)
    if field == "source":
        return source_name(value, answer.offers, answer.labels)
    if field == "category":
        return category_title(value)
    return value_name(field, written(answer, field, value))


def _facts(answer: PortfolioAnswer) -> list[tuple[Any, ...]]:
    same_months = " that does the work in the same months" if answer.is_laid_anew else ""
    spread: list[tuple[Any, ...]] = []
    if (ends := answer.range) is not None:
        doubt = "" if ends.holds else " (does not hold here)"
        figures = {"p10": ends.p10, "median": ends.p50, "p90": ends.p90}
        spread = [
            (f"Total, {name} of simulated cases{doubt}, {answer.currency}", amount)
            for name, amount in figures.items()
        ]
    return [
        ("Portfolio", answer.name or "all projects"),
        ("Months", f"{answer.horizon_months} from {answer.start}"),
        ("Advice", answer.headline),
        *(("Order", order) for order in list_orders(answer)),
        (f"Net present cost, {answer.currency}", answer.net_present_cost),
        (f"Expected cost, {answer.currency}", answer.expected),
        *(
            (f"Risk allowance: {cause.value}, {answer.currency}", amount)
            for cause, amount in answer.risk_allowance.items()
        ),
        (f"Total as stated, {answer.currency}", answer.total_cost),
        *((f"{one.title}, {answer.currency}", one.amount or None) for one in list_signed(answer)),
        (f"Resale taken off it, {answer.currency}", answer.resale),
        (f"Planned apart, net present, {answer.currency}", answer.apart),
        (f"Saving, {answer.currency}", answer.saving),
        (f"No plan{same_months} is cheaper by a larger fraction", answer.gap),
        *([("Range of the total", f"none. {answer.why_no_range}")] if answer.why_no_range else []),
        *spread,
        ("Use of the machines held, fraction", answer.utilisation),
        *((f"{one.name} pays, {answer.currency}", one.share) for one in answer.projects),
        *((f"{one.name}: why", one.explanation) for one in answer.projects),
        ("Shares are divided", METHOD_TITLES.get(answer.shares_method or "")),
    ]


TABLE_MODELS: Mapping[str, tuple[type[AnswerModel], str]] = {
    "projects": (ProjectShare, "projects"),
    "purchases": (Purchase, "purchases"),
    "machines": (MonthOfMachines, "in_service"),
    "uses": (ProjectUse, "uses"),
    "rates": (ChargeRate, "charge_rates"),
    "card": (ChargeRate, "rate_card"),
    "lines": (PortfolioLine, "lines"),
}
"""Table → the model of its rows, and the field of the answer that holds them."""
PORTFOLIO_TABLES = tuple(TABLE_MODELS)
"""Names of the tables."""
_MONTHS = frozenset({"month", "first", "last"})
_LABELLED = frozenset({"machines", "uses"})


def portfolio_csv(answer: PortfolioAnswer, table: str, *, mark: bool = False) -> bytes:
    model, field = TABLE_MODELS[table]
    columns = [*model.model_fields, *(["label"] if table in _LABELLED else []), "currency"]
    rows: list[dict[str, Any]] = []
    for part in getattr(answer, field):
        cells = {name: written(answer, name, value) for name, value in part.__dict__.items()}
        cells.setdefault("label", answer.labels.get(cells.get("source", ""), ""))
        rows.append({**cells, "currency": answer.currency})
    return csv_bytes(columns, rows, mark=mark)


def written(answer: PortfolioAnswer, name: str, value: Any) -> Any:
    """What a table says of a field: months of the answer as `2027-01`, several in one cell."""
    if name in _MONTHS and value is not None:
        return format_month(answer.month(value))
    if isinstance(value, tuple):
        return " ".join(format_month(answer.month(month)) for month in value)
    return value


SHARED = ""
"""The project of what all share."""


def as_portfolio_focus(answer: PortfolioAnswer, version: str = VERSIONS[0]) -> bytes:
    rows = sorted(portfolio_focus_rows(answer), key=lambda row: str(row["ChargePeriodStart"]))
    return csv_bytes(FOCUS_COLUMNS[version], rows)


def portfolio_focus_rows(
    answer: PortfolioAnswer, team: str = "", cost_centres: Mapping[str, str] | None = None
) -> Iterator[Cells]:
    for project in (SHARED, *(one.name for one in answer.projects)):
        scenario = ScenarioRecord.of_values(
            key=ScenarioKey.HYBRID,
            feasible=True,
            lines=tuple(line for line in answer.lines if line.project == project),
            write_off={
                row.source: row.amounts for row in answer.write_off if row.project == project
            },
            capacity=tuple(_capacity(answer, project)),
        )
        part = SavedPlan.of_values(
            start=answer.start,
            horizon_months=answer.horizon_months,
            currency=answer.currency,
            catalog=answer.catalog,
            assumptions=answer.assumptions,
            offers=answer.offers,
            servers=answer.servers,
            scenarios=(scenario,),
            recommendation=Choice.of_values(scenario=ScenarioKey.HYBRID),
        )
        if part.scenarios[0].lines:
            centre = (cost_centres or {}).get(project, "")
            yield from focus_rows(part, Context(answer.name, team, project, centre))


def _capacity(answer: PortfolioAnswer, project: str) -> Iterator[CapacityRow]:
    owned_by_project = {row.source for row in answer.lines if row.project == project}
    held = {row.source for row in answer.in_service}
    for row in answer.in_service:
        if row.source in owned_by_project:
            yield CapacityRow(
                month=row.month,
                source=row.source,
                accelerators=row.accelerators,
                hours_available=row.hours_available,
                hours_used=row.hours_used,
            )
    for use in answer.uses:
        if use.project == project and use.source not in held:
            yield CapacityRow(
                month=use.month,
                source=use.source,
                accelerators=0.0,
                hours_available=use.accelerator_hours,
                hours_used=use.accelerator_hours,
            )


_MAKE: Mapping[str, Callable[[PortfolioAnswer], bytes]] = {
    "csv": lambda answer: portfolio_csv(answer, "lines", mark=True),
    "xlsx": _as_workbook,
    "json": lambda answer: json.dumps(answer.to_json(), ensure_ascii=False, indent=1).encode(),
    "focus": as_portfolio_focus,
    "focus-1.2": partial(as_portfolio_focus, version="1.2"),
}
PORTFOLIO_FORMATS = {name: replace(FORMATS[name], make=make) for name, make in _MAKE.items()}
"""Forms of a comparison that a portfolio has too."""
