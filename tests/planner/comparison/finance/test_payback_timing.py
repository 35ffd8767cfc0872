"""Payback by the months in which cash is paid, and what a loan says of its deposit."""

import datetime as dt
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from planner.comparison import compare
from planner.contract.amounts import add_months
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.figures import verdict_facts
from planner.costing.statements.returns import payback_of_payments
from planner.web.answer.charts import payback as payback_chart
from planner.web.answer.tables import scenario_rows
from planner.web.answer.verdict import payback_words
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import TODAY

PRICE, SAVED = 300_000, 730 * (40 - 5)
AT_ONCE = PRICE / SAVED
DAYS = 365 / 12


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
        ({"cash_timing": "month_middle"}, 0.5),
        ({"cash_timing": "month_end"}, 1),
        ({"cash_timing": "month_end", "payment_terms_days": 30}, 1 + 30 / DAYS),
        ({"payment_terms_days": 90}, 90 / DAYS),
        ({"payment_terms_days": 365}, 12),
    ],
)
def test_a_payment_counts_from_its_moment_on(timing: dict[str, Any], months: float) -> None:
    """The server is paid at once, what it saves as much later as bills are; the verdict names the
    month in which the payback falls, those after the plan too."""
    answer = asked(**timing)
    assert payback(answer) == pytest.approx(AT_ONCE + months, abs=1e-3)
    assert answer.verdict is not None
    month = add_months(dt.date(2027, 1, 1), int(AT_ONCE + months))
    assert answer.verdict.payback == f"{month:%Y-%m}"
    assert payback_words(answer) == f"{month:%B %Y}"
    chart = payback_chart(answer)
    assert chart is not None
    assert f"{month:%B %Y}" in chart.summary
    book = dict(fact[:2] for fact in verdict_facts(answer))
    assert book["Pays back in"] == month


def test_a_lease_shows_when_it_pays_back() -> None:
    """It asks for no capital, and pages say all the same from when on it has cost less."""
    request_of_lease = request()
    request_of_lease["on_prem"] |= {
        "lead_time_months": 2, "financing": {"method": "lease", "months": 24}}  # fmt: skip
    answer = compare(request_of_lease, Catalog.of([]), today=TODAY)
    assert answer.verdict is not None
    assert answer.verdict.capital_to_approve is None
    assert answer.verdict.payback in answer.months
    month = dt.date.fromisoformat(f"{answer.verdict.payback}-01")
    assert payback_words(answer) == f"{month:%B %Y}"
    chart = payback_chart(answer)
    assert chart is not None
    assert chart.title == "When does the advised plan pay off?"
    assert f"has cost less than renting on demand from {month:%B %Y} on" in chart.summary
    note = "Hybrid: the same plan; machines rented before and alongside its servers"
    assert scenario_rows(answer)[0].note == note


def balance(flows: list[tuple[int, Fraction]], sold: int, end: int, at: Fraction) -> Fraction:
    """What is saved less what is spent up to a moment, each payment spread over its month."""
    paid = sum((a * min(Fraction(1), max(Fraction(0), at - t)) for a, t in flows), Fraction(0))
    return paid + (sold if at >= end else 0)


@pytest.mark.parametrize("seed", range(30))
def test_random_cash_is_paid_back_when_plain_arithmetic_says(seed: int) -> None:
    """From the last moment backwards in steps of a 64th month, in fractions."""
    draw = random.Random(seed)
    end = draw.randint(3, 24)
    flows = [(draw.randint(-300, 200), Fraction(draw.randint(0, 6 * end), 6)) for _ in range(20)]
    flows += [(-draw.randint(0, 900), Fraction(0)), (draw.randint(0, 900), Fraction(end - 1))]
    sold = draw.choice([0, draw.randint(1, 900)])
    at = Fraction(end + 3)
    found = payback_of_payments(
        np.array([float(a) for a, _ in flows]), np.array([float(t) for _, t in flows]),
        float(end), float(sold),
    )  # fmt: skip
    if balance(flows, sold, end, at) < 0:
        assert found is None
        return
    while at > 0 and balance(flows, sold, end, at - Fraction(1, 64)) >= 0:
        at -= Fraction(1, 64)
    assert found is not None
    assert float(at) - 1 / 64 - 1e-3 <= found <= float(at) + 1e-3


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
        f"Buy 1 × Box in January 2027 (24-month {contract} of 240,000 USD)."
    )
