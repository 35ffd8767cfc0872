"""Draws of the simulation: their bias, their spread and how they are summed up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.request.risk import Risk
from planner.costing.analysis.monte_carlo import (
    CHUNK,
    RiskParameters,
    RiskSamples,
    build_risk_parameters,
    chunks_of_one_slip,
    draw_lognormal,
    draw_samples,
    shift_months,
    simulate,
)
from planner.costing.analysis.plan_exposure import Exposure
from planner.costing.analysis.risk_result import calculate_cvar_90, summarize_risk
from planner.costing.optimizer.work import WorkMeter
from tests.planner.comparison.compared import compared

MANY = RiskParameters(samples=200_000, seed=5, residual_sd=0.5, slip_months_sd=1.5, hours_sd=0.3)


def test_a_draw_of_the_resale_value_is_1_on_average() -> None:
    """exp(σ z − ½ σ²) has mean 1 and, of its logarithm, the standard deviation σ."""
    resale = draw_samples(MANY).resale
    assert resale.mean() == pytest.approx(1.0, abs=0.01)
    assert np.log(resale).mean() == pytest.approx(-0.125, abs=0.01)
    assert np.log(resale).std() == pytest.approx(0.5, abs=0.01)


def test_work_slips_by_whole_months_and_never_forward() -> None:
    slip = draw_samples(MANY).slip
    assert slip.min() == 0
    assert (np.diff(slip) >= 0).all()
    # max(0, round(1.5 z)): P(slip = 0) = P(z < 1/3), P(slip = 1) = P(1/3 < z < 1).
    assert (slip == 0).mean() == pytest.approx(0.6306, abs=0.01)
    assert (slip == 1).mean() == pytest.approx(0.2108, abs=0.01)


def test_the_level_of_the_hours_varies_about_its_median() -> None:
    level = np.log(draw_samples(MANY).level)
    assert level.mean() == pytest.approx(0, abs=0.01)
    assert level.std() == pytest.approx(0.3, abs=0.01)


def test_interruptions_change_what_a_useful_spot_hour_costs_by_youngs_overhead() -> None:
    """(1 − √(2 δ / M) − R / M at the mean) over the same at the rate drawn, M = 730 / λ."""
    rough = RiskParameters(
        20_000, 5, spot_interruptions_per_month=20, checkpoint_save_hours=0.1, restart_hours=0.5
    )
    spot = draw_samples(rough).spot
    per_hour = 20 / 730
    at_mean = 1 - (2 * 0.1 * per_hour) ** 0.5 - 0.5 * per_hour
    # Twice the mean rate is at the 96th percentile of a gamma distribution of shape 4.
    twice = 1 - (2 * 0.1 * 2 * per_hour) ** 0.5 - 0.5 * 2 * per_hour
    assert np.quantile(spot, 0.9576) == pytest.approx(at_mean / twice, rel=0.01)
    assert (draw_samples(replace(rough, interruptions_vary=False)).spot == 1.0).all()


def test_a_growth_factor_has_mean_1_and_widens_with_time() -> None:
    z = np.random.default_rng(1).standard_normal(200_000)
    factor = draw_lognormal(z, 0.3, np.array([0.0, 1.0, 2.0]))
    assert factor.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.01)
    assert np.log(factor).std(axis=0) == pytest.approx([0, 0.3, 0.6], abs=0.01)
    assert (draw_lognormal(z[:3], 0.0, np.array([0.0, 5.0])) == 1.0).all()


@pytest.mark.parametrize(
    ("slip", "moved", "without_total"),
    [
        (0, [1, 2, 3, 4], [1, 2, 3, 4]),
        (1, [0, 1, 2, 7], [0, 1, 2, 3]),
        (2, [0, 0, 1, 9], [0, 0, 1, 2]),
        (3, [0, 0, 0, 10], [0, 0, 0, 1]),
        (9, [0, 0, 0, 10], [0, 0, 0, 1]),
    ],
)
def test_work_beyond_the_horizon_is_done_in_its_last_month(
    slip: int, moved: list[float], without_total: list[float]
) -> None:
    hours = np.array([1.0, 2.0, 3.0, 4.0])
    assert shift_months(hours, slip).tolist() == moved
    assert shift_months(hours, slip, keep_total=False).tolist() == without_total


def test_samples_are_costed_inchunks_of_one_slip_of_one_slip() -> None:
    slip = np.repeat([0, 2, 3], [CHUNK + 5, 1, 2])
    n = CHUNK + 5
    assert chunks_of_one_slip(slip) == [
        (slice(0, CHUNK), 0), (slice(CHUNK, n), 0), (slice(n, n + 1), 2), (slice(n + 1, n + 3), 3),
    ]  # fmt: skip


def test_costs_of_samples_are_summed_up_by_scenario() -> None:
    one, other = np.arange(100.0), np.full(100, 30.0)
    parameters = RiskParameters(100, 4)
    keys = (ScenarioKey.SPOT, ScenarioKey.HYBRID)
    found = summarize_risk(keys, np.array([one, other]), 2 * np.array([one, other]), parameters)
    assert found.percentiles[ScenarioKey.SPOT] == pytest.approx((9.9, 49.5, 89.1))
    assert found.total_percentiles[ScenarioKey.SPOT] == pytest.approx((19.8, 99, 178.2))
    assert found.mean == {ScenarioKey.SPOT: 49.5, ScenarioKey.HYBRID: 30.0}
    assert found.cvar_90 == {ScenarioKey.SPOT: 94.5, ScenarioKey.HYBRID: 30.0}
    # Of 0 to 29 the first is cheaper, at 30 both are and the first counts.
    assert found.probability_cheapest == {ScenarioKey.SPOT: 0.31, ScenarioKey.HYBRID: 0.69}
    assert found.regret[ScenarioKey.SPOT] == pytest.approx(sum(range(70)) / 100)
    assert found.regret[ScenarioKey.HYBRID] == pytest.approx(sum(range(31)) / 100)
    assert (found.samples, found.seed) == (100, 4)
    assert summarize_risk((), np.zeros((0, 100)), np.zeros((0, 100)), parameters).mean == {}


def test_the_worst_tenth_of_a_few_samples_is_the_worst_of_them() -> None:
    assert calculate_cvar_90(np.array([3.0, 9.0, 1.0])) == 9.0


def _exposure(**changes: Any) -> Exposure:
    plain = {
        "fixed": 1000.0, "residual": -100.0, "later_commitments": np.array([0.0, 50.0]),
        "hours": np.array([40.0, 40.0]), "width": np.array([1.0, 1.0]),
        "rent": np.array([2.0, 3.0]), "spot": np.zeros(2), "data": np.array([0.5, 0.5]),
        "in_use": np.array([0.1, 0.2]), "spot_share": np.zeros(2),
        "on_demand_rent": np.array([5.0, 5.0]), "max_spot_share": 1.0,
    }  # fmt: skip
    return Exposure(**(plain | changes))


def _cost(exposure: Exposure, hours: list[float], peak: list[float], slip: int = 0) -> float:
    ones = np.ones(1)
    samples = RiskSamples(
        growth=np.zeros(1), price=np.zeros(1), slip=np.array([slip]), spot=ones * 2.0,
        resale=ones * 0.5, level=ones * 3.0,
    )  # fmt: skip
    parameters = RiskParameters(1, 0)
    return float(simulate([exposure], np.array(hours), np.array(peak), parameters, samples)[0, 0])


def test_a_sample_costs_its_units_its_use_and_what_it_rents_besides() -> None:
    """100 h at a peak of 2 are 50 h at peak: units of width 1 serve 40 of 50, 60 are rented."""
    used = 40 * 0.1 + 40 * 0.2
    rented = 60 * (2 + 0.5) + 60 * (3 + 0.5)
    fixed = 1000 + 50 - 100 * 0.5
    assert _cost(_exposure(), [100, 100], [2, 2]) == pytest.approx(fixed + used + rented)


def test_units_serve_no_more_than_their_width_at_the_peak() -> None:
    """100 h at a peak of 5 are 20 h at peak: width 1 serves 20 of the 100."""
    used = 20 * 0.1 + 20 * 0.2
    rented = 80 * (2 + 0.5) + 80 * (3 + 0.5)
    fixed = 1000 + 50 - 50
    assert _cost(_exposure(), [100, 100], [5, 5]) == pytest.approx(fixed + used + rented)


def test_no_more_spot_is_rented_than_the_plan_may() -> None:
    """A half of the 60 rented would be spot at 1 an hour; 20 % of 100 may be, 10 go on demand."""
    exposure = _exposure(
        spot=np.array([0.5, 0.5]), spot_share=np.array([0.5, 0.5]), max_spot_share=0.2
    )
    free = _cost(replace(exposure, max_spot_share=1.0), [100, 100], [2, 2])
    assert free == pytest.approx(1000 + 12 + 60 * 2.5 + 60 * 3.5 + 2 * 2 * 60 * 0.5)
    held = _cost(exposure, [100, 100], [2, 2])
    assert held - free == pytest.approx(2 * (10 * 5.0 - 2.0 * 10 * 1.0))


def test_a_late_sample_does_its_work_in_later_months() -> None:
    """All 200 h fall to month 1, where width 1 at the 50 h of the peak serves 40."""
    fixed = 1000 + 50 - 50
    rented = 160 * (3 + 0.5)
    assert _cost(_exposure(), [100, 100], [2, 2], slip=1) == pytest.approx(fixed + 8 + rented)


def test_samples_of_each_slip_are_work_of_their_own() -> None:
    """One sample late by a month and one that is not: 30 each and 3 · 12 hundredths."""
    ones, meter = np.ones(2), WorkMeter()
    samples = RiskSamples(ones, ones, np.array([0, 1]), ones, ones, ones)
    hours = np.array([100.0, 100.0])
    simulate([_exposure()], hours, hours, RiskParameters(2, 0), samples, meter=meter)
    assert meter.done == 2 * 30
    many = RiskSamples(
        *(np.repeat(x, 100) for x in (ones, ones)),
        np.repeat([0, 1], 100),
        *(np.repeat(x, 100) for x in (ones, ones, ones)),
    )
    simulate([_exposure()], hours, hours, RiskParameters(200, 0), many, meter=meter)
    assert meter.done == 2 * 30 + 2 * (30 + 36)


def test_the_spread_of_an_estimate_is_read_from_its_p10_and_p90() -> None:
    one = compared(risk={"samples": 100, "seed": 9})
    found = one.risk_parameters
    assert found is not None
    assert (found.samples, found.seed, found.hours_sd) == (100, 9, 0.0)
    wide = build_risk_parameters(Risk(), one.inputs.assumptions, (0.5, 2.0))
    assert wide.hours_sd == pytest.approx(np.log(4) / 2.5631)
