"""Loans, leases, fiscal years, people and other costs in the files that finance reads."""

import io
from decimal import Decimal
from functools import cache
from typing import Any

import openpyxl
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports.csv_export import Context
from planner.exports.focus import focus_rows
from planner.exports.workbook import as_workbook
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

LOAN = {"method": "loan", "months": 36, "deposit_rate": 0.1}
LEASE = {"method": "lease", "months": 36}


@cache
def answer(method: str) -> ComparisonAnswer:
    financing = LOAN if method == "loan" else LEASE
    return compared(
        catalog(offer("95.04")),
        hours=5840,
        on_prem={"servers": [{"server": "dgx-h100"}], "financing": financing},
        finance={"cash_timing": "month_end", "fiscal_year_start_month": 7},
    ).answer


@pytest.mark.parametrize("method", ["loan", "lease"])
def test_focus_has_every_cost_and_no_borrowed_money(method: str) -> None:
    scenario = answer(method).by_key[ScenarioKey.ON_PREM]
    rows = list(focus_rows(answer(method), Context(scenario="on_prem")))
    for column in ("BilledCost", "EffectiveCost"):
        assert sum((row[column] for row in rows), Decimal(0)) == scenario.total_cost
    categories = {row["x_Category"] for row in rows}
    assert "loan" not in categories
    assert {"loan": "interest", "lease": "lease"}[method] in categories


@pytest.mark.parametrize("method", ["loan", "lease"])
def test_the_workbook_has_fiscal_years_and_returns(method: str) -> None:
    found = answer(method)
    book = openpyxl.load_workbook(io.BytesIO(as_workbook(found, Context())))
    own = found.by_key[ScenarioKey.ON_PREM]
    assert own.finance is not None
    rows: list[Any] = list(book["Fiscal years"].iter_rows(min_row=2, values_only=True))
    years = [row for row in rows if row[0] == "On-prem"]
    assert [row[1] for row in years] == [y.fiscal_year for y in own.finance.fiscal_years]
    assert sum(row[4] for row in years) == pytest.approx(float(own.require_total()))
    assert sum(row[12] for row in years) == pytest.approx(float(own.require_total()))
    if method == "lease":
        assert sum(row[16] for row in years) == pytest.approx(float(own.require_total()))
    returns = {row[0]: row for row in book["Returns"].iter_rows(min_row=2, values_only=True)}
    assert returns["On-prem"][1] == "On demand"
    assert returns["On-prem"][2] == pytest.approx(float(own.finance.net_present_value or 0))
    present = {row[0].value: row[2].value for row in book["Summary"].iter_rows() if row[0].value}
    assert present["On-prem"] == pytest.approx(float(own.require_present_cost()))


KEYS = [ScenarioKey.ON_DEMAND, ScenarioKey.CLOUD, ScenarioKey.ON_PREM, ScenarioKey.HYBRID]


@cache
def counted() -> ComparisonAnswer:
    """A commitment of three years in a plan of two, servers, and costs beside both."""
    term = {"term_months": 36, "payment_option": "partial_upfront", "upfront": Decimal(200_000)}
    return compared(
        catalog(offer("55.04"), offer("8.00", "reserved", **term)),
        hours=5840,
        on_prem={"servers": [{"server": "dgx-h100"}], "insurance_rate_per_year": 0.01},
        finance={"cloud_support_rate": 0.05, "cloud_staff_fte_per_accelerator": 0.00125},
        other_costs=[
            {"label": "Move", "amount": 40_000, "scenarios": ["on_prem"]},
            {"label": "Link", "per_month": 1_500},
        ],
    ).answer


def context_of(key: ScenarioKey) -> Context:
    return Context(name="Plan", team="Alpha", project="Model A", scenario=key.value)


@pytest.mark.parametrize("key", KEYS)
def test_focus_books_every_cost_once(key: ScenarioKey) -> None:
    scenario = counted().by_key[key]
    rows = list(focus_rows(counted(), context_of(key)))
    for column in ("BilledCost", "EffectiveCost"):
        assert sum((row[column] for row in rows), Decimal(0)) == scenario.total_cost
    by_category = {
        category: sum(
            (row["BilledCost"] for row in rows if row["x_Category"] == category), Decimal(0)
        )
        for category in ("support", "staff", "other", "insurance")
    }
    assert by_category == {
        category: scenario.cost_by_category.get(category, Decimal(0)) for category in by_category
    }
    assert by_category["other"] == 36_000 + (40_000 if key is ScenarioKey.ON_PREM else 0)


def test_the_commitment_owes_its_share_of_the_support_plan_too() -> None:
    scenario = counted().by_key[ScenarioKey.CLOUD]
    late = [x for x in scenario.lines if x.month >= 24]
    assert {x.category.value for x in late} >= {"support"}
    assert sum((x.amount for x in late), Decimal(0)) == scenario.owed_after
    assert scenario.within_horizon + scenario.owed_after == scenario.total_cost
