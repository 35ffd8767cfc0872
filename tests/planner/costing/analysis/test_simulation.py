"""Samples as the optimiser sees them, and what is drawn of prices."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.costing.analysis.outcomes import Outcomes, PriceDrivers, RiskParameters, draw_outcomes
from planner.costing.analysis.simulation import Simulation
from planner.costing.price_processes.process import PriceKind, PriceProcess
from tests.planner.costing.analysis.small_inputs import inputs_of

KINDS = (PriceKind.LIST, PriceKind.SPOT, PriceKind.HARDWARE, PriceKind.COMMITMENT)
PROCESSES = tuple(
    PriceProcess("h100", kind, "training", changes_per_year=2.0, shock_sd=0.3) for kind in KINDS
)
DRIVERS = PriceDrivers(PROCESSES, {"od": 0, "spot": 1, "server": 2})


def inputs(*sources: Any, **fields: Any) -> Any:
    """100 h at a peak of 2, then 60 at 3: 50 h and 20 h at peak."""
    plain = {"hours": np.array([100.0, 60.0]), "peak": np.array([2.0, 3.0]), "fallback": None}
    return inputs_of(*sources, **(plain | fields))


def one_sample(drivers: PriceDrivers = DRIVERS, slip: int = 0, **changes: Any) -> Any:
    """Rents at 2 and 4, spot at 1 and 9, hardware at 5, commitments at 4 and 8."""
    rows = [[2, 4, 7], [1, 9, 7], [5, 5, 5], [4, 8, 7]]
    prices = np.array(rows, float)[:, None, :][: len(drivers.processes)]
    plain = {
        "slip": np.array([slip]), "growth": np.array([[1.0, 1.5]]), "prices": prices,
        "is_rent": drivers.is_rent, "interruptions": np.ones(1), "waiting": np.ones(1),
        "lost": np.array([1.25]),
    }  # fmt: skip
    parameters = RiskParameters(1, 1, spot_patience_hours=3.0)
    outcomes = Outcomes(**(plain | changes))
    return Simulation(inputs(), parameters, drivers, outcomes)


def test_what_moves_plans_is_what_the_inputs_and_the_request_say() -> None:
    market = one_sample().market
    assert (market.hours.tolist(), market.peak.tolist()) == ([100, 60], [2, 3])
    assert market.drivers == {"od": 0, "spot": 1, "server": 2}
    assert (market.max_spot_share, market.spot_patience_hours) == (1.0, 3.0)


FEW = RiskParameters(400, 5, price_sd=0.2, residual_sd=0.3)


def paths(**fields: Any) -> Any:
    return draw_outcomes(replace(FEW, **fields), DRIVERS, 12).prices


def test_a_spread_of_resale_values_moves_the_end_alone() -> None:
    hardware = paths(draws_hardware_prices=False)[2]
    assert (hardware[:, :12] == 1).all()
    logs = np.log(hardware[:, 12])
    assert (logs.mean(), logs.std()) == pytest.approx((-0.045, 0.3), abs=0.05)
    assert (paths(draws_hardware_prices=False)[0] == paths()[0]).all()


def test_a_spread_of_rents_moves_all_rents_as_one() -> None:
    """exp(σ z t / 12 − ½ (σ t / 12)²): after a year σ = 0.2, and the same z for each."""
    drawn = paths(draws_rental_prices=False)
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] == drawn[3]).all()
    assert (drawn[2] == paths()[2]).all()
    z = (np.log(drawn[0][:, 12]) + 0.5 * 0.2**2) / 0.2
    assert (z.mean(), z.std()) == pytest.approx((0, 1), abs=0.15)
    assert np.log(drawn[0][:, 6]) == pytest.approx(0.1 * z - 0.5 * 0.1**2)
