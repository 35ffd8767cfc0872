"""Yen have no decimals (ISO 4217): lines are whole, totals add up, and no interface shows any."""

import csv
import io
from decimal import Decimal
from typing import Any

from openpyxl import load_workbook

from planner.commands.tables import comparison_tables
from planner.contract.amounts import format_money
from planner.exports import FORMATS
from planner.exports.csv_export import Context
from planner.web.common.formatting import money
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

YEN = {"currency": "JPY", "exchange_rates": {"JPY": {"units_per_usd": 151.37}}}


def asked(**fields: Any) -> Compared:
    finance = {"cloud_support_rate": 0.03, "tax_rate": 0.25}
    prices = catalog(offer("55.04"), offer("34.0013", "reserved", term_months=12))
    return compared(prices, [3333.3] * 12, horizon_months=12, finance=finance, **fields)


def test_lines_in_yen_are_whole_and_add_up() -> None:
    found = asked(**YEN)
    for plan in found.scenarios.values():
        assert all(line.amount == round(line.amount) for line in plan.lines)
        assert sum(plan.accrued) == plan.total_cost == sum(line.amount for line in plan.lines)
        assert all(amount == round(amount) for amount in plan.accrued)


def test_a_budget_of_what_a_plan_is_shown_with_in_yen_holds_it() -> None:
    plan = asked(**YEN).scenarios["on_demand"]
    limits = {"total_budget": float(plan.total_cost), "purchase_options": ["on_demand"]}
    kept = asked(**YEN, constraints=limits).scenarios["on_demand"]
    assert kept.total_cost == plan.total_cost


def test_no_interface_shows_decimals_of_yen() -> None:
    answer = asked(**YEN).answer
    text = FORMATS["csv"].make(answer, Context()).decode("utf-8-sig")
    amounts = [row["amount"] for row in csv.DictReader(io.StringIO(text))]
    assert amounts
    assert not any("." in amount for amount in amounts)
    rows = FORMATS["focus"].make(answer, Context()).decode("utf-8-sig")
    columns = ("BilledCost", "EffectiveCost")
    paid = [row[column] for row in csv.DictReader(io.StringIO(rows)) for column in columns]
    assert paid
    assert not any("." in amount for amount in paid)
    assert f"{answer.recommended.require_total():,.0f} " in comparison_tables(answer)
    book = load_workbook(io.BytesIO(FORMATS["xlsx"].make(answer, Context())))
    formats = {cell.number_format for sheet in book for row in sheet for cell in row}
    assert "#,##0" in formats
    assert "#,##0.00" not in formats
    assert money(Decimal("0.4"), "JPY") == "0\u00a0JPY"
    assert format_money(Decimal("950.4"), "JPY") == "950 JPY"
