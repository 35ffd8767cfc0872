"""The futures: repeatable, faithful to the plan, wider with more spread."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.monte_carlo import RiskParameters, draw_samples, simulate
from planner.costing.analysis.plan_exposure import Exposure, measure_exposures
from planner.costing.analysis.simulation import assess_risk, simulation_of
from tests.planner.comparison.compared import Compared, compared

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


def test_without_spread_every_scenario_costs_what_its_plan_costs() -> None:
    comparison = compared(hours=GROWING, constraints={"max_spot_share": 0.3}, rules=1)
    sure = RiskParameters(100, 1, interruptions_vary=False)
    risk = assess_risk(comparison.scenarios, simulation_of(comparison.inputs, sure))
    for key, (low, middle, high) in risk.percentiles.items():
        plan = float(comparison.scenarios[key].net_present_cost)
        assert low == middle == high
        assert middle == pytest.approx(plan, rel=1e-6, abs=1)
        total = float(comparison.scenarios[key].total_cost)
        assert risk.total_percentiles[key] == pytest.approx((total,) * 3, rel=1e-6, abs=1)


@pytest.mark.parametrize(
    "fields",
    [
        {"finance": {"tax_rate": 0.25}},
        {"data": {"storage_gib": 5000, "egress_gib_per_month": 100}},
        {"on_prem": {"already_owned": [{"server": "dgx-h100", "units": 1, "bought": "2025-01"}]}},
        {"finance": {"cloud_price_trend_per_year": -0.2}},
    ],
)
def test_nor_with_taxes_data_or_servers_in_place(fields: dict[str, Any]) -> None:
    one = compared(hours=GROWING, rules=1, **fields)
    sure = RiskParameters(100, 1, interruptions_vary=False)
    risk = assess_risk(one.scenarios, simulation_of(one.inputs, sure))
    for key, (_, middle, _) in risk.percentiles.items():
        plan = float(one.scenarios[key].net_present_cost)
        assert middle == pytest.approx(plan, rel=1e-5, abs=5)
        total = float(one.scenarios[key].total_cost)
        assert risk.total_percentiles[key] == pytest.approx((total,) * 3, rel=1e-5, abs=5)


def test_a_seed_repeats_and_another_differs(comparison: Compared) -> None:
    def once(seed: int) -> object:
        simulation = simulation_of(comparison.inputs, RiskParameters(500, seed, 0.2))
        return assess_risk(comparison.scenarios, simulation).mean

    assert once(1) == once(1)
    assert once(1) != once(2)


def test_percentiles_are_in_order_and_probabilities_sum_to_one(comparison: Compared) -> None:
    risk = assess_risk(comparison.scenarios, simulation_of(comparison.inputs, SPREAD))
    for percentiles in (risk.percentiles, risk.total_percentiles):
        assert all(low <= mid <= high for low, mid, high in percentiles.values())
    assert sum(risk.probability_cheapest.values()) == pytest.approx(1.0)
    assert min(risk.regret.values()) >= 0
    assert all(risk.cvar_90[key] >= risk.percentiles[key][2] for key in risk.percentiles)


def test_more_spread_is_wider(comparison: Compared) -> None:
    def width(sd: float) -> float:
        spread = RiskParameters(2000, 1, demand_growth_sd=sd)
        risk = assess_risk(comparison.scenarios, simulation_of(comparison.inputs, spread))
        low, _, high = risk.percentiles[ScenarioKey.ON_DEMAND]
        return high - low

    assert width(0.4) > width(0.1) > 0


def test_price_moves_leave_what_is_owned_alone(comparison: Compared) -> None:
    spread = RiskParameters(2000, 1, price_sd=0.3)
    risk = assess_risk(comparison.scenarios, simulation_of(comparison.inputs, spread))

    def width(key: str) -> float:
        low, _, high = risk.percentiles[key]
        return (high - low) / risk.mean[key]

    assert width("on_prem") < width("on_demand") / 3


def test_work_that_slips_is_done_later_and_not_dropped(comparison: Compared) -> None:
    late = RiskParameters(50, 1, slip_months_sd=3)
    hours = comparison.inputs.hours
    (one,) = measure_exposures([comparison.scenarios["on_demand"]], comparison.inputs)
    flat = type(one)(**{**vars(one), "rent": np.full(len(hours), 2.0)})
    cost = simulate([flat], hours, comparison.inputs.peak, late, draw_samples(late))
    assert cost[0] == pytest.approx(np.full(50, 2.0 * hours.sum()), rel=1e-9)


def test_futures_are_costed_alike_in_chunks_of_any_number(comparison: Compared) -> None:
    """An independent reckoning, one future at a time."""
    futures = draw_samples(SPREAD)
    inputs = comparison.inputs
    (one,) = measure_exposures([comparison.scenarios["hybrid"]], inputs)
    cost = simulate([one], inputs.hours, inputs.peak, SPREAD, futures)[0]
    years = np.arange(24) / 12
    for n in (0, 700, 1999):
        slip = int(futures.slip[n])
        work = np.concatenate([np.zeros(slip), inputs.hours])[:24]
        work[-1] += inputs.hours[24 - slip :].sum() if slip else 0
        at_peak = np.maximum(
            np.concatenate([np.zeros(slip), inputs.hours / inputs.peak])[:24], (work > 0) * 1.0
        )
        growth = np.exp(0.2 * futures.growth[n] * years - 0.5 * (0.2 * years) ** 2)
        price = np.exp(0.05 * futures.price[n] * years - 0.5 * (0.05 * years) ** 2)
        expected = one.fixed + one.residual * futures.resale[n]
        for t in range(24):
            served = min(one.hours[t], one.width[t] * at_peak[t])
            rented = max(growth[t] * work[t] - served, 0)
            expected += (
                one.later_commitments[t] * price[t] + (growth[t] * work[t] - rented) * one.in_use[t]
            )
            expected += rented * one.data[t]
            share = one.spot_share[t]
            spot = min(share * rented, 0.3 * growth[t] * work[t])
            expected += rented * price[t] * one.rent[t]
            expected += (share * rented - spot) * price[t] * one.on_demand_rent[t]
            if spot:
                expected += spot * price[t] * futures.spot[n] * one.spot[t] / share
        assert cost[n] == pytest.approx(expected, rel=1e-9)


def test_a_future_beyond_the_plan_rents_no_more_spot_than_is_allowed() -> None:
    """Half of what is asked is served and half is spot at 1, the limit; asked for twice as much,
    spot may be twice as much too, and what is left over is on demand at 10."""
    month = np.array([100.0])
    plan = Exposure(
        fixed=0.0,
        residual=0.0,
        later_commitments=np.zeros(1),
        hours=month / 2,
        width=np.ones(1),
        rent=np.zeros(1),
        spot=np.ones(1),
        data=np.zeros(1),
        in_use=np.zeros(1),
        max_spot_share=0.5,
        spot_share=np.ones(1),
        on_demand_rent=np.full(1, 10.0),
    )
    sure = RiskParameters(1, 1, interruptions_vary=False)
    as_planned, doubled = (
        simulate([plan], hours, hours / 100, sure, draw_samples(sure))[0, 0]
        for hours in (month, 2 * month)
    )
    assert as_planned == pytest.approx(50 * 1)
    assert doubled == pytest.approx(100 * 1 + 50 * 10)


def test_a_month_without_rent_takes_spot_only_in_scenarios_that_may_rent_it() -> None:
    one = compared(hours=GROWING, constraints={"max_spot_share": 0.3})
    served = replace(one.scenarios["hybrid"], used_hours={})
    owned = replace(served, key=ScenarioKey.ON_PREM)
    dear, mixed = measure_exposures([owned, served], one.inputs)
    assert not dear.spot.any()
    assert (dear.rent == dear.on_demand_rent).all()
    assert (mixed.spot_share == 1).all()
    assert (mixed.spot < mixed.on_demand_rent).all()
    assert mixed.max_spot_share == 0.3


def test_an_estimate_that_is_less_sure_is_wider() -> None:
    """The hours of a training are an estimate: its p10 and p90 widen every scenario."""
    training = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": "H100 SXM"}
    none = dict.fromkeys(("demand_growth_sd", "price_sd", "slip_months_sd", "residual_sd"), 0)
    one = compared(workload=training, risk=none | {"samples": 500})
    assert one.risk_parameters is not None
    assert one.risk_parameters.hours_sd > 0
    risk = one.as_dict()["risk"]["on_demand"]
    assert float(risk["p10"]) < 0.9 * float(risk["p50"])


def test_totals_of_the_samples_are_not_discounted() -> None:
    """Without a discount rate both ranges are one; with it renting costs less in present value."""
    free, dear = (
        compared(
            finance={"discount_rate_per_year": rate}, risk={"samples": 200}, rules=1
        ).answer.risk
        for rate in (0, 0.1)
    )
    assert free is not None
    assert dear is not None
    for key in ScenarioKey:
        one = free.range_of(key)
        assert one is not None
        assert (one.total_p10, one.total_p50, one.total_p90) == (one.p10, one.p50, one.p90)
    rent = dear.on_demand
    assert rent is not None
    assert rent.total_p10 is not None
    assert rent.total_p90 is not None
    assert rent.p10 < rent.total_p10 < rent.total_p90


def test_the_answer_has_risk_only_where_asked() -> None:
    assert compared(rules=1).as_dict()["risk"] is None
    risk = compared(risk={"samples": 500, "seed": 5}, rules=1).as_dict()["risk"]
    assert (risk["samples"], risk["seed"]) == (500, 5)
    totals = {"total_p10", "total_p50", "total_p90"}
    assert set(risk["hybrid"]) == {"p10", "p50", "p90", "mean", "cvar_90"} | totals
    assert set(risk["probability_cheapest"]) == set(risk["regret"])


def test_under_edition_2_the_range_is_always_there() -> None:
    answer = compared(rules=2).as_dict()
    risk = answer["risk"]
    assert (risk["samples"], risk["seed"], risk["price_model"]) == (2000, 1, "fitted_processes")
    assert risk["spot"] is None
    assert float(risk["on_demand"]["total_p10"]) < float(risk["on_demand"]["total_p90"])
    fields = {row["field"]: row for row in answer["assumptions"]}
    assert {"risk.demand_half_life_months", "risk.spot_waiting_hours_training"} <= set(fields)
    assert {"risk.spot_waiting_hours_other", "risk.spot_patience_hours"} <= set(fields)
    assert not {"risk.price_sd", "risk.residual_sd"} & set(fields)
    given = compared(rules=2, risk={"samples": 300, "price_sd": 0.1}).as_dict()["risk"]
    assert (given["samples"], given["price_model"]) == (300, "given_spread")
    former = compared(risk={"samples": 300}, rules=1).as_dict()
    assert former["risk"]["price_model"] == "common_factor"
    assert "risk.demand_half_life_months" not in {row["field"] for row in former["assumptions"]}


def test_spot_that_is_not_there_is_paid_on_demand() -> None:
    """Of 730 / λ hours 6 are waited for; from the first hour on, on demand takes over."""
    one = compared(rules=2, hours=8 * 730)
    spot = next(s for s in one.inputs.sources if s.is_spot)
    assert spot.availability is not None
    rate = spot.availability.interruptions_per_month
    missing = rate * 6 / 730 / (1 + rate * 6 / 730)
    fallback = missing * np.exp(-1 / 6)
    share = fallback / (1 - missing + fallback)
    lines = one.scenarios[ScenarioKey.SPOT].lines
    on_demand = [line for line in lines if "while spot is not there" in line.label]
    assert len(on_demand) == 24
    assert float(on_demand[0].amount) == pytest.approx(730 * share * 55.04, abs=0.01)
    assert 0 < share < 0.01
    assert next(s for s in compared(rules=1).inputs.sources if s.is_spot).availability is None


def test_the_same_request_gives_the_same_range_under_edition_2() -> None:
    first, again = (compared(rules=2, risk={"seed": 7}).as_dict()["risk"] for _ in range(2))
    assert first == again
    assert compared(rules=2, risk={"seed": 8}).as_dict()["risk"] != first


@pytest.mark.sweep
def test_a_robust_plan_is_no_worse_than_a_scenario_under_edition_2() -> None:
    answer = compared(rules=2, hours=9000, risk={"samples": 500, "cvar_weight": 1}).as_dict()
    robust = answer["robust_plan"]
    own = float(robust["expected"]) + float(robust["cvar_90"])
    for scenario in answer["scenarios"]:
        one = answer["risk"][scenario["key"]]
        if one is not None:
            assert own <= float(one["mean"]) + float(one["cvar_90"]) + 0.02
