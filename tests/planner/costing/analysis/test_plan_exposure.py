"""What a plan is exposed to, each part costed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.plan_exposure import Exposure, measure_exposures
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.results.scenario_result import Scenario
from tests.planner.costing.analysis.small_inputs import (
    D1,
    D2,
    KEEP,
    committed,
    inputs_of,
    owned_already,
    rented,
    to_buy,
)

DISCOUNT = np.array([1.0, D1])
ON_DEMAND = rented("od", "on_demand", 16.0, (8.0, 6.0), 0.5)
SPOT = rented("spot", "spot", 8.0, (1.0, 5.0))


def exposed(
    *sources: CapacitySource,
    started: dict[str, list[int]] | None = None,
    used: dict[str, list[float]] | None = None,
    served: tuple[float, float] = (0.0, 0.0),
    key: ScenarioKey = ScenarioKey.HYBRID,
    cost: float = 0.0,
    **fields: Any,
) -> Exposure:
    plan = Scenario(
        key,
        feasible=True,
        cost=cost,
        served_hours=np.array(served),
        units_started={k: np.array(v) for k, v in (started or {}).items()},
        used_hours={k: np.array(v, dtype=float) for k, v in (used or {}).items()},
    )
    return measure_exposures([plan], inputs_of(*sources, **fields))[0]


@pytest.mark.parametrize(("taxed", "left"), [(True, KEEP), (False, 1.0)])
def test_servers_already_owned_are_operated_and_resold(taxed: bool, left: float) -> None:
    found = exposed(owned_already("a", [2, 1], 4.0, 3.0, taxes_capital=taxed))
    assert found.fixed == pytest.approx((2 * 10 + 1 * 10 * D1) * KEEP)
    assert found.residual == pytest.approx(-2 * 100 * left * D2)
    assert found.hours.tolist() == [2 * 730 * 4, 730 * 4]
    assert found.width.tolist() == [8, 4]
    assert found.later_commitments.tolist() == [0, 0]


def test_an_hour_used_of_units_costs_their_mix_and_what_is_idle_costs_the_average() -> None:
    one, other = owned_already("a", [2, 1], 4.0, 3.0), owned_already("b", [1, 1], 2.0, 5.0)
    found = exposed(one, other, used={"a": [100, 0], "b": [50, 0]})
    in_first = (100 * 3 + 50 * 5) * KEEP / (100 * 4 + 50 * 2)
    in_service = (1 * 3 + 1 * 5) * KEEP * D1 / (4 + 2)
    assert found.in_use == pytest.approx([in_first, in_service])


@pytest.mark.parametrize(("taxed", "left"), [(True, KEEP), (False, 1.0)])
def test_a_server_bought_is_fixed_but_for_its_resale(taxed: bool, left: float) -> None:
    found = exposed(to_buy(taxes_capital=taxed), started={"server": [1, 2]})
    assert found.fixed == pytest.approx((1 * 1000 + 2 * 1000 * D1) * left)
    assert found.residual == pytest.approx(-3 * 200 * left * D2)
    assert found.hours.tolist() == [730 * 16, 3 * 730 * 16]
    assert found.later_commitments.tolist() == [0, 0]


def test_commitments_started_later_follow_the_prices_and_those_at_once_do_not() -> None:
    found = exposed(committed(), started={"reserved": [1, 2]})
    assert found.fixed == pytest.approx(730 * 2 * (1 + D1) * KEEP)
    assert found.later_commitments == pytest.approx([0, 2 * 730 * 2 * D1 * KEEP])
    assert found.residual == 0


def test_a_commitment_that_is_not_started_exposes_to_nothing() -> None:
    found = exposed(committed(), started={"reserved": [0, 0]})
    assert (found.fixed, found.hours.tolist(), found.width.tolist()) == (0, [0, 0], [0, 0])


def test_rents_are_the_plan_s_mix_and_where_it_rents_nothing_the_cheaper_way() -> None:
    """16 · 10 h on demand and 8 · 20 h of spot; in month 1 an hour on demand is 6.5 / 16."""
    found = exposed(ON_DEMAND, SPOT, used={"od": [10, 0], "spot": [20, 0]})
    assert found.rent == pytest.approx([10 * 8 * KEEP / 320, 6 / 16 * KEEP * D1])
    assert found.spot == pytest.approx([20 * 1 * KEEP / 320, 0])
    assert found.data == pytest.approx([10 * 0.5 * KEEP / 320, 0.5 / 16 * KEEP * D1])
    assert found.spot_share.tolist() == [0.5, 0.0]
    assert found.on_demand_rent == pytest.approx(np.array([8, 6]) / 16 * KEEP * DISCOUNT)
    assert found.max_spot_share == 1.0


def test_where_spot_is_cheaper_it_is_what_a_sample_rents_beyond_the_plan() -> None:
    found = exposed(ON_DEMAND, SPOT)
    assert found.spot == pytest.approx([1 / 8 * KEEP, 0])
    assert found.rent == pytest.approx([0, 6 / 16 * KEEP * D1])
    assert found.spot_share.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rent", "spot_data", "share"),
    [
        (7.0, 1.4, 1),
        (7.0, 1.5, 0),
        (7.0, 1.7, 0),
        (8.0, 0.0, 1),
        (9.0, 0.0, 0),
        (8.6, 0.0, 0),
        (8.4, 0.0, 1),
    ],
)
def test_rent_and_data_decide_together_what_is_cheaper(
    rent: float, spot_data: float, share: int
) -> None:
    """An hour on demand is 8 and 0.5 of data."""
    spot = rented("spot", "spot", 16.0, (rent, rent), spot_data)
    assert exposed(ON_DEMAND, spot).spot_share[0] == share


@pytest.mark.parametrize(
    "barred",
    [
        {"key": ScenarioKey.ON_DEMAND},
        {"max_spot_share": 0.0},
        {"interruptible": False},
        {"spot": rented("spot", "spot", 8.0, (1.0, 5.0), available=np.array([True, True]))},
    ],
)
def test_no_spot_where_the_plan_may_rent_none(barred: dict[str, Any]) -> None:
    spot = barred.pop("spot", SPOT)
    found = exposed(ON_DEMAND, spot, **barred)
    assert found.spot.tolist() == [0, 0]
    assert found.rent == pytest.approx(np.array([8, 6]) / 16 * KEEP * DISCOUNT)


def test_beyond_the_plan_the_offer_counts_that_is_cheapest_in_the_first_month() -> None:
    """By rent alone and by capacity: 7.9 / 16 is less than 8 / 16 and than 4 / 8."""
    later_dear = rented("dear", "on_demand", 16.0, (7.9, 60.0), 5.0)
    small = rented("small", "on_demand", 8.0, (4.0, 1.0))
    found = exposed(ON_DEMAND, later_dear, small)
    assert found.on_demand_rent == pytest.approx(np.array([7.9, 60]) / 16 * KEEP * DISCOUNT)
    assert found.data == pytest.approx(5 / 16 * KEEP * DISCOUNT)


def test_without_an_offer_an_hour_costs_the_scenario_s_average() -> None:
    found = exposed(to_buy(), started={"server": [1, 0]}, served=(300.0, 100.0), cost=800.0)
    assert found.on_demand_rent.tolist() == [2.0, 2.0]
    assert found.data.tolist() == [0.0, 0.0]
    assert exposed(to_buy(), cost=800.0).on_demand_rent.tolist() == [0.0, 0.0]


def test_what_whole_nodes_rent_beside_the_need_is_part_of_its_price() -> None:
    """Of 100 asked 5 · 4 are served by units: 80 hours bear the price of the 160 rented."""
    fleet = owned_already("a", [1, 1], 4.0, 3.0)
    found = exposed(
        fleet, ON_DEMAND, SPOT, whole_nodes=True, served=(100.0, 50.0),
        used={"a": [5, 0], "od": [5, 0], "spot": [10, 0]},
    )  # fmt: skip
    assert found.rent[0] == pytest.approx(5 * 8 * KEEP / 80)
    assert found.spot[0] == pytest.approx(10 * 1 * KEEP / 80)
    assert found.spot_share[0] == pytest.approx(0.5)
    loose = exposed(ON_DEMAND, served=(100.0, 50.0), used={"od": [10, 0]})
    assert loose.rent[0] == pytest.approx(10 * 8 * KEEP / 160)


def test_where_units_serve_all_whole_nodes_rent_at_the_price_of_an_hour() -> None:
    fleet = owned_already("a", [1, 1], 4.0, 3.0)
    found = exposed(
        fleet, ON_DEMAND, whole_nodes=True, served=(15.0, 0.0), used={"a": [5, 0], "od": [1, 0]}
    )
    assert found.rent == pytest.approx(np.array([8, 6]) / 16 * KEEP * DISCOUNT)


def test_a_part_of_an_hour_is_rented_at_the_price_of_an_hour() -> None:
    half = exposed(ON_DEMAND, SPOT, used={"od": [1 / 32, 0]})
    assert half.rent[0] == pytest.approx(8 / 16 * KEEP)
    assert half.spot[0] == 0
    found = exposed(ON_DEMAND, used={"od": [1 / 32, 0]})
    assert found.rent == pytest.approx(np.array([8, 6]) / 16 * KEEP * DISCOUNT)
