"""The verdict of a comparison: every figure against one worked out by hand."""

import re
from collections.abc import Mapping
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from planner.comparison.verdict import VerdictWords, build_verdict
from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.verdict import CostInterval
from planner.contract.figures import verdict_facts
from planner.costing.advice.verdict import name_rival
from planner.costing.choice import round_to_error
from tests.golden.answers import answered
from tests.planner.comparison.compared import Compared, compared, solved
from tests.planner.costing.advice.test_decision import OWNING, RENT, TERM, YEAR
from tests.planner.costing.market_of import CATALOG, catalog, offer, request_of

pytestmark = pytest.mark.xdist_group("golden")

CERTAIN = {"price_sd": 0, "demand_growth_sd": 0, "slip_months_sd": 0, "hours_spread": 0}
NO_HURDLE = {"hurdle_share": 0, "hurdle_chance": 0, "effort_cost": 0}
TEN_PERCENT = {"finance": {"discount_rate_per_year": 0.1}}


def worth(rate: float, months: int = 12) -> float:
    """Present value of 1 a month."""
    return sum((1 + rate) ** (-month / 12) for month in range(months))


def servers(owning: Mapping[str, Any] = OWNING, **fields: Any) -> Compared:
    """Two servers for 478,000 USD, rented for while they are on their way."""
    return compared(
        catalog(offer("55.04")), hours=11_000, horizon_months=24, on_prem=owning, **fields
    )


def test_totals_are_nominal_and_present_values_discounted() -> None:
    """600 h: 4,380 USD a month for 730 h at 6, or 6,000 for 600 h at 10: 1,620 a month less."""
    told = compared(catalog(RENT, TERM), hours=600, **YEAR, **TEN_PERCENT).answer.verdict
    assert told
    assert told.against
    assert told.total == Decimal(4380 * 12)
    assert float(told.present_value or 0) == pytest.approx(4380 * worth(0.1), abs=0.01)
    assert told.against.total == Decimal(6000 * 12)
    assert told.against.difference == told.against.expected - told.expected
    assert told.expected == told.total + sum(told.risk_allowance.values())
    shown = round_to_error(float(told.against.difference), float(told.standard_error))
    assert f"; {shown:,.0f} less than renting on demand; " in told.sentence


def test_where_totals_and_present_values_disagree_both_are_said() -> None:
    """36 months of 2,482 USD are 89,352 USD, more than 12 of 7,300, and worth less today."""
    long = offer("3.4", "reserved", count=1, term_months=36, payment_option="no_upfront")
    rate = {"finance": {"discount_rate_per_year": 0.2}, "risk": CERTAIN, "choice": NO_HURDLE}
    told = build_verdict(compared(catalog(RENT, long), hours=730, **YEAR, **rate))
    assert (told.total, told.within_horizon) == (Decimal(89_352), Decimal(29_784))
    assert told.against.difference < 0 < told.against.difference_in_present_value
    assert told.due_later == (
        "59,568 USD of the cost as stated is due after December 2027, until December 2029, for "
        f"1 × {told.decision[0].label}.",
    )
    assert re.search(
        r"; [\d,]+ more than renting on demand, but [\d,]+ less in present value; ", told.sentence
    )


def test_capital_and_payback_of_servers() -> None:
    """Capital 2 × 200,000 × 1.195. Renting is 80,358.40 a month; owning 558,358.40 in January and
    then 11,530 to 12,700 a month: below after 478,000 / 68,300 = 7.0 months, in the eighth."""
    found = servers(finance={"discount_rate_per_year": 0})
    told = build_verdict(found)
    assert told.capital_to_approve == Decimal(478_000)
    assert told.obligation_to_sign is None
    plan = found.scenarios[found.recommendation.scenario]  # type: ignore[index]
    running = [float(amount) for amount in plan.cash_per_month[1:24]]
    assert 11_500 < min(running) <= max(running) < 12_700
    own = [558_358.4 + sum(running[:month]) for month in range(24)]
    rent = [80_358.4 * (month + 1) for month in range(24)]
    assert own[6] > rent[6]
    assert own[7] < rent[7]
    assert told.payback == "2027-08"


