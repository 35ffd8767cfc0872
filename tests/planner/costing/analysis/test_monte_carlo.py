"""Draws of the simulation: their bias, their spread and how they are summed up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.outcomes import (
    RiskParameters,
    draw_lognormal,
    spot_factor,
)
from planner.costing.analysis.plan_costs import shift_months
from planner.costing.analysis.plan_exposure import Exposure, cost_as_planned
from planner.costing.analysis.simulation import (
    CHUNK,
    _first_cheapest,
    calculate_cvar_90,
    chunks_of_one_slip,
    summarize_risk,
)


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


@pytest.mark.parametrize(
    ("peak", "changes", "expected"),
    [
        # 100 h at a peak of 2 are 50 h at peak: units of width 1 serve 40 of 50, 60 are rented.
        (2.0, {}, 950 + 40 * 0.3 + 60 * 2.5 + 60 * 3.5),
        # at a peak of 5 they are 20 h at peak: width 1 serves 20 of the 100.
        (5.0, {}, 950 + 20 * 0.3 + 80 * 2.5 + 80 * 3.5),
        # Half of the 60 rented would be spot at 1 an hour; 20 % of 100 may be, 10 go on demand.
        (
            2.0,
            {"spot": np.full(2, 0.5), "spot_share": np.full(2, 0.5), "max_spot_share": 0.2},
            950 + 12 + 60 * 3.0 + 60 * 4.0 + 2 * 10 * (5.0 - 1.0),
        ),
    ],
)
def test_a_plan_costs_its_units_its_use_and_what_it_rents_besides(
    peak: float, changes: dict[str, Any], expected: float
) -> None:
    hours = np.full(2, 100.0)
    assert cost_as_planned([_exposure(**changes)], hours, np.full(2, peak)) == pytest.approx(
        [expected]
    )


def test_spot_costs_more_the_more_interruptions_lose_of_it() -> None:
    """(1 − √(2 δ / M) − R / M at the mean) over the same at the rate drawn, M = 730 / λ."""
    one = RiskParameters(
        1, 1, spot_interruptions_per_month=20, checkpoint_save_hours=0.1, restart_hours=0.5
    )
    rate = 20 / 730
    usual = 1 - (2 * 0.1 * rate) ** 0.5 - 0.5 * rate
    twice = 1 - (2 * 0.1 * 2 * rate) ** 0.5 - 0.5 * 2 * rate
    assert spot_factor(one, np.array([1.0, 2.0])) == pytest.approx([1.0, usual / twice])
    assert spot_factor(one, np.array([1e6])) == pytest.approx([usual / 0.05])


def test_a_hair_is_a_billionth_of_the_cost() -> None:
    million = np.array([[1e6 + 1e-4], [1e6]])
    assert _first_cheapest(million).tolist() == [0]
    assert _first_cheapest(million + np.array([[1e-2], [0.0]])).tolist() == [1]
    assert _first_cheapest(-million).tolist() == [0]
    assert _first_cheapest(np.array([[1.0], [0.0], [0.0]])).tolist() == [1]
