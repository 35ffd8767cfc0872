"""Credits and minimum spends in simulated outcomes: used up by the bills of each outcome."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.costing.analysis.simulation import planned_simulation
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import RENT_ALONE, TODAY, catalog, offer, request_of

MARKET = catalog(offer("50"), offer("20", "reserved", term_months=12, payment_option="no_upfront"))
PLAIN: dict[str, Any] = {"on_prem": {"servers": []}, "risk": {"samples": 300}}
LARGE, SMALL = 50_000_000, 100_000


def credit(amount: float) -> dict[str, Any]:
    one = {"label": "Credit", "provider": "aws", "amount": amount, "expires": "2028-12"}
    return {"credits": [one]}


def spend(amount: float) -> dict[str, Any]:
    one = {"label": "EDP", "provider": "aws", "amount": amount, "first": "2027-01",
           "last": "2028-12"}  # fmt: skip
    return {"minimum_spend": [one]}


@cache
def ends(kind: str = "", amount: float = 0, tax: float = 0.0) -> tuple[float, ...]:
    """p10, p50 and p90 of renting on demand, undiscounted."""
    existing = {"credit": credit, "spend": spend}[kind](amount) if kind else {}
    finance = RENT_ALONE | {"tax_rate": tax}
    answer = compared(MARKET, hours=5840, existing=existing, finance=finance, **PLAIN).answer
    assert answer.risk is not None
    assert answer.risk.on_demand is not None
    one = answer.risk.on_demand
    return tuple(float(end or 0) for end in (one.total_p10, one.total_p50, one.total_p90))


@pytest.mark.parametrize("tax", [0.0, 0.25])
def test_a_credit_pays_the_bills_that_there_are_and_no_more(tax: float) -> None:
    assert ends("credit", LARGE, tax) == pytest.approx((0, 0, 0), abs=0.01)
    assert min(ends(tax=tax)) > SMALL
    paid = [one - SMALL * (1 - tax) for one in ends(tax=tax)]
    assert ends("credit", SMALL, tax) == pytest.approx(paid, abs=0.02)


def test_what_bills_do_not_come_to_is_owed() -> None:
    assert ends("spend", LARGE) == pytest.approx((LARGE,) * 3, abs=0.01)
    assert ends("spend", SMALL) == pytest.approx(ends(), abs=0.01)
    least = ends()[1]
    assert ends("spend", least) == pytest.approx((least, least, ends()[2]), rel=1e-4)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "existing", [credit(150_000), spend(900_000), credit(90_000) | spend(900_000)]
)
@pytest.mark.parametrize("timing", ["month_start", "year_end"])
def test_an_outcome_as_planned_costs_what_the_plan_does(existing: Any, timing: str) -> None:
    """With spot, data and a support plan in the bills."""
    results = compared(
        catalog(*MARKET_WITH_SPOT), hours=[5840] * 12 + [9000] * 12, existing=existing,
        data={"storage_gib": 5000, "egress_gib_per_month": 500},
        finance={"cash_timing": timing, "tax_rate": 0.2}, **PLAIN,
    )  # fmt: skip
    plans = [plan for plan in results.scenarios.values() if plan.feasible]
    assert results.risk_parameters is not None
    found = planned_simulation(results.inputs, results.risk_parameters, plans).cost(plans)
    for i, plan in enumerate(plans):
        assert found[0, i, 0] == pytest.approx(float(plan.net_present_cost), abs=0.5), plan.key
        assert found[1, i, 0] == pytest.approx(float(plan.total_cost), abs=0.5), plan.key


MARKET_WITH_SPOT = (
    offer("50"), offer("18", "spot", zone="us-east-1a"),
    offer("20", "reserved", term_months=12, payment_option="no_upfront"),
)  # fmt: skip


def test_an_answer_of_before_keeps_its_range() -> None:
    request = request_of(5840, existing=credit(LARGE), **PLAIN)
    now = compare(request, MARKET, today=TODAY)
    field = "risk.pool_edition"
    assert next(row.value for row in now.assumptions if row.field == field) == 2
    same = compare(request, MARKET, today=TODAY, previous_assumptions=now.assumptions)
    assert same.to_json() == now.to_json()
    former = [row for row in now.assumptions if row.field != field]
    before = compare(request, MARKET, today=TODAY, previous_assumptions=former)
    assert field not in {row.field for row in before.assumptions}
    assert lowest(before) < 0 <= lowest(now)
    plain = compare(request_of(5840, **PLAIN), MARKET, today=TODAY)
    assert field not in {row.field for row in plain.assumptions}


def lowest(answer: ComparisonAnswer) -> float:
    assert answer.risk is not None
    assert answer.risk.on_demand is not None
    return float(answer.risk.on_demand.total_p10 or 0)
