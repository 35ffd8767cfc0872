"""An Excel workbook whose totals are live formulas over its own lines.

Text is always written as text, so that nothing a person typed can run; the formulas are ours.
"""

from __future__ import annotations

import datetime as dt
import io
from dataclasses import dataclass
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name, xl_rowcol_to_cell

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.labels import SCENARIO_TITLES, category_title, cloud_title
from planner.contract.reasons import join_reasons
from planner.contract.shown_names import option_name, source_name
from planner.exports import workbook_inputs as inputs
from planner.exports.rows import Context, Step, cost_rows
from planner.exports.workbook_facts import verdict_facts
from planner.exports.workbook_finance import fiscal_years
from planner.exports.workbook_sheets import OPTIONS, Book, Cell, Column, id_columns


def as_workbook(answer: ComparisonAnswer, context: Context) -> bytes:
    """Summary, cash flow, lines, capacity, and all that they came from, with its sources."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, OPTIONS) as raw:
        book = Book(raw, answer.currency)
        summary = raw.add_worksheet("Summary")
        cash = raw.add_worksheet("Cash flow")
        lines = _lines(book, answer)
        _capacity(book, answer)
        hours = inputs.demand(book, answer)
        inputs.request(book, answer, context)
        inputs.assumptions(book, answer)
        inputs.offers(book, answer)
        inputs.coverage(book, answer)
        fiscal_years(book, answer)
        worth = _cash_flow(book, cash, answer, lines)
        _summary(book, summary, answer, context, _Sources(lines, worth, hours))
        raw.set_properties(
            {
                "title": context.name[:200],
                "company": context.team[:200],
                "status": context.approval_status.state if context.approval_status else "not saved",
            }
        )
    return buffer.getvalue()


@dataclass(frozen=True)
class _Ranges:
    """Where the lines' columns lie, for formulas."""

    scenario: str
    month: str
    amount: str


@dataclass(frozen=True)
class _Sources:
    """What the summary's formulas count over."""

    lines: _Ranges
    worth: str
    """Present values of 1, month by month; empty where the discount rate is not told."""
    hours: str
    """Accelerator-hours, month by month; empty where there are none."""


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


def _lines(book: Book, answer: ComparisonAnswer) -> _Ranges:
    rows: list[list[Cell]] = [
        [
            SCENARIO_TITLES[row.scenario],
            row.month,
            category_title(row.line.category.value),
            row.line.label,
            cloud_title(row.line.provider),
            row.line.region,
            row.line.instance_type,
            option_name(row.line.purchase_option),
            row.line.quantity,
            row.line.unit,
            row.line.unit_price,
            row.line.amount,
            row.line.offer_id,
            row.line.category.value,
            row.line.provider,
            row.line.purchase_option,
        ]
        for row in cost_rows(answer)
    ]
    book.table("Lines", _LINES, rows)
    last = max(2, len(rows) + 1)

    def column(index: int) -> str:
        name = xl_col_to_name(index)
        return f"Lines!${name}$2:${name}${last}"

    return _Ranges(column(_SCENARIO), column(_MONTH), column(_AMOUNT))


def _summary(
    book: Book, sheet: Any, answer: ComparisonAnswer, context: Context, over: _Sources
) -> None:
    sheet.set_column(0, 0, 26)
    sheet.set_column(1, 5, 20)
    book.write(sheet, 0, 0, context.name or answer.name or "Comparison", "title")
    row = 1
    plain = ((title, value, "") for title, value in _facts(answer, context))
    for title, value, style in (*plain, *verdict_facts(answer)):
        book.write(sheet, row, 0, title, "head")
        book.write(sheet, row, 1, value, style)
        row += 1
    row = _scenarios(book, sheet, row + 1, answer, over)
    for text in (*answer.advice, *answer.warnings):
        book.write(sheet, row, 0, text)
        row += 1


def _approval(context: Context) -> list[tuple[str, Cell]]:
    """How far it is approved, by whom and when."""
    if context.approval_status is None:
        return [("State", "not saved")]
    return [
        ("Saved comparison", context.saved),
        ("State", context.approval_status.state),
        *((_STEPS[step.state], _moment(step)) for step in context.steps),
    ]


_STEPS = {
    "draft": "Saved",
    "submitted": "Submitted",
    "approved": "Approved",
    "superseded": "Superseded",
}


def _moment(step: Step) -> str:
    when = f"{step.at.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"
    return f"{when} by {step.by}" if step.by else when


def _facts(answer: ComparisonAnswer, context: Context) -> list[tuple[str, Cell]]:
    return [
        ("Team", context.team),
        ("Project", context.project),
        *_approval(context),
        ("Start", answer.start),
        ("Months", answer.horizon_months),
        ("Currency", answer.currency),
        ("Prices", inputs.price_lists(answer)),
        ("Recommended", _title(answer.recommendation.scenario) or "nothing is feasible"),
    ]


def _title(key: ScenarioKey | None) -> str:
    """What people call a scenario, in every sheet alike: it is what the formulas look for."""
    return SCENARIO_TITLES[key] if key else ""


