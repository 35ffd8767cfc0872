"""What the verdict says of budgets: what counts against them, and in which month."""

from dataclasses import replace
from decimal import Decimal

import pytest

from planner.comparison.budgets import list_budget_uses
from planner.contract.answer.verdict import BudgetUse
from tests.planner.comparison.compared import Compared, compared
from tests.planner.comparison.words.test_capital_budgets import FREE_PLAN, of
from tests.planner.costing.advice.scenarios_of import line
from tests.planner.costing.market_of import catalog, offer

PRICES = catalog(offer("50"), offer("20", "reserved", term_months=36))


def owing(budget: float) -> Compared:
    """A commitment of 36 months for a plan of 24: 8 accelerators at 14,600 USD a month."""
    return compared(
        PRICES, 5840, horizon_months=24, on_prem={"servers": []},
        constraints={"monthly_budget": budget}, finance={"cloud_price_trend_per_year": 0},
    )  # fmt: skip


def use_of(found: Compared, month: int, category: str, amount: float) -> BudgetUse:
    """The use of the budget with one more payment in a month."""
    assert found.recommendation.scenario
    plan = found.scenarios[found.recommendation.scenario]
    more = replace(plan, lines=(*plan.lines, line(month, category, amount)))
    (use,) = list_budget_uses(found, more)
    return use


def test_a_budget_that_is_kept_names_its_dearest_month() -> None:
    verdict = owing(20_000).answer.verdict
    assert verdict
    (use,) = verdict.budget
    assert (use.planned, use.headroom, use.month) == (Decimal(14_600), Decimal(5400), "2027-01")
    assert use.sentence == "The highest month is January 2027, with 14,600 USD."


@pytest.mark.parametrize(
    ("month", "sentence"),
    [
        (26, "The monthly budget of 20,000 USD is exceeded by 4,600 USD in March 2029, after the "
             "end of the plan."),
        (3, "The monthly budget of 20,000 USD is exceeded by 4,600 USD in April 2027."),
    ],
)  # fmt: skip
def test_a_month_over_it_is_named_after_the_horizon_too(month: int, sentence: str) -> None:
    use = use_of(owing(20_000), month, "compute", 10_000)
    assert (use.planned, use.headroom) == (Decimal(24_600), Decimal(-4600))
    assert use.sentence == sentence


def test_what_servers_fetch_is_no_payment() -> None:
    use = use_of(owing(20_000), 24, "residual", -50_000)
    assert (use.planned, use.month) == (Decimal(14_600), "2027-01")
    assert "exceeded" not in use.sentence
    assert use_of(owing(20_000), 24, "residual", 50_000).sentence == use.sentence


def test_a_month_that_has_no_room_for_cheaper_servers_is_named_with_what_they_take() -> None:
    answer = of(constraints={"monthly_budget": 100_000}).answer
    verdict = answer.verdict
    assert FREE_PLAN
    assert verdict
    saved = round(verdict.total) - round(FREE_PLAN.total)
    (one,) = [one for one in answer.cheaper_if if one.field == "constraints.monthly_budget"]
    assert verdict.reasons[0].endswith(
        f"that would be {saved:,} USD cheaper, net of {FREE_PLAN.resale:,.0f} USD of resale."
    )
    assert (one.plan, one.total) == (FREE_PLAN.headline, FREE_PLAN.total)
    assert one.saving > 0
    again = of(constraints={"monthly_budget": one.value}).answer
    assert again.verdict.headline == one.plan
    assert not [more for more in again.cheaper_if if "budget" in more.field]


@pytest.mark.parametrize(("horizon", "count"), [(12, 1), (24, 1), (36, 1)])
def test_a_higher_budget_gives_the_plan_that_it_promises(horizon: int, count: int) -> None:
    """With 20,000 a month there is only the contract of 36 months. What a higher budget lets in has
    to pay back against renting under that budget, not against the contract that then is none."""
    fields = {
        "horizon_months": horizon,
        "on_prem": {"servers": [{"server": "hgx-h100-8", "unit_price": 200_000}]},
        "finance": {"cloud_price_trend_per_year": 0},
    }
    prices = catalog(offer("34"), offer("26", "reserved", term_months=36))
    limited = compared(
        prices, 5840, cheaper_if=True, constraints={"monthly_budget": 20_000}, **fields
    )
    raises = [one for one in limited.answer.cheaper_if if "monthly_budget" in one.field]
    assert len(raises) == count
    for one in raises:
        raised = compared(prices, 5840, constraints={"monthly_budget": one.value}, **fields)
        verdict = raised.answer.verdict
        assert verdict
        assert (verdict.total, verdict.headline) == (one.total, one.plan)