def test_of_a_budget_for_all_payments_resale_leaves_nothing() -> None:
    """All payments of the servers' plan with tax, before anything is resold: with a budget of
    that it is still the plan and nothing is left."""
    tax = {"finance": {"tax_rate": 0.2}}
    free = servers(**tax)
    plan = free.scenarios[free.recommendation.scenario]  # type: ignore[index]
    resold = {line.label for line in plan.lines if line.category is Category.RESIDUAL}
    assert resold
    taxed = [line.amount for line in plan.lines if line.label == "Tax on the residual value"]
    sold = [line.amount for line in plan.lines if line.category is Category.RESIDUAL]
    payments = plan.total_cost - sum(sold) - sum(taxed)
    told = build_verdict(servers(constraints={"total_budget": float(payments) + 1}, **tax))
    (left,) = told.budget
    assert (left.kind, left.planned, left.headroom) == ("total", payments, Decimal("1.00"))
    assert told.total == plan.total_cost
    less = build_verdict(servers(constraints={"total_budget": float(payments) - 1000}, **tax))
    assert less.total != plan.total_cost


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"hours": 600}, "; 52,560 to sign."),
        ({"hours": [600] * 6 + [1300] * 18, "horizon_months": 24},
         " to sign in January 2027."),
        ({"hours": 10, "existing": {"minimum_spend": [{
            "label": "EDP", "provider": "aws", "amount": 90_000, "first": "2027-01",
            "last": "2027-12"}]}}, "for a minimum spend not reached"),
    ],
)  # fmt: skip
def test_the_sentence_says_when_and_for_what_is_paid(fields: dict[str, Any], words: str) -> None:
    told = build_verdict(compared(catalog(RENT, TERM), **YEAR | fields))
    assert words in told.sentence


def test_what_is_paid_upfront_and_a_rival_reserved_by_date_are_called_so() -> None:
    ahead = offer(
        "0",
        "reserved",
        count=1,
        term_months=12,
        upfront=Decimal(40_000),
        payment_option="all_upfront",
    )
    assert (
        " to sign and prepay."
        in build_verdict(compared(catalog(RENT, ahead), hours=600, **YEAR)).sentence
    )
    found = compared(catalog(RENT, offer("9", "capacity_block", count=1)), hours=500, **YEAR)
    block, rent = (found.scenarios[ScenarioKey(key)] for key in ("cloud", "on_demand"))
    assert name_rival(block, rent, found.inputs) == "reserving by date"


def test_far_from_the_cost_as_stated_the_expected_cost_has_its_reason() -> None:
    found = compared(catalog(RENT), hours=600, **YEAR)
    told, causes = build_verdict(found), {"hours": Decimal(9_000), "prices": Decimal(9_001)}
    causes["delivery"] = Decimal(-1)
    for expected, words in (
        (79_200, []),
        (79_201, ["72,000 as stated; 79,201 USD expected, because prices may rise."]),
        (60_000, ["72,000 as stated; 60,000 USD expected, because servers may come sooner."]),
    ):
        facts = {"expected": Decimal(expected), "standard_error": None, "risk_allowance": causes}
        words_of = VerdictWords(found, found.advised, told.model_copy(update=facts))
        assert words_of.reasons() == words


def doubted(
    chances: Mapping[str, float],
    means: Mapping[str, float],
    ends: tuple[float, float] = (50_000.126, 61_000.4),
) -> Any:
    """The verdict of a plan that commits, under simulated outcomes that are made up."""
    found = compared(catalog(RENT, TERM), hours=600, **YEAR)
    assert found.recommendation.scenario == ScenarioKey.CLOUD
    own = found.scenarios[ScenarioKey.CLOUD].lines
    assert found.scenarios[ScenarioKey.HYBRID].lines == own
    vars(found)["risk"] = SimpleNamespace(
        probability_cheapest={ScenarioKey(key): chance for key, chance in chances.items()},
        mean={ScenarioKey(key): mean for key, mean in means.items()},
        total_percentiles={ScenarioKey.CLOUD: (ends[0], 52_000.0, ends[1])},
    )
    return build_verdict(found)


