"""Payback by the months in which cash is paid, and what a loan says of its deposit."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import TODAY

PRICE, SAVED = 300_000, 730 * (40 - 5)
AT_ONCE = PRICE / SAVED


def request(**finance: Any) -> dict[str, Any]:
    server = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
              "unit_price": PRICE, "running_cost_per_hour": 5}  # fmt: skip
    return {
        "start": "2027-01", "horizon_months": 24, "use_catalog": False,
        "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840},
        "custom_offers": [
            {"label": "By the hour", "provider": "aws", "accelerator": "H100",
             "accelerator_count": 8, "purchase_option": "on_demand", "usd_per_hour": 40}
        ],
        "on_prem": {"servers": [server], "useful_life_months": 24, "lead_time_months": 0,
                    "residual_rate": 0, "spare_rate": 0, "network_storage_rate": 0},
        "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0,
                    "discount_rate_per_year": 0, **finance},
    }  # fmt: skip


def payback(answer: ComparisonAnswer) -> float:
    finance = answer.by_key[ScenarioKey.ON_PREM].finance
    assert finance is not None
    assert finance.payback_months is not None
    assert finance.discounted_payback_months == pytest.approx(finance.payback_months, abs=1e-3)
    return finance.payback_months


def asked(**finance: Any) -> ComparisonAnswer:
    return compare(request(**finance), Catalog.of([]), today=TODAY)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("timing", "months"),
    [
        ({}, 0),
        ({"cash_timing": "month_middle"}, 0),
        ({"cash_timing": "month_end"}, 0),
        ({"cash_timing": "month_end", "payment_terms_days": 30}, 1),
        ({"payment_terms_days": 90}, 2),
        ({"payment_terms_days": 365}, 11),
    ],
)
def test_cash_counts_in_the_month_in_which_it_is_paid(timing: dict[str, Any], months: int) -> None:
    """The server is paid at once, what it saves as many months later as bills are."""
    assert payback(asked(**timing)) == pytest.approx(AT_ONCE + months, abs=1e-3)


@pytest.mark.parametrize(("days", "later"), [(0, 0.0), (73, 2.4)])
def test_balances_of_bills_paid_once_a_year_move_evenly_between_them(
    days: int, later: float
) -> None:
    """12 × 25,550 = 306,600 are saved with the bills of the first year, at its end."""
    found = payback(asked(cash_timing="year_end", payment_terms_days=days))
    assert found == pytest.approx((12 + later) * PRICE / (12 * SAVED), abs=1e-3)


@pytest.mark.sweep
def test_an_answer_of_before_keeps_its_payback() -> None:
    late = {"cash_timing": "month_end", "payment_terms_days": 30}
    now, field = asked(**late), "finance.payback_edition"
    assert [row.value for row in now.assumptions if row.field == field] == [2]
    former = [row for row in now.assumptions if row.field != field]
    before = compare(request(**late), Catalog.of([]), today=TODAY, previous_assumptions=former)
    assert payback(now) - payback(before) == pytest.approx(1)
    assert field not in {row.field for row in asked().assumptions}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("method", "contract"), [("loan", "loan"), ("hire_purchase", "hire purchase")]
)
def test_what_is_borrowed_is_told_from_what_is_paid_at_once(method: str, contract: str) -> None:
    own = request()
    own["on_prem"]["financing"] = {"method": method, "months": 24, "deposit_rate": 0.2,
                                   "interest_rate_per_year": 0.06}  # fmt: skip
    own["on_prem"]["network_storage_rate"] = 0.1
    answer = compare(own, Catalog.of([]), today=TODAY)
    assert answer.verdict is not None
    assert answer.verdict.headline == (
        "Buy 1 × Box in January 2027 (330,000 USD with network and spares: 90,000 USD at once, "
        f"240,000 USD by {contract} over 24 months)."
    )


def test_support_of_an_upfront_payment_is_booked_as_the_payment_is() -> None:
    own = request(cloud_support_rate=0.1, fiscal_year_start_month=7)
    own["on_prem"]["servers"] = []
    own["custom_offers"] = [
        {"label": "A year", "provider": "aws", "accelerator": "H100", "accelerator_count": 8,
         "purchase_option": "reserved", "term_months": 12, "usd_per_hour": 0,
         "upfront_usd": 120_000}
    ]  # fmt: skip
    answer = compare(own, Catalog.of([]), today=TODAY)
    plan = answer.by_key[ScenarioKey.COMMITTED]
    assert float(plan.cost_by_category["support"]) == 24_000
    assert plan.finance is not None
    assert [float(year.cash) for year in plan.finance.fiscal_years] == [132_000, 132_000, 0]
    assert [float(year.cost) for year in plan.finance.fiscal_years] == [66_000, 132_000, 66_000]
    assert [float(amount) for amount in plan.accrued_per_month[:24]] == [11_000] * 24
    former = [row for row in answer.assumptions if row.field != "finance.support_edition"]
    assert len(former) == len(answer.assumptions) - 1
    again = compare(own, Catalog.of([]), today=TODAY, previous_assumptions=former)
    before = again.by_key[ScenarioKey.COMMITTED]
    assert [float(amount) for amount in before.accrued_per_month[:2]] == [22_000, 10_000]
    assert before.total_cost == plan.total_cost
