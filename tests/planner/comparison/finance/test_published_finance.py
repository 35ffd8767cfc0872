"""Published calculations with loans, leases and annual models, reproduced by the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.comparison import compare
from planner.costing.statements.returns import payback_months, present_value
from pricing.market.snapshot import Catalog
from tests.planner.comparison.level.published import FREE, UNDISCOUNTED
from tests.planner.costing.market_of import H100, TODAY


def own(
    server: dict[str, Any], months: int, owning: dict[str, Any], finance: dict[str, Any]
) -> Any:
    """The on-prem scenario of one server in full use, against a rent that nobody takes."""
    unit = {"server": "custom", "accelerator": H100, "accelerator_count": 8, "power_kw": 0}
    request = {
        "start": "2027-01", "horizon_months": months, "use_catalog": False,
        "workload": {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 5840},
        "custom_offers": [{
            "label": "rent", "accelerator": H100, "accelerator_count": 8,
            "purchase_option": "on_demand", "usd_per_hour": finance.pop("rent", 1e6),
        }],
        "on_prem": FREE | {"servers": [unit | server], "useful_life_months": 60} | owning,
        "finance": UNDISCOUNTED | finance, "sensitivity": False,
    }  # fmt: skip
    return compare(request, Catalog.of([]), today=TODAY).by_key["on_prem"]


def test_gpus_on_a_loan_of_70_per_cent() -> None:
    """100 M USD of GPUs, 30 % paid, the rest over 36 months at 15 % a year; 18.3 % of the value a
    year to operate; 25 % of the value lost each year: 130,069,648 USD net (USD.AI script, computed
    with its own formula)."""
    loan = {"method": "loan", "months": 36, "deposit_rate": 0.3, "interest_rate_per_year": 0.15}
    plan = own(
        {"unit_price": 100e6}, 36,
        {"financing": loan, "support_rate_per_year": 0.183, "residual_rate": 0.75,
         "resale_cost_rate": 0},
        {},
    )  # fmt: skip
    assert float(plan.total_cost) == pytest.approx(130_069_648, rel=0.0001)
    payments = [
        float(line.amount) for line in plan.lines
        if line.month == 0 and line.category in ("loan", "interest") and line.amount > 0
    ]  # fmt: skip
    assert sum(payments) == pytest.approx(2_426_573, rel=0.0001)


def test_a_lease_liability_of_four_payments() -> None:
    """1, 1, 1 and 0.8 M USD in arrears at 10 % a year: 3.04 M (SBR workbook; 3.033 exactly)."""
    worth = present_value(np.array([1.0, 1.0, 1.0, 0.8]), np.arange(1.0, 5.0), 0.10)
    assert worth == pytest.approx(3.04, rel=0.005)


def test_a_lease_liability_of_ten_years() -> None:
    """10,000 a year in arrears over ten years at 6 %: 73,600.87 (IFRS 16 examples, 2021)."""
    worth = present_value(np.full(10, 10_000.0), np.arange(1.0, 11.0), 0.06)
    assert worth == pytest.approx(73_600.87, abs=0.01)


def test_the_liability_of_a_lease_is_its_payments_worth_at_the_start() -> None:
    """48 rents in arrears at 12 % a year, by the annuity: 10,000 · (1 − 1.01^−48) / 0.01."""
    lease = {"method": "lease", "months": 48, "interest_rate_per_year": 0.12}
    price = 10_000 * (1 - 1.01**-48) / 0.01
    plan = own({"unit_price": price}, 48, {"financing": lease}, {})
    rents = [float(line.amount) for line in plan.lines if line.category == "lease"]
    assert rents == pytest.approx([10_000] * 48, abs=0.01)
    first = plan.finance.fiscal_years[0].leases
    assert float(first.right_of_use + first.depreciation) == pytest.approx(price, abs=0.01)


def test_an_annual_model_pays_at_the_end_of_each_year() -> None:
    """300,000 USD at once and 60,000 a year for five years, against 150,000 a year of rent, at
    10 %: net present value 90,000 · 3.790787 − 300,000 = 41,170.81; rate of return 15.24 %; paid
    back after 3⅓ years, discounted after 4.26 years of which the fifth earns 55,883."""
    rent = 150_000 / 8760
    plan = own(
        {"unit_price": 300_000}, 60,
        {"support_rate_per_year": 0.2},
        {"discount_rate_per_year": 0.10, "cash_timing": "year_end", "rent": rent},
    )  # fmt: skip
    finance = plan.finance
    assert float(finance.net_present_value) == pytest.approx(41_170.81, abs=1)
    assert finance.internal_rate_of_return == pytest.approx(0.152382, abs=1e-5)
    assert finance.payback_months == pytest.approx(40, abs=0.001)
    yearly = [90_000 / 1.1**year for year in range(1, 6)]
    behind = 300_000 - sum(yearly[:4])
    assert finance.discounted_payback_months == pytest.approx(
        48 + 12 * behind / yearly[4], abs=0.01
    )


def test_one_off_costs_move_the_payback() -> None:
    """6,850 USD and 183 USD once against 24.37 USD a run, 30 runs a month (Excelfore, 2026)."""
    flows = [-6850 - 183 + 30 * 24.37] + [30 * 24.37] * 23
    assert payback_months(flows) == pytest.approx((6850 + 183) / (30 * 24.37), abs=1e-9)
