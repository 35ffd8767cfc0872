"""What a request and its assumptions say of the spread, and what spreads as defaults."""

from dataclasses import replace

import numpy as np
import pytest

from planner.contract.request.finance import Risk
from planner.costing.analysis.outcomes import (
    PriceDrivers,
    RiskParameters,
    build_risk_parameters,
    draw_outcomes,
)
from planner.costing.analysis.outlook import share_sd
from planner.costing.assumptions.assumptions import Assumptions, default

VALUES = {
    "samples": 500.0, "seed": 7.0, "demand_growth_sd": 0.1, "price_sd": 0.2,
    "slip_months_sd": 1.5, "residual_sd": 0.3, "spot_interruptions_per_month": 4.0,
    "checkpoint_save_hours": 0.25, "restart_hours": 0.5, "demand_half_life_months": 18.0,
    "spot_patience_hours": 12.0, "hours_spread": 0.15,
}  # fmt: skip
ASSUMED = Assumptions(VALUES, (), request_fields=frozenset({"cloud_price_trend_per_year"}))
NOTHING = PriceDrivers((), {})


def test_a_request_s_spread_is_read_from_its_assumptions() -> None:
    found = build_risk_parameters(Risk(), ASSUMED)
    assert (found.samples, found.seed, found.demand_growth_sd) == (500, 7, 0.1)
    assert (found.price_sd, found.slip_months_sd, found.residual_sd) == (0.2, 1.5, 0.3)
    assert (found.spot_interruptions_per_month, found.restart_hours) == (4.0, 0.5)
    assert found.checkpoint_save_hours == 0.25
    assert build_risk_parameters(Risk(seed=0), ASSUMED).seed == 0
    bare = {k: v for k, v in VALUES.items() if k not in ("price_sd", "residual_sd")}
    without = build_risk_parameters(Risk(), Assumptions(bare, ()))
    assert (without.price_sd, without.residual_sd) == (0.0, 0.0)


def test_samples_draw_what_the_request_gives_no_spread_for() -> None:
    found = build_risk_parameters(Risk(), ASSUMED)
    assert (found.demand_half_life_months, found.spot_patience_hours) == (18.0, 12.0)
    assert (found.draws_rental_prices, found.draws_hardware_prices) == (True, True)
    assert found.keeps_price_trend
    waits = default("spot_waiting_hours_training")
    assert found.waiting_sd == pytest.approx(np.log(waits.high / waits.low) / 2.5631)
    rents = build_risk_parameters(Risk(price_sd=0.2), ASSUMED)
    assert (rents.draws_rental_prices, rents.draws_hardware_prices) == (False, True)
    resale = build_risk_parameters(Risk(residual_sd=0.2), Assumptions(VALUES, ()))
    assert (resale.draws_rental_prices, resale.draws_hardware_prices) == (True, False)
    assert not resale.keeps_price_trend


def test_stated_hours_have_a_range_unless_they_are_exact() -> None:
    """p10 to p90 of 0.85 to 1.15; what is sized keeps the range of its estimate."""
    stated = replace(build_risk_parameters(Risk(), ASSUMED), samples=40_000)
    level = draw_outcomes(stated, NOTHING, 1).level
    assert level is not None
    assert level.mean() == pytest.approx(1.0, abs=0.002)
    assert np.quantile(level, (0.1, 0.9)) == pytest.approx([0.85, 1.15], abs=0.003)
    assert draw_outcomes(replace(stated, hours_spread=0.0), NOTHING, 1).level is None
    assert build_risk_parameters(Risk(), ASSUMED, (0.7, 1.6)).level_p10_p90 == (0.7, 1.6)


def test_demand_returns_by_half_in_its_half_life() -> None:
    """φ = ½ and a deviation of 0.5 after a year: s² = ¼ · (1 − ¼) / (1 − ½²⁴)."""
    parameters = RiskParameters(40_000, 11, demand_growth_sd=0.5, demand_half_life_months=1.0)
    logs = np.log(draw_outcomes(parameters, NOTHING, 4).growth)
    step = 0.25 * 0.75 / (1 - 0.5**24)
    variance = np.array([0, step, step * 1.25, step * 1.3125])
    assert logs.var(axis=0) == pytest.approx(variance, abs=0.006)
    assert logs.mean(axis=0) == pytest.approx(-variance / 2, abs=0.008)
    assert np.corrcoef(logs[:, 1], logs[:, 2])[0, 1] == pytest.approx(0.5 / 1.25**0.5, abs=0.02)


def test_demand_rises_with_its_shocks() -> None:
    """x' = ½ x + s z of the first stream of the seed, less half its variance."""
    parameters = RiskParameters(3, 11, demand_growth_sd=0.5, demand_half_life_months=1.0)
    stream = np.random.SeedSequence(11).spawn(4)[0]
    z = np.random.Generator(np.random.PCG64(stream)).standard_normal((3, 3))
    step = (0.25 * 0.75 / (1 - 0.5**24)) ** 0.5
    first, second = step * z[1], step * (0.5 * z[1] + z[2])
    growth = draw_outcomes(parameters, NOTHING, 3).growth
    assert growth[:, 0].tolist() == [1, 1, 1]
    assert np.log(growth[:, 1]) == pytest.approx(first - step**2 / 2)
    assert np.log(growth[:, 2]) == pytest.approx(second - step**2 * 1.25 / 2)


def test_months_without_use_say_nothing_of_the_spread() -> None:
    assert share_sd([0.0, 0.5, 2.0], 1.0) == share_sd([0.5, 2.0], 1.0) != share_sd([0.5], 1.0)


def test_waits_levels_and_slips_have_the_spread_that_is_given() -> None:
    many = RiskParameters(
        40_000,
        3,
        slip_months_sd=1.5,
        hours_p10_p90=(np.exp(-0.3 * 1.28155), np.exp(0.3 * 1.28155)),
        waiting_sd=0.4,
    )
    drawn = draw_outcomes(many, NOTHING, 1)
    assert np.log(drawn.waiting).std() == pytest.approx(0.4, abs=0.01)
    assert drawn.level is not None
    assert np.log(drawn.level).std() == pytest.approx(0.3, abs=0.01)
    assert np.median(drawn.level) == pytest.approx(1.0, abs=0.01)
    assert (drawn.slip.min(), (np.diff(drawn.slip) >= 0).all()) == (0, True)
    assert (drawn.slip == 0).mean() == pytest.approx(0.6306, abs=0.01)
    assert (drawn.slip == 1).mean() == pytest.approx(0.2108, abs=0.01)
    assert drawn.interruptions.mean() == pytest.approx(1.0, abs=0.01)
    assert drawn.interruptions.std() == pytest.approx(0.5, abs=0.01)
