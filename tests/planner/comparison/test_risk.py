"""The futures: repeatable, faithful to the plan, wider with more spread."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.monte_carlo import RiskParameters, assess_risk, draw_samples, simulate
from planner.costing.analysis.plan_exposure import Exposure, measure_exposure
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


def test_without_spread_every_scenario_costs_what_its_plan_costs(comparison: Compared) -> None:
    sure = RiskParameters(100, 1, interruptions_vary=False)
    risk = assess_risk(comparison.scenarios, comparison.inputs, sure)
    for key, (low, middle, high) in risk.percentiles.items():
        plan = float(comparison.scenarios[key].net_present_cost)
        assert low == middle == high
        assert middle == pytest.approx(plan, rel=1e-6, abs=1)


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
    one = compared(hours=GROWING, **fields)
    risk = assess_risk(one.scenarios, one.inputs, RiskParameters(100, 1, interruptions_vary=False))
    for key, (_, middle, _) in risk.percentiles.items():
        plan = float(one.scenarios[key].net_present_cost)
        assert middle == pytest.approx(plan, rel=1e-5, abs=5)


def test_a_seed_repeats_and_another_differs(comparison: Compared) -> None:
    def once(seed: int) -> object:
        return assess_risk(
            comparison.scenarios, comparison.inputs, RiskParameters(500, seed, 0.2)
        ).mean

    assert once(1) == once(1)
    assert once(1) != once(2)


def test_percentiles_are_in_order_and_probabilities_sum_to_one(comparison: Compared) -> None:
    risk = assess_risk(comparison.scenarios, comparison.inputs, SPREAD)
    assert all(low <= mid <= high for low, mid, high in risk.percentiles.values())
    assert sum(risk.probability_cheapest.values()) == pytest.approx(1.0)
    assert min(risk.regret.values()) >= 0
    assert all(risk.cvar_90[key] >= risk.percentiles[key][2] for key in risk.percentiles)


def test_more_spread_is_wider(comparison: Compared) -> None:
    def width(sd: float) -> float:
        spread = RiskParameters(2000, 1, demand_growth_sd=sd)
        low, _, high = assess_risk(comparison.scenarios, comparison.inputs, spread).percentiles[
            "on_demand"
        ]
        return high - low

    assert width(0.4) > width(0.1) > 0


def test_price_moves_leave_what_is_owned_alone(comparison: Compared) -> None:
    spread = RiskParameters(2000, 1, price_sd=0.3)
    risk = assess_risk(comparison.scenarios, comparison.inputs, spread)

    def width(key: str) -> float:
        low, _, high = risk.percentiles[key]
        return (high - low) / risk.mean[key]

    assert width("on_prem") < width("on_demand") / 3


def test_work_that_slips_is_done_later_and_not_dropped(comparison: Compared) -> None:
    late = RiskParameters(50, 1, slip_months_sd=3)
    hours = comparison.inputs.hours
    one = measure_exposure(comparison.scenarios["on_demand"], comparison.inputs)
    flat = type(one)(**{**vars(one), "rent": np.full(len(hours), 2.0)})
    cost = simulate([flat], hours, comparison.inputs.peak, late, draw_samples(late))
    assert cost[0] == pytest.approx(np.full(50, 2.0 * hours.sum()), rel=1e-9)


def test_futures_are_costed_alike_in_chunks_of_any_number(comparison: Compared) -> None:
    """An independent reckoning, one future at a time."""
    futures = draw_samples(SPREAD)
    inputs = comparison.inputs
    one = measure_exposure(comparison.scenarios["hybrid"], inputs)
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
    dear = measure_exposure(replace(served, key=ScenarioKey.ON_PREM), one.inputs)
    mixed = measure_exposure(served, one.inputs)
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


def test_the_answer_has_risk_only_where_asked() -> None:
    assert compared().as_dict()["risk"] is None
    risk = compared(risk={"samples": 500, "seed": 5}).as_dict()["risk"]
    assert (risk["samples"], risk["seed"]) == (500, 5)
    assert set(risk["hybrid"]) == {"p10", "p50", "p90", "mean", "cvar_90"}
    assert set(risk["probability_cheapest"]) == set(risk["regret"])
