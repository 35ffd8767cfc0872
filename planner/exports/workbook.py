"""An Excel workbook whose totals are live formulas over its own lines.

Text is always written as text, so that nothing a person typed can run; the formulas are ours.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

from planner.contract.amounts import decimals_of
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import (
    ComparisonAnswer,
    InheritedField,
    SavedPlan,
    source_name,
)
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.scenario import FiscalYearFinance
from planner.contract.figures import verdict_facts
from planner.contract.labels import (
    SCENARIO_TITLES,
    accelerator_name,
    category_title,
    choice_name,
    cloud_title,
    field_name,
    join_reasons,
    option_name,
    value_name,
)
from planner.exports.csv_export import Context, cost_rows

OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": False,
}
_MAX_TEXT = 32_000
"""Characters of a cell; Excel takes 32,767."""

Cell = str | float | int | bool | dt.date | Decimal | None


@dataclass(frozen=True)
class Column:
    title: str
    width: int
    cell: Callable[[Any], Cell]
    """Of a row."""
    style: str = ""


def id_column(title: str, cell: Callable[[Any], Cell]) -> Column:
    """A column at the end of a sheet with what other systems match, where it shows names."""
    return Column(f"{title} (id)", 24, cell)


@dataclass
class Book:
    """A workbook with the few styles that all sheets share."""

    book: Any
    currency: str

    def __post_init__(self) -> None:
        add = self.book.add_format
        money = "#,##0.00" if decimals_of(self.currency) else "#,##0"
        self.styles = {
            "": add({"valign": "top"}),
            "head": add({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}),
            "title": add({"bold": True, "font_size": 15}),
            "wrap": add({"text_wrap": True, "valign": "top"}),
            "month": add({"num_format": "yyyy-mm", "valign": "top"}),
            "day": add({"num_format": "yyyy-mm-dd", "valign": "top"}),
            "share": add({"num_format": "0%", "valign": "top"}),
            "money": add({"num_format": money, "valign": "top"}),
            "price": add({"num_format": "#,##0.00######", "valign": "top"}),
            "number": add({"num_format": "#,##0.######", "valign": "top"}),
            "total": add({"num_format": money, "bold": True, "top": 1}),
            "total_text": add({"bold": True, "top": 1}),
        }

    def write(self, sheet: Any, row: int, column: int, value: Cell, style: str = "") -> None:
        cached = self.styles[style]
        if value is None or value == "":
            sheet.write_blank(row, column, None, cached)
        elif isinstance(value, str):
            sheet.write_string(row, column, value[:_MAX_TEXT], cached)
        elif isinstance(value, bool):
            sheet.write_string(row, column, "yes" if value else "no", cached)
        elif isinstance(value, dt.date):
            sheet.write_datetime(
                row, column, dt.datetime(value.year, value.month, value.day), cached
            )
        else:
            sheet.write_number(row, column, float(value), cached)

    def table(self, name: str, columns: Sequence[Column], rows: Sequence[Any]) -> None:
        sheet = self.book.add_worksheet(name)
        for index, column in enumerate(columns):
            sheet.set_column(index, index, column.width)
            self.write(sheet, 0, index, column.title, "head")
        for number, row in enumerate(rows, 1):
            for index, column in enumerate(columns):
                self.write(sheet, number, index, column.cell(row), column.style)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, max(1, len(rows)), len(columns) - 1)


def number(value: Any) -> Cell:
    if isinstance(value, str):
        try:
            return Decimal(value)
        except ArithmeticError:
            return value
    return value  # type: ignore[no-any-return]


def as_workbook(answer: ComparisonAnswer, context: Context) -> bytes:
    """Summary, cash flow, lines, capacity, and all that they came from, with its sources."""

    def summarize(book: Book, sheet: Any, lines: _Ranges) -> None:
        sheet.set_column(0, 0, 26)
        sheet.set_column(1, 5, 20)
        book.write(sheet, 0, 0, context.name or answer.name or "Comparison", "title")
        row = 1
        plain = ((title, value, "") for title, value in _facts(answer, context))
        for title, value, style in (*plain, *verdict_facts(answer)):
            book.write(sheet, row, 0, title, "head")
            book.write(sheet, row, 1, value, style)
            row += 1
        row = _scenarios(book, sheet, row + 1, answer, lines)
        for place, text in enumerate((*answer.advice, *answer.warnings), row):
            book.write(sheet, place, 0, text)

    return _write_plan(answer, context, summarize)


def as_saved_workbook(
    plan: SavedPlan, sections: Sequence[Mapping[str, Any]], context: Context
) -> bytes:
    """A saved plan: its page on the summary, cash flow, lines, capacity, and its sources."""

    def summarize(book: Book, sheet: Any, _: _Ranges) -> None:
        sheet.set_column(0, 0, 60)
        sheet.set_column(1, 2, 20)
        book.write(sheet, 0, 0, context.name, "title")
        facts = [(title, str(value), "") for title, value in _facts(plan, context)]
        row = 1
        for section in ({"title": "", "rows": facts}, *sections):
            book.write(sheet, row, 0, section["title"], "head")
            for cells in section["rows"]:
                row += 1
                for column, cell in enumerate(cells):
                    book.write(sheet, row, column, cell)
            row += 2

    return _write_plan(plan, context, summarize)


def _write_plan(
    answer: SavedPlan | ComparisonAnswer,
    context: Context,
    summarize: Callable[[Book, Any, _Ranges], None],
) -> bytes:
    buffer, whole = io.BytesIO(), answer if isinstance(answer, ComparisonAnswer) else None
    status = context.approval_status.state if context.approval_status else "not saved"
    with xlsxwriter.Workbook(buffer, OPTIONS) as raw:
        book = Book(raw, answer.currency)
        summary, cash = map(raw.add_worksheet, ("Summary", "Cash flow"))
        lines = _lines(book, answer)
        _capacity(book, answer)
        if whole:
            demand(book, whole)
        request(book, answer.labels, context, whole.inherited if whole else ())
        assumptions(book, answer)
        offers(book, answer)
        if whole:
            fiscal_years(book, whole)
        _cash_flow(book, cash, answer, lines)
        summarize(book, summary, lines)
        raw.set_properties(
            {"title": context.name[:200], "company": context.team[:200], "status": status}
        )
    return buffer.getvalue()


@dataclass(frozen=True)
class _Ranges:
    scenario: str
    month: str
    amount: str


def _lines(book: Book, answer: SavedPlan) -> _Ranges:
    rows = list(cost_rows(answer))
    columns = (
        Column("Scenario", 12, lambda row: SCENARIO_TITLES[row[0]]),
        Column("Month", 10, lambda row: answer.month(row[1].month), "month"),
        Column("Category", 16, lambda row: category_title(row[1].category.value)),
        Column("What", 46, lambda row: row[1].label),
        Column("Provider", 10, lambda row: cloud_title(row[1].provider)),
        Column("Region", 16, lambda row: row[1].region),
        Column("Machine", 22, lambda row: row[1].instance_type),
        Column("Option", 14, lambda row: option_name(row[1].purchase_option)),
        Column("Quantity", 14, lambda row: row[1].quantity, "number"),
        Column("Unit", 14, lambda row: row[1].unit),
        Column("Unit price", 14, lambda row: row[1].unit_price, "price"),
        Column("Amount", 16, lambda row: row[1].amount, "money"),
        Column("Offer", 52, lambda row: row[1].offer_id),
        id_column("Category", lambda row: row[1].category.value),
        id_column("Provider", lambda row: row[1].provider),
        id_column("Option", lambda row: row[1].purchase_option),
    )
    book.table("Lines", columns, rows)
    titles, last = [column.title for column in columns], max(2, len(rows) + 1)
    names = [xl_col_to_name(titles.index(name)) for name in ("Scenario", "Month", "Amount")]
    return _Ranges(*(f"Lines!${name}$2:${name}${last}" for name in names))


def _facts(answer: SavedPlan, context: Context) -> list[tuple[str, Cell]]:
    approval: list[tuple[str, Cell]] = [("State", "not saved")]
    if context.approval_status is not None:
        approval = [("Saved comparison", context.saved), ("State", context.approval_status.state)]
        for step in context.steps:
            title = "Saved" if step.state == "draft" else step.state.capitalize()
            when = f"{step.at.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"
            approval.append((title, f"{when} by {step.by}" if step.by else when))
    return [
        ("Team", context.team),
        ("Project", context.project),
        *approval,
        ("Start", answer.start),
        ("Months", answer.horizon_months),
        ("Currency", answer.currency),
        ("Prices", price_lists(answer)),
        ("Recommended", _title(answer.recommendation.scenario) or "nothing is feasible"),
    ]


def _title(key: ScenarioKey | None) -> str:
    return SCENARIO_TITLES[key] if key else ""


def _scenarios(book: Book, sheet: Any, row: int, answer: ComparisonAnswer, over: _Ranges) -> int:
    titles = ("Scenario", "Total cost", "Net present cost", "Per accelerator-hour", "Advice")
    for column, title in enumerate(titles):
        book.write(sheet, row, column, title, "head")
    for scenario in answer.scenarios:
        row += 1
        book.write(sheet, row, 0, _title(scenario.key))
        advice = "advised" if scenario.key == answer.recommendation.scenario else ""
        if not scenario.feasible:
            advice = f"not possible: {join_reasons(scenario.why_not)}"
        elif not scenario.allowed:
            advice = f"not advised: {scenario.why_not_allowed}"
        book.write(sheet, row, 4, advice, "wrap")
        if not scenario.feasible:
            continue
        total = f"=SUMIFS({over.amount},{over.scenario},{xl_rowcol_to_cell(row, 0)})"
        sheet.write_formula(row, 1, total, book.styles["money"], float(scenario.require_total()))
        book.write(sheet, row, 2, scenario.require_present_cost(), "money")
        book.write(sheet, row, 3, scenario.levelised_cost_per_accelerator_hour, "price")
    return row + 2


def _cash_flow(book: Book, sheet: Any, answer: SavedPlan, lines: _Ranges) -> None:
    scenarios = answer.feasible
    sheet.set_column(0, len(scenarios) + 1, 18)
    sheet.freeze_panes(1, 1)
    book.write(sheet, 0, 0, "Month", "head")
    for column, scenario in enumerate(scenarios, 1):
        book.write(sheet, 0, column, _title(scenario.key), "head")
    months = max((len(s.cash_per_month) for s in scenarios), default=0)
    for month in range(months):
        book.write(sheet, month + 1, 0, answer.month(month), "month")
    book.write(sheet, months + 1, 0, "Total", "total_text")
    for column, scenario in enumerate(scenarios, 1):
        head = xl_rowcol_to_cell(0, column, row_abs=True, col_abs=True)
        for month, due in enumerate(scenario.cash_per_month):
            when = xl_rowcol_to_cell(month + 1, 0, col_abs=True)
            formula = f"=SUMIFS({lines.amount},{lines.scenario},{head},{lines.month},{when})"
            sheet.write_formula(month + 1, column, formula, book.styles["money"], float(due))
        name = xl_col_to_name(column)
        total = f"=SUM({name}2:{name}{months + 1})"
        value = float(scenario.require_total())
        sheet.write_formula(months + 1, column, total, book.styles["total"], value)


def _capacity(book: Book, answer: SavedPlan) -> None:
    columns = (
        Column("Scenario", 12, lambda row: _title(row[0])),
        Column("Month", 10, lambda row: answer.month(row[1].month), "month"),
        Column("Source", 60, lambda row: source_name(row[1].source, answer.offers, answer.labels)),
        Column("Accelerators", 14, lambda row: row[1].accelerators, "number"),
        Column("Hours available", 16, lambda row: row[1].hours_available, "number"),
        Column("Hours used", 16, lambda row: row[1].hours_used, "number"),
        id_column("Source", lambda row: row[1].source),
    )
    rows = [(scenario.key, row) for scenario in answer.feasible for row in scenario.capacity]
    book.table("Capacity", columns, rows)


_YEARS = {
    "Cash": "cash", "Capital": "capital", "Operating": "operating", "Depreciation": "depreciation",
    "Lease": "lease", "Interest": "interest", "Resale": "resale", "Tax": "tax", "Cost": "cost",
    "Loan owed": "loan", "IFRS 16 depreciation": "leases.depreciation",
    "IFRS 16 interest": "leases.interest", "IFRS 16 cost": "leases.cost",
    "Right of use": "leases.right_of_use", "Lease liability": "leases.liability",
}  # fmt: skip
"""Column of amounts of a fiscal year → where its figure stands."""


def fiscal_years(book: Book, answer: ComparisonAnswer) -> None:
    known = [(SCENARIO_TITLES[one.key], one.finance) for one in answer.feasible if one.finance]
    if not known:
        return

    def amount(path: str, row: tuple[str, FiscalYearFinance]) -> Cell:
        is_of_leases = path.startswith("leases.") and row[1].leases is None
        return None if is_of_leases else attrgetter(path)(row[1])

    years = (
        Column("Scenario", 12, lambda row: row[0]),
        Column("Fiscal year", 10, lambda row: row[1].fiscal_year),
        Column("First", 10, lambda row: row[1].first),
        Column("Last", 10, lambda row: row[1].last),
        *(Column(title, 16, partial(amount, path), "money") for title, path in _YEARS.items()),
    )
    rows = [(title, year) for title, finance in known for year in finance.fiscal_years]
    book.table("Fiscal years", years, rows)
    returns = (
        Column("Scenario", 12, lambda row: row[0]),
        Column("Against", 12, lambda row: row[1].against and SCENARIO_TITLES[row[1].against]),
        Column("Net present value", 18, lambda row: row[1].net_present_value, "money"),
        Column("Internal rate of return", 16, lambda row: row[1].internal_rate_of_return, "number"),
        Column("Why none", 30, lambda row: row[1].why_no_internal_rate),
        Column("Payback, months", 16, lambda row: row[1].payback_months, "number"),
        Column(
            "Discounted payback, months",
            *(16, lambda row: row[1].discounted_payback_months, "number"),
        ),
        Column("Cost per year", 18, lambda row: row[1].cost_per_year, "money"),
    )
    book.table("Returns", returns, known)


_LIMITS = ("constraints", "price_adjustments")


def price_lists(answer: SavedPlan | PortfolioAnswer) -> str:
    return ", ".join(
        f"{cloud_title(row.provider)} revision {row.revision} of {row.as_of}"
        for row in answer.catalog
    )


def demand(book: Book, answer: ComparisonAnswer) -> None:
    work = answer.demand
    columns = (
        Column("Month", 10, answer.month, "month"),
        Column("Accelerator-hours", 18, lambda month: work.hours_per_month[month], "number"),
        Column("Peak accelerators", 18, lambda month: work.peak_accelerators[month], "number"),
        Column("Accelerator", 28, lambda _: accelerator_name(work.accelerator)),
        Column("Method", 60, lambda _: work.method, "wrap"),
        id_column("Accelerator", lambda _: work.accelerator),
    )
    book.table("Demand", columns, range(len(work.hours_per_month)))


def request(
    book: Book,
    labels: Mapping[str, str],
    context: Context,
    inherited: Sequence[InheritedField] = (),
) -> None:
    sources = {row.field: row.source for row in inherited}

    def in_words(field: str, value: Any) -> Cell:
        server = labels.get(f"server:{value}") if field.endswith(".server") else None
        return server or value_name(field, value)

    columns = (
        Column("Section", 20, lambda row: field_name(row[0].partition(".")[0])),
        Column("Field", 44, lambda row: field_name(row[0])),
        Column("Value", 60, lambda row: in_words(*row), "wrap"),
        Column("From", 60, lambda row: _source(row[0], sources), "wrap"),
        id_column("Field", lambda row: row[0]),
        id_column("Value", lambda row: row[1]),
    )
    shown_request = dict(context.request) | {
        name: context.request.get(name) or "none" for name in _LIMITS if context.request
    }
    rows = [row for name, value in shown_request.items() for row in _fields(name, value)]
    book.table("Request", columns, rows)


def _fields(name: str, value: Any) -> Iterator[tuple[str, Cell]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _fields(f"{name}.{key}", inner)
    elif isinstance(value, list | tuple) and any(isinstance(v, Mapping | list) for v in value):
        for index, inner in enumerate(value):
            yield from _fields(f"{name}.{index}", inner)
    elif isinstance(value, list | tuple):
        yield name, ", ".join(map(str, value)) or "none"
    elif value is not None:
        yield name, value


def _source(field: str, sources: Mapping[str, str]) -> str:
    parts = field.split(".")
    wholes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    whole = next((whole for whole in wholes if whole in sources), "")
    source = sources.get(whole, "")
    return f"{field_name(whole)}: {source}" if source[:1].isdigit() else source


_ASSUMPTIONS = (
    Column("Assumption", 36, lambda row: field_name(row.field)),
    Column("Value", 16, lambda row: number(choice_name(row.value)), "number"),
    Column("Unit", 22, lambda row: row.unit),
    Column("Given", 8, lambda row: row.given),
    Column("Source", 90, lambda row: row.source, "wrap"),
    id_column("Assumption", lambda row: row.field),
)


def assumptions(book: Book, answer: SavedPlan | PortfolioAnswer) -> None:
    book.table("Assumptions", _ASSUMPTIONS, answer.assumptions)


_OFFERS = (
    Column("Offer", 52, lambda row: row[0]),
    Column("Provider", 10, lambda row: cloud_title(row[1].provider)),
    Column("Region", 16, lambda row: row[1].region),
    Column("Zone", 12, lambda row: row[1].zone),
    Column("Machine", 22, lambda row: row[1].instance_type),
    Column("Accelerator", 24, lambda row: accelerator_name(row[1].accelerator)),
    Column("Count", 8, lambda row: row[1].accelerator_count),
    Column("Option", 16, lambda row: option_name(row[1].purchase_option)),
    Column("Price per hour", 16, lambda row: number(row[1].native_price_per_hour)),
    Column("Upfront", 16, lambda row: number(row[1].native_upfront)),
    Column("Currency", 10, lambda row: row[1].native_currency),
    Column("Units per USD", 14, lambda row: number(row[1].units_per_usd)),
    Column(
        "Contract multiplier", 12, lambda row: row[1].multiplier if row[1].native_currency else None
    ),
    Column("Seen on", 12, lambda row: row[1].as_of.isoformat() if row[1].as_of else None),
    Column("SKU", 24, lambda row: row[1].sku),
    Column("Source", 70, lambda row: row[1].source),
    id_column("Provider", lambda row: row[1].provider),
    id_column("Accelerator", lambda row: row[1].accelerator),
    id_column("Option", lambda row: row[1].purchase_option),
)


def offers(book: Book, answer: SavedPlan | PortfolioAnswer) -> None:
    book.table("Offers", _OFFERS, list(answer.offers.items()))