def test_confidence_counts_the_plan_under_every_scenario_that_has_it() -> None:
    """The same plan stands as cloud and as hybrid: 0.5 + 0.1."""
    told = doubted({"cloud": 0.5, "hybrid": 0.1, "on_demand": 0.4}, {})
    assert told.confidence == pytest.approx(0.6)
    assert told.range == CostInterval(p10=Decimal("50000.13"), p90=Decimal("61000.40"))
    assert "(50,000 to 61,000)" in told.sentence


@pytest.mark.parametrize(
    ("price", "choice", "is_said"),
    [
        (300_000, {}, True),
        (300_000, {"hurdle_share": 1.0}, False),  # buying is barred
        (None, {}, False),  # nothing else to compare it with
    ],
)
def test_confidence_is_absent_where_no_other_plan_may_win(
    price: int | None, choice: dict[str, float], is_said: bool
) -> None:
    box = {"server": "custom", "accelerator": "H100", "accelerator_count": 8, "power_kw": 5}
    servers = [] if price is None else [box | {"unit_price": price}]
    own = {"servers": servers, "lead_time_months": 0}
    found = compared(catalog(RENT), hours=5840, choice=choice, **YEAR | {"on_prem": own})
    assert (build_verdict(found).confidence is not None) is is_said


@pytest.mark.parametrize(
    ("price", "hours", "is_small"),
    [
        ("1.30", 730, True),  # 949 USD
        ("1.40", 730, False),  # 1,022 USD for a node-month
        ("10", 729, True),  # 7,290 USD for less than a node-month
    ],
)
def test_for_a_small_job_owning_is_no_question(price: str, hours: float, is_small: bool) -> None:
    answer = compared(
        catalog(offer(price, count=1)), hours=hours, horizon_months=1, sensitivity=True
    ).answer
    assert answer.verdict
    assert answer.verdict.is_small is is_small
    assert bool(answer.break_even) is not is_small
    if is_small:
        assert answer.verdict.reasons == ()
        assert answer.drivers == ()


def lifted(request: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    """The request with one field given."""
    section, _, name = field.rpartition(".")
    if not section:
        return request | {name: value}
    return request | {section: {**request.get(section, {}), name: value}}


def test_each_alternative_saves_what_a_comparison_with_the_field_lifted_saves() -> None:
    request = request_of(9000, horizon_months=24, on_prem={"servers": []})
    found = solved(request | {"cheaper_if": True}, CATALOG)
    alternatives = found.answer.cheaper_if
    assert {one.field for one in alternatives} >= {"workload.interruptible"}
    savings = [float(one.saving or 0) for one in alternatives]
    assert savings == sorted(savings, reverse=True)
    for one in alternatives:
        asked = lifted(request, one.field, one.value)
        workload = asked.pop("workload")
        again = compared(CATALOG, **asked, workload=workload)
        saved = found.expected_cost - again.expected_cost
        assert abs(float(one.saving) - saved) < 0.005 * found.expected_cost, one.field
        assert float(one.saving) > found.expected_cost * 0.015
        assert one.total == again.advised.total_cost


def test_what_tax_saves_after_the_plan_is_not_called_owed() -> None:
    """36 months paid in full at once, written off over them, in a plan of 30: a sixth of the tax
    on it is saved later."""
    verdict = answered("owed after the horizon").verdict
    assert verdict is not None
    assert verdict.owed_after is not None
    assert verdict.owed_after < 0
    facts = {title: value for title, value, _ in verdict_facts(answered("owed after the horizon"))}
    assert facts["Owed afterwards"] == 0
    assert facts["Tax saved afterwards"] == -verdict.owed_after
