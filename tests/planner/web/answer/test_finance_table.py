"""Contracts, timing and fiscal years on the pages: asked in boxes, answered in a table."""

from __future__ import annotations

import re
from typing import Any

from tests.planner.web.asking import HOURS, get, text

BOXES = {
    **HOURS,
    "horizon_months": "24",
    "on_prem.financing.method": "lease",
    "on_prem.financing.months": "36",
    "on_prem.financing.interest_rate_per_year~pct": "12",
    "finance.cash_timing": "month_end",
    "finance.fiscal_year_start_month": "7",
    "constraints.capex_by_fiscal_year.0.fiscal_year": "2027",
    "constraints.capex_by_fiscal_year.0.amount": "9000000",
    "scenario": "on_prem",
}


def test_the_answer_shows_returns_fiscal_years_and_leases(client: Any, prices: Any) -> None:
    page = text(get(client, "plan", BOXES))
    assert "Returns and fiscal years" in page
    assert "Internal rate of return" in page
    assert "January 2027 to June 2027" in page
    assert "Leases under IFRS 16" in page


def test_the_boxes_keep_what_was_typed(client: Any, prices: Any) -> None:
    page = text(get(client, "plan", BOXES | {"edit": "1"}))
    for words in ("Servers are paid by", "Bills are paid", "Budgets for buying by fiscal year"):
        assert words in page
    assert re.search(r'name="on_prem.financing.months" value="36"', page)


def test_a_refusal_stands_at_its_box(client: Any, prices: Any) -> None:
    page = text(get(client, "plan", BOXES | {"on_prem.financing.months": "99"}))
    assert "longer than the useful life of 60 months" in page
