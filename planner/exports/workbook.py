"""An Excel workbook whose totals are live formulas over its own lines.

Text is always written as text, so that nothing a person typed can run; the formulas are ours.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

from planner.contract.amounts import decimals_of
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import (
    ComparisonAnswer,
    InheritedField,
    OfferUsed,
    SavedPlan,
    source_name,
)
from planner.contract.answer.portfolio import PortfolioAnswer
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
    style: str = ""


def id_columns(*titles: str) -> tuple[Column, ...]:
    """Columns at the end of a sheet with what other systems match, where it shows names."""
    return tuple(Column(f"{title} (id)", 24) for title in titles)


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

    def table(self, name: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Any:
        sheet = self.book.add_worksheet(name)
        for index, column in enumerate(columns):
            sheet.set_column(index, index, column.width)
            self.write(sheet, 0, index, column.title, "head")
        for number, row in enumerate(rows, 1):
            for index, value in enumerate(row):
                self.write(sheet, number, index, value, columns[index].style)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, max(1, len(rows)), len(columns) - 1)
        return sheet


def number(value: Any) -> Cell:
    if isinstance(value, str):
        try:
            return Decimal(value)
        except ArithmeticError:
            return value
    return value  # type: ignore[no-any-return]


def as_workbook(answer: ComparisonAnswer, context: Context) -> bytes:
    """Summary, cash flow, lines, capacity, and all that they came from, with its sources."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, OPTIONS) as raw:
        book = Book(raw, answer.currency)
        summary = raw.add_worksheet("Summary")
        cash = raw.add_worksheet("Cash flow")
        lines = _lines(book, answer)
        _capacity(book, answer)
        demand(book, answer)
        request(book, answer.labels, context, answer.inherited)
        assumptions(book, answer)
        offers(book, answer)
        fiscal_years(book, answer)
        _cash_flow(book, cash, answer, lines)
        summary.set_column(0, 0, 26)
        summary.set_column(1, 5, 20)
        book.write(summary, 0, 0, context.name or answer.name or "Comparison", "title")
        row = 1
        plain = ((title, value, "") for title, value in _facts(answer, context))
        for title, value, style in (*plain, *verdict_facts(answer)):
            book.write(summary, row, 0, title, "head")
            book.write(summary, row, 1, value, style)
            row += 1
        row = _scenarios(book, summary, row + 1, answer, lines)
        for text in (*answer.advice, *answer.warnings):
            book.write(summary, row, 0, text)
            row += 1
        _set_properties(raw, context)
    return buffer.getvalue()


