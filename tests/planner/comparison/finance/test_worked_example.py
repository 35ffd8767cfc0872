"""The worked example of the guide to loans, leases and fiscal years, computed as it says."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import TODAY

PAGE = (Path(settings.BASE_DIR) / "docs" / "guides" / "finance.md").read_text()
REQUEST = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
LOAN = json.loads(re.findall(r'`"financing": (\{.*?\})`', PAGE)[0])


def answer(financing: dict[str, Any] | None = None) -> ComparisonAnswer:
    request = json.loads(json.dumps(REQUEST))
    if financing is not None:
        request["on_prem"]["financing"] = financing
    return compare(request, Catalog.of([]), today=TODAY)


def says(amount: Decimal) -> bool:
    return f"{amount:,.2f}".removesuffix(".00") in PAGE


def test_the_lease() -> None:
    plan = answer().by_key["on_prem"]
    rents = [line.amount for line in plan.lines if line.category == "lease"]
    assert len(rents) == 24
    assert says(rents[0])
    assert says(plan.total_cost)
    assert plan.finance is not None
    for year in plan.finance.fiscal_years:
        assert says(year.lease), year
    first = plan.finance.fiscal_years[0].leases
    assert first is not None
    assert all(map(says, (first.depreciation, first.interest, first.cost)))
    assert says(first.right_of_use + first.depreciation)


def test_the_loan() -> None:
    plan = answer(LOAN).by_key["on_prem"]
    assert says(plan.cost_by_category["interest"])
    assert plan.cost_by_category["loan"] == 0


def test_the_returns_of_a_purchase() -> None:
    finance = answer({"method": "purchase"}).by_key["on_prem"].finance
    assert finance is not None
    assert finance.payback_months == pytest.approx(300_000 / (730 * 40), abs=1e-4)
    assert f"after {finance.payback_months:.3f} months" in PAGE
    assert f"{finance.internal_rate_of_return:.0%}".replace("%", " %") in PAGE
