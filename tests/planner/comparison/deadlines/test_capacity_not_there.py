"""Machines by the hour that may not be there when work begins."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from planner.comparison import compare
from planner.comparison.verdict import VerdictWords, build_verdict
from planner.costing.analysis.outcomes import PriceDrivers, RiskParameters, draw_outcomes
from planner.costing.analysis.simulation import simulation_of
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import TODAY, catalog, offer, request_of

RENT = offer("30.00")
MODE = offer(
    "40", "dws_calendar_mode", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g"
)
YEAR = offer("38.00", "reserved", term_months=12)
RUN = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": "H100",
       "runs": [{"start": "2027-01", "deadline": "2027-01"}]}  # fmt: skip
HOURS = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
PLAIN = {"price_sd": 0, "demand_growth_sd": 0, "slip_months_sd": 0, "hours_spread": 0}


def asked(chance: float, *prices: Any, work: Any = RUN, months: int = 3, **fields: Any) -> Compared:
    risk = {**PLAIN, **({"on_demand_unavailable_probability": chance} if chance else {})}
    return compared(catalog(*prices), workload=work, horizon_months=months,
                    on_prem={"servers": []}, risk=risk, **fields)  # fmt: skip


def test_a_month_of_waiting_is_as_likely_as_is_said_and_each_further_one_again() -> None:
    parameters = RiskParameters(4000, 1, unavailable_probability=0.3)
    drawn = draw_outcomes(parameters, PriceDrivers((), {}), 6)
    there = drawn.is_there(np.tile([1.0, 1, 0, 1, 1, 1], (4000, 1)))
    assert there is not None
    chances = [0.7, 0.91, 0.973, 0.7, 0.91, 0.973]
    assert there.mean(axis=0) == pytest.approx(chances, abs=0.02)
    assert draw_outcomes(RiskParameters(9, 1), PriceDrivers((), {}), 6).waits is None


@pytest.mark.parametrize(
    ("chance", "prices", "action", "kept"),
    [
        (0.0, (RENT, MODE), "rent", (0.9, 1.0)),
        (0.05, (RENT, MODE), "rent", (0.93, 0.97)),
        (0.3, (RENT, MODE), "reserve", (0.9, 1.0)),
        (0.3, (RENT,), "rent", (0.65, 0.72)),
    ],
)
def test_a_deadline_is_kept_by_what_is_reserved(
    chance: float, prices: tuple[Any, ...], action: str, kept: tuple[float, float]
) -> None:
    answer = asked(chance, *prices, cheaper_if=True).answer
    verdict = answer.verdict
    assert verdict is not None
    if action == "reserve":  # no rule that is lifted makes machines by the hour sure
        assert not any("on demand" in one.plan for one in answer.cheaper_if)
    assert [part.action for part in verdict.decision] == [action]
    assert kept[0] <= (verdict.deadline_chance or 0.0) <= kept[1]
    is_missed = "machines reserved by date, contracts or own servers would keep it"
    assert (is_missed in verdict.sentence) is (chance == 0.3 and action == "rent")
    is_told = any("less, and has its machines in time in" in one for one in verdict.reasons)
    assert is_told is (action == "reserve")


@pytest.mark.parametrize(
    ("amount", "words"),
    [(1200, "adds 1,200 USD to"), (0, "adds nothing to"), (-21, "takes 21.00 USD off")],
)
def test_what_a_stated_chance_adds_is_among_the_reasons(amount: int, words: str) -> None:
    found = asked(0.3, RENT, work=HOURS)
    told = build_verdict(found).model_copy(update={"risk_allowance": {"capacity": Decimal(amount)}})
    reasons = VerdictWords(found, found.advised, told).reasons()
    sentence = f"machines by the hour are not there {words} the expected cost."
    assert f"The stated chance of 30% that {sentence}" in reasons
    assert not any("stated chance" in one for one in build_verdict(asked(0, RENT)).reasons)


def test_hours_that_grow_and_machines_that_are_not_there_add_up() -> None:
    """Whole machines do 2.108 times the hours in three months: Φ(ln 2.108 / 0.4409), and so on."""
    run = {**RUN, "tokens": 1e12, "runs": [{"start": "2027-01", "deadline": "2027-03"}]}
    for chance, kept in ((0.0, 0.955), (0.3, 0.839)):
        verdict = asked(chance, RENT, work=run).answer.verdict
        assert verdict is not None
        assert verdict.deadline_chance == pytest.approx(kept, abs=0.02)


def test_servers_are_enough_for_a_deadline_in_as_many_outcomes_as_machines_by_the_hour() -> None:
    """28.8 accelerators would do the median hours by the deadline, 50.6 those at p90."""
    work = {**RUN, "tokens": 3e12, "runs": [{"start": "2027-05", "deadline": "2027-10"}]}
    servers = [{"server": "hgx-h100-8", "unit_price": 100_000}]
    request = request_of(
        horizon_months=24, workload=work, on_prem={"servers": servers, "lead_time_months": 0}
    )
    answer = compare(request, catalog(offer("355.00")), today=TODAY)
    assert sum(one.units for one in answer.by_key["on_prem"].purchases) == 7
    assert answer.verdict is not None
    assert (answer.verdict.deadline_chance or 0.0) >= 0.9


def test_hours_that_wait_are_rented_later_and_a_contract_does_not_wait() -> None:
    """A first month that waits is paid for in the second, 10 % cheaper a month by then."""
    cheaper = {"finance": {"cloud_price_trend_per_year": 0.9**12 - 1, "discount_rate_per_year": 0}}
    one = asked(0.3, RENT, YEAR, work=HOURS, months=12, **cheaper)
    plans = {plan.key.value: plan for plan in one.solved_scenarios.values()}
    simulation = simulation_of(one.inputs, one.risk_parameters)
    waits = simulation.outcomes.waits
    assert waits is not None
    costs = simulation.cost([plans["on_demand"]])[1, 0]
    monthly = 730 * 30 * 0.9 ** np.arange(12)
    assert costs[waits[:, 0] == 0] == pytest.approx(monthly.sum(), rel=1e-6)
    later = monthly.sum() - monthly[0] + monthly[1]
    assert costs[waits[:, 0] == 1] == pytest.approx(later, rel=1e-6)
    assert one.answer.verdict is not None
    assert [part.action for part in one.answer.verdict.decision] == ["commit"]
    never = replace(simulation, outcomes=replace(simulation.outcomes, waits=None))
    advised = [one.choice.plan] if one.choice else []
    assert (simulation.cost(advised) == never.cost(advised)).all()


def test_the_allowance_has_it_among_capacity_and_no_policy_waits_for_what_is_not_sure() -> None:
    one = asked(0.3, RENT, work=HOURS, months=12, decide_every_months=3,
                finance={"cloud_price_trend_per_year": -0.5})  # fmt: skip
    verdict = one.answer.verdict
    assert verdict is not None
    assert float(verdict.risk_allowance["capacity"]) < 0
    assert one.answer.policy is None