def as_saved_workbook(
    plan: SavedPlan, sections: Sequence[Mapping[str, Any]], context: Context
) -> bytes:
    """A saved plan: its page on the summary, cash flow, lines, capacity, and its sources."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, OPTIONS) as raw:
        book = Book(raw, plan.currency)
        summary = raw.add_worksheet("Summary")
        cash = raw.add_worksheet("Cash flow")
        lines = _lines(book, plan)
        _capacity(book, plan)
        request(book, plan.labels, context)
        assumptions(book, plan)
        offers(book, plan)
        _cash_flow(book, cash, plan, lines)
        summary.set_column(0, 0, 60)
        summary.set_column(1, 2, 20)
        book.write(summary, 0, 0, context.name, "title")
        facts = [(title, str(value), "") for title, value in _facts(plan, context)]
        row = 1
        for section in ({"title": "", "rows": facts}, *sections):
            book.write(summary, row, 0, section["title"], "head")
            for cells in section["rows"]:
                row += 1
                for column, cell in enumerate(cells):
                    book.write(summary, row, column, cell)
            row += 2
        _set_properties(raw, context)
    return buffer.getvalue()


def _set_properties(raw: Any, context: Context) -> None:
    status = context.approval_status.state if context.approval_status else "not saved"
    raw.set_properties(
        {"title": context.name[:200], "company": context.team[:200], "status": status}
    )


@dataclass(frozen=True)
class _Ranges:
    scenario: str
    month: str
    amount: str


_LINES = (
    Column("Scenario", 12),
    Column("Month", 10, "month"),
    Column("Category", 16),
    Column("What", 46),
    Column("Provider", 10),
    Column("Region", 16),
    Column("Machine", 22),
    Column("Option", 14),
    Column("Quantity", 14, "number"),
    Column("Unit", 14),
    Column("Unit price", 14, "price"),
    Column("Amount", 16, "money"),
    Column("Offer", 52),
    *id_columns("Category", "Provider", "Option"),
)
_SCENARIO, _MONTH, _AMOUNT = 0, 1, 11


def _lines(book: Book, answer: SavedPlan) -> _Ranges:
    rows: list[list[Cell]] = [
        [
            SCENARIO_TITLES[scenario],
            answer.month(line.month),
            category_title(line.category.value),
            line.label,
            cloud_title(line.provider),
            line.region,
            line.instance_type,
            option_name(line.purchase_option),
            line.quantity,
            line.unit,
            line.unit_price,
            line.amount,
            line.offer_id,
            line.category.value,
            line.provider,
            line.purchase_option,
        ]
        for scenario, line in cost_rows(answer)
    ]
    book.table("Lines", _LINES, rows)
    last = max(2, len(rows) + 1)

    def column(index: int) -> str:
        name = xl_col_to_name(index)
        return f"Lines!${name}$2:${name}${last}"

    return _Ranges(column(_SCENARIO), column(_MONTH), column(_AMOUNT))


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
        Column("Scenario", 12),
        Column("Month", 10, "month"),
        Column("Source", 60),
        Column("Accelerators", 14, "number"),
        Column("Hours available", 16, "number"),
        Column("Hours used", 16, "number"),
        *id_columns("Source"),
    )
    rows: list[list[Cell]] = [
        [
            _title(scenario.key),
            answer.month(row.month),
            source_name(row.source, answer.offers, answer.labels),
            row.accelerators,
            row.hours_available,
            row.hours_used,
            row.source,
        ]
        for scenario in answer.feasible
        for row in scenario.capacity
    ]
    book.table("Capacity", columns, rows)


_YEARS = (
    Column("Scenario", 12),
    Column("Fiscal year", 10),
    Column("First", 10),
    Column("Last", 10),
    *(
        Column(title, 16, "money")
        for title in (
            *("Cash", "Capital", "Operating", "Depreciation", "Lease", "Interest", "Resale"),
            *("Tax", "Cost", "Loan owed", "IFRS 16 depreciation", "IFRS 16 interest"),
            *("IFRS 16 cost", "Right of use", "Lease liability"),
        )
    ),
)
_RETURNS = (
    Column("Scenario", 12),
    Column("Against", 12),
    Column("Net present value", 18, "money"),
    Column("Internal rate of return", 16, "number"),
    Column("Why none", 30),
    Column("Payback, months", 16, "number"),
    Column("Discounted payback, months", 16, "number"),
    Column("Cost per year", 18, "money"),
)


def fiscal_years(book: Book, answer: ComparisonAnswer) -> None:
    known = [(SCENARIO_TITLES[one.key], one.finance) for one in answer.feasible if one.finance]
    if not known:
        return
    years: list[list[Cell]] = []
    for title, finance in known:
        for year in finance.fiscal_years:
            leases = year.leases
            years.append(
                [
                    *(title, year.fiscal_year, year.first, year.last, year.cash, year.capital),
                    *(year.operating, year.depreciation, year.lease, year.interest, year.resale),
                    *(year.tax, year.cost, year.loan),
                    *(
                        (None,) * 5
                        if leases is None
                        else (
                            *(leases.depreciation, leases.interest, leases.cost),
                            *(leases.right_of_use, leases.liability),
                        )
                    ),
                ]
            )
    book.table("Fiscal years", _YEARS, years)
    returns: list[list[Cell]] = [
        [
            title,
            finance.against and SCENARIO_TITLES[finance.against],
            finance.net_present_value,
            finance.internal_rate_of_return,
            finance.why_no_internal_rate,
            finance.payback_months,
            finance.discounted_payback_months,
            finance.cost_per_year,
        ]
        for title, finance in known
    ]
    book.table("Returns", _RETURNS, returns)


_LIMITS = ("constraints", "price_adjustments")


def price_lists(answer: SavedPlan | PortfolioAnswer) -> str:
    return ", ".join(
        f"{cloud_title(row.provider)} revision {row.revision} of {row.as_of}"
        for row in answer.catalog
    )


def demand(book: Book, answer: ComparisonAnswer) -> None:
    columns = (
        Column("Month", 10, "month"),
        Column("Accelerator-hours", 18, "number"),
        Column("Peak accelerators", 18, "number"),
        Column("Accelerator", 28),
        Column("Method", 60, "wrap"),
        *id_columns("Accelerator"),
    )
    work = answer.demand
    name = accelerator_name(work.accelerator)
    pairs = zip(work.hours_per_month, work.peak_accelerators, strict=True)
    rows: list[list[Cell]] = [
        [answer.month(month), hours, peak, name, work.method, work.accelerator]
        for month, (hours, peak) in enumerate(pairs)
    ]
    book.table("Demand", columns, rows)


def request(
    book: Book,
    labels: Mapping[str, str],
    context: Context,
    inherited: Sequence[InheritedField] = (),
) -> None:
    columns = (
        Column("Section", 20),
        Column("Field", 44),
        Column("Value", 60, "wrap"),
        Column("From", 60, "wrap"),
        *id_columns("Field", "Value"),
    )
    sources = {row.field: row.source for row in inherited}
    shown_request = dict(context.request) | {
        name: context.request.get(name) or "none" for name in _LIMITS if context.request
    }
    rows: list[list[Cell]] = [
        [
            field_name(field.partition(".")[0]),
            field_name(field),
            (labels.get(f"server:{value}") if field.endswith(".server") else None)
            or value_name(field, value),
            _source(field, sources),
            field,
            value,
        ]
        for name in shown_request
        for field, value in _fields(name, shown_request[name])
    ]
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


def assumptions(book: Book, answer: SavedPlan | PortfolioAnswer) -> None:
    columns = (
        Column("Assumption", 36),
        Column("Value", 16, "number"),
        Column("Unit", 22),
        Column("Given", 8),
        Column("Source", 90, "wrap"),
        *id_columns("Assumption"),
    )
    rows: list[list[Cell]] = [
        [
            field_name(row.field),
            number(choice_name(row.value)),
            row.unit,
            row.given,
            row.source,
            row.field,
        ]
        for row in answer.assumptions
    ]
    book.table("Assumptions", columns, rows)


_OFFER_COLUMNS: tuple[tuple[str, int, Callable[[OfferUsed], Cell]], ...] = (
    ("Provider", 10, lambda offer: cloud_title(offer.provider)),
    ("Region", 16, lambda offer: offer.region),
    ("Zone", 12, lambda offer: offer.zone),
    ("Machine", 22, lambda offer: offer.instance_type),
    ("Accelerator", 24, lambda offer: accelerator_name(offer.accelerator)),
    ("Count", 8, lambda offer: offer.accelerator_count),
    ("Option", 16, lambda offer: option_name(offer.purchase_option)),
    ("Price per hour", 16, lambda offer: number(offer.native_price_per_hour)),
    ("Upfront", 16, lambda offer: number(offer.native_upfront)),
    ("Currency", 10, lambda offer: offer.native_currency),
    ("Units per USD", 14, lambda offer: number(offer.units_per_usd)),
    ("Contract multiplier", 12, lambda offer: offer.multiplier if offer.native_currency else None),
    ("Seen on", 12, lambda offer: offer.as_of.isoformat() if offer.as_of else None),
    ("SKU", 24, lambda offer: offer.sku),
    ("Source", 70, lambda offer: offer.source),
    ("Provider (id)", 24, lambda offer: offer.provider),
    ("Accelerator (id)", 24, lambda offer: offer.accelerator),
    ("Option (id)", 24, lambda offer: offer.purchase_option),
)
"""Title, width and cell of each column beside the offer's id."""


def offers(book: Book, answer: SavedPlan | PortfolioAnswer) -> None:
    columns = [Column("Offer", 52), *(Column(title, width) for title, width, _ in _OFFER_COLUMNS)]
    book.table("Offers", columns, offer_rows(answer))


def offer_rows(answer: SavedPlan | PortfolioAnswer) -> list[list[Cell]]:
    return [
        [offer_id, *(cell(offer) for _, _, cell in _OFFER_COLUMNS)]
        for offer_id, offer in answer.offers.items()
    ]