def _scenarios(book: Book, sheet: Any, row: int, answer: ComparisonAnswer, over: _Sources) -> int:
    titles = ("Scenario", "Total cost", "Net present cost", "Per accelerator-hour", "Advice")
    for column, title in enumerate(titles):
        book.write(sheet, row, column, title, "head")
    columns = {scenario.key: i + 1 for i, scenario in enumerate(answer.feasible)}
    for scenario in answer.scenarios:
        row += 1
        book.write(sheet, row, 0, _title(scenario.key))
        book.write(sheet, row, 4, _advice(scenario, answer), "wrap")
        if not scenario.feasible:
            continue
        total = f"=SUMIFS({over.lines.amount},{over.lines.scenario},{xl_rowcol_to_cell(row, 0)})"
        sheet.write_formula(row, 1, total, book.styles["money"], float(scenario.require_total()))
        column = xl_col_to_name(columns[scenario.key])
        _present(book, sheet, row, scenario, column, over, answer)
    return row + 2


def _advice(scenario: ScenarioAnswer, answer: ComparisonAnswer) -> str:
    """Whether it is the advised one, or why it may not be: the lowest total need not be it."""
    if not scenario.feasible:
        return f"not possible: {join_reasons(scenario.why_not)}"
    if not scenario.allowed:
        return f"not advised: {scenario.why_not_allowed}"
    return "advised" if scenario.key == answer.recommendation.scenario else ""


def _present(
    book: Book,
    sheet: Any,
    row: int,
    scenario: ScenarioAnswer,
    column: str,
    over: _Sources,
    answer: ComparisonAnswer,
) -> None:
    """Net present cost from the cash flow's `column`, and over the discounted hours; as the answer
    has them where bills are paid later than at the start of their month."""
    cost = scenario.require_present_cost()
    per_hour = scenario.levelised_cost_per_accelerator_hour
    if not over.worth or not _is_paid_when_due(scenario, answer):
        book.write(sheet, row, 2, cost, "money")
        book.write(sheet, row, 3, per_hour, "price")
        return
    months = len(scenario.cash_per_month)
    cash = f"{_CASH}!${column}$2:${column}${months + 1}"
    present = f"=ROUND(SUMPRODUCT({cash},{_first(over.worth, months)}),2)"
    sheet.write_formula(row, 2, present, book.styles["money"], float(cost))
    if per_hour is not None and over.hours:
        served = f"SUMPRODUCT({over.hours},{_first(over.worth, _length(over.hours))})"
        levelised = f"=ROUND({xl_rowcol_to_cell(row, 2)}/{served},6)"
        sheet.write_formula(row, 3, levelised, book.styles["price"], float(per_hour))


def _is_paid_when_due(scenario: ScenarioAnswer, answer: ComparisonAnswer) -> bool:
    yearly = 1 + inputs.discount_rate(answer)
    cash = enumerate(scenario.cash_per_month)
    present = sum(float(due) * yearly ** (-month / 12) for month, due in cash)
    return bool(abs(present - float(scenario.require_present_cost())) < _CENTS)


def _length(column: str) -> int:
    return int(column.rpartition("$")[2]) - 1


def _first(column: str, months: int) -> str:
    """The part of a range that begins in row 2, of so many months."""
    return f"{column.rpartition('$')[0]}${months + 1}"


_CASH = "'Cash flow'"
_CENTS = 0.011
"""Difference up to which two sums of rounded figures are the same."""


def _cash_flow(book: Book, sheet: Any, answer: ComparisonAnswer, lines: _Ranges) -> str:
    """What is due in each month of each scenario, every figure a formula over the lines.

    Beside it what 1 due in that month is worth today; where that lies.
    """
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
        _cash_column(book, sheet, column, scenario, lines, months)
    return _worth_column(book, sheet, len(scenarios) + 1, months, answer)


def _worth_column(
    book: Book, sheet: Any, column: int, months: int, answer: ComparisonAnswer
) -> str:
    """(1 + rate per year)^(−month / 12), cash falling at the start of its month."""
    rate = inputs.discount_rate_cell(answer)
    if not rate or not months:
        return ""
    book.write(sheet, 0, column, "Present value of 1", "head")
    yearly = 1 + inputs.discount_rate(answer)
    for month in range(months):
        worth = yearly ** (-month / 12)
        formula = f"=(1+{rate})^(-{month}/12)"
        sheet.write_formula(month + 1, column, formula, book.styles["number"], worth)
    name = xl_col_to_name(column)
    return f"{_CASH}!${name}$2:${name}${months + 1}"


def _cash_column(
    book: Book, sheet: Any, column: int, scenario: ScenarioAnswer, lines: _Ranges, months: int
) -> None:
    head = xl_rowcol_to_cell(0, column, row_abs=True, col_abs=True)
    for month, due in enumerate(scenario.cash_per_month):
        when = xl_rowcol_to_cell(month + 1, 0, col_abs=True)
        formula = f"=SUMIFS({lines.amount},{lines.scenario},{head},{lines.month},{when})"
        sheet.write_formula(month + 1, column, formula, book.styles["money"], float(due))
    name = xl_col_to_name(column)
    total = f"=SUM({name}2:{name}{months + 1})"
    value = float(scenario.require_total())
    sheet.write_formula(months + 1, column, total, book.styles["total"], value)


def _capacity(book: Book, answer: ComparisonAnswer) -> None:
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
