"""The futures: repeatable, faithful to the plan, wider with more spread."""

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import Cause
from planner.costing.analysis.outcomes import RiskParameters
from planner.costing.analysis.simulation import RiskResult, simulation_of, summarize_risk
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

GROWING = [3000 + 300 * month for month in range(24)]
SPREAD = RiskParameters(
    samples=2000,
    seed=3,
    demand_growth_sd=0.2,
    price_sd=0.05,
    slip_months_sd=1.0,
    residual_sd=0.25,
    spot_interruptions_per_month=0.16,
    checkpoint_save_hours=0.011,
    restart_hours=0.25,
)


@pytest.fixture(scope="module")
def comparison() -> Compared:
    return compared(hours=GROWING, constraints={"max_spot_share": 0.3})


def judge(comparison: Compared, parameters: RiskParameters) -> RiskResult:
    plans = [plan for plan in comparison.scenarios.values() if plan.feasible]
    present, total, *_ = simulation_of(comparison.inputs, parameters).cost(plans)
    return summarize_risk([plan.key for plan in plans], present, total, parameters)


def test_a_seed_repeats_and_another_differs(comparison: Compared) -> None:
    def once(seed: int) -> object:
        return judge(comparison, RiskParameters(500, seed, 0.2)).mean

    assert once(1) == once(1)
    assert once(1) != once(2)


def test_causes_add_up_from_the_plan_as_stated_to_all_of_the_risk() -> None:
    """Nothing varies: the plan's own cost in every sample. Each cause then changes what it may."""
    one = compared(hours=GROWING, on_prem={"late_delivery_probability": 0.5})
    plans = [plan for plan in one.scenarios.values() if plan.feasible]
    simulation = simulation_of(one.inputs, SPREAD)
    steps = [
        simulation.with_causes(frozenset(list(Cause)[:count])).cost(plans)[1]
        for count in range(len(Cause) + 1)
    ]
    for plan, cost in zip(plans, steps[0], strict=True):
        assert cost == pytest.approx(float(plan.total_cost), abs=0.005 * len(plan.lines))
    assert (steps[-1] == simulation.cost(plans)[1]).all()
    moved = {
        cause: {plan.key for plan, a, b in zip(plans, before, after, strict=True) if (a != b).any()}
        for cause, before, after in zip(Cause, steps[:-1], steps[1:], strict=True)
    }
    assert moved[Cause.HOURS] == moved[Cause.PRICES] == {plan.key for plan in plans}
    bought = {plan.key for plan in plans if plan.buys}
    assert bought
    assert all(moved[cause] == bought for cause in (Cause.DELIVERY, Cause.QUOTES, Cause.RESALE))


def test_percentiles_are_in_order_and_probabilities_sum_to_one(comparison: Compared) -> None:
    risk = judge(comparison, SPREAD)
    for percentiles in (risk.percentiles, risk.total_percentiles):
        assert all(low <= mid <= high for low, mid, high in percentiles.values())
    assert sum(risk.probability_cheapest.values()) == pytest.approx(1.0)


def test_an_estimate_that_is_less_sure_is_wider() -> None:
    """The hours of a training are an estimate: its p10 and p90 widen every scenario."""
    training = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": "H100 SXM"}
    none = dict.fromkeys(("demand_growth_sd", "price_sd", "slip_months_sd", "residual_sd"), 0)
    one = compared(workload=training, risk=none | {"samples": 500})
    assert one.risk_parameters is not None
    assert one.risk_parameters.hours_p10_p90[1] > 1
    risk = one.as_dict()["risk"]["on_demand"]
    assert float(risk["p10"]) < 0.9 * float(risk["p50"])


def test_totals_of_the_samples_are_not_discounted() -> None:
    """Without a discount rate both ranges are one; with it renting costs less in present value."""
    free, dear = (
        compared(finance={"discount_rate_per_year": rate}, risk={"samples": 200}).answer.risk
        for rate in (0, 0.1)
    )
    assert free is not None
    assert dear is not None
    for key in ScenarioKey:
        one = free.range_of(key)
        assert one is None or (one.total_p10, one.total_p50, one.total_p90) == (
            one.p10,
            one.p50,
            one.p90,
        )
    rent = dear.on_demand
    assert rent is not None
    assert rent.total_p10 is not None
    assert rent.total_p90 is not None
    assert rent.p10 < rent.total_p10 < rent.total_p90


def test_the_range_is_always_there() -> None:
    answer = compared().as_dict()
    risk = answer["risk"]
    assert (risk["samples"], risk["seed"]) == (2000, 1)
    assert float(risk["on_demand"]["total_p10"]) < float(risk["on_demand"]["total_p90"])
    fields = {row["field"]: row for row in answer["assumptions"]}
    assert {"risk.demand_half_life_months", "risk.spot_waiting_hours_training"} <= set(fields)
    assert {"risk.spot_waiting_hours_other", "risk.spot_patience_hours"} <= set(fields)
    assert not {"risk.price_sd", "risk.residual_sd"} & set(fields)
    given = compared(risk={"samples": 300, "price_sd": 0.1}).as_dict()["risk"]
    assert given["samples"] == 300


def test_spot_that_is_not_there_is_paid_on_demand() -> None:
    """Of 730 / λ hours 6 are waited for; from the first hour on, on demand takes over."""
    one = compared(hours=8 * 730, constraints={"max_spot_share": 1})
    spot = next(s for s in one.inputs.sources if s.is_spot)
    assert spot.availability is not None
    rate = spot.availability.interruptions_per_month
    missing = rate * 6 / 730 / (1 + rate * 6 / 730)
    fallback = missing * np.exp(-1 / 6)
    share = fallback / (1 - missing + fallback)
    lines = one.scenarios[ScenarioKey.CLOUD].lines
    on_demand = [line for line in lines if "while spot is not there" in line.label]
    assert len(on_demand) == 24
    assert float(on_demand[0].amount) == pytest.approx(730 * share * 55.04, abs=0.01)
    assert 0 < share < 0.01


@pytest.mark.parametrize("is_served", [True, False])
def test_idle_cards_of_a_node_work_for_nobody(is_served: bool) -> None:
    """A node for two cards of work costs the hours at their peak, however late they come; for the
    replicas of a service all hours."""
    given = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 1460}
    chat = {"kind": "serving", "parameters": 8e9, "requests_per_second": 3}
    found = compared(
        catalog(offer("20")), workload=chat if is_served else given | {"peak_accelerators": 2},
        horizon_months=6, on_prem={"servers": []},
        risk={"slip_months_sd": 3, "price_sd": 0, "demand_growth_sd": 0},
    )  # fmt: skip
    simulation = simulation_of(found.inputs, found.risk_parameters)
    costs = simulation.cost([found.scenarios[ScenarioKey.ON_DEMAND]])[1, 0]
    assert costs == pytest.approx(6 * 730 * 20 * (1.0 if is_served else simulation.outcomes.level))
