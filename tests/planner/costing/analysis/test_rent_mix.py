"""What a plan rents and at which prices, by hand."""

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category, ScenarioKey
from planner.costing.analysis.plan_costs import (
    RentMix,
    cheapest,
    hours_at_peak,
    planned_rent,
    rent_beyond,
)
from planner.costing.cost_model.charges import HourCharge
from planner.costing.results.scenario_result import Scenario
from tests.planner.costing.analysis.small_inputs import D1, KEEP, inputs_of, rented

ON_DEMAND = rented("od", "on_demand", 16.0, (8.0, 6.0), 0.5)
SPOT = rented("spot", "spot", 8.0, (1.0, 5.0), 0.2)


def inputs(*sources: Any, **fields: Any) -> Any:
    """640 h at a peak of 2, then 100 at 1: 320 h and 100 h at peak."""
    plain = {"hours": np.array([640.0, 100.0]), "peak": np.array([2.0, 1.0]), "fallback": None}
    return inputs_of(*sources, **(plain | fields))


def plan(key: ScenarioKey = ScenarioKey.HYBRID, **used: list[float]) -> Scenario:
    return Scenario(key, True, used_hours={k: np.array(v, float) for k, v in used.items()})


def rates(mix: RentMix) -> dict[tuple[str, str, bool], list[list[float]]]:
    """By source, the source whose price it follows, and whether it is fallback; equal ones add."""
    found: dict[tuple[str, str, bool], Any] = {}
    for part in mix.parts:
        key = (part.source.key, part.driver_key, part.is_fallback)
        found[key] = found.get(key, 0) + part.rate
    return {key: rate.tolist() for key, rate in found.items()}


def near(*rows: tuple[float, float]) -> list[Any]:
    return [pytest.approx(row) for row in rows]


def test_a_peak_lasts_its_hours_over_its_width_or_a_whole_month() -> None:
    hours, peak = np.array([100.0, 50, 0, 0.5]), np.array([2.0, 0, 0, 0])
    assert hours_at_peak(hours, peak).tolist() == [50, 730, 0, 730]


def test_a_mix_is_shared_out_by_hours_and_empty_months_take_what_is_cheaper() -> None:
    """Half of 320 h each; in month 1 spot, whose first price is 1.2 / 8 against 8.5 / 16."""
    mix = planned_rent(plan(od=[10, 0], spot=[20, 0]), inputs(ON_DEMAND, SPOT))
    assert rates(mix) == {
        ("od", "od", False): near((8 * KEEP / 32, 8 * KEEP / 32), (0, 0)),
        ("spot", "spot", False): near(
            (1 * KEEP / 16, 1 * KEEP / 16), (5 * KEEP / 8 * D1, 5 * KEEP / 8)
        ),
    }
    data = (0.5 / 32 + 0.2 / 16) * KEEP
    assert mix.data.tolist() == near((data, data), (0.2 / 8 * KEEP * D1, 0.2 / 8 * KEEP))
    assert mix.spot_share.tolist() == [0.5, 1]
    assert mix.width.tolist() == [1, 0]
    assert mix.node.tolist() == [0, 0]


def test_whole_nodes_are_as_small_as_the_smallest_that_is_rented() -> None:
    used = plan(od=[10, 0], spot=[20, 0])
    mix = planned_rent(used, inputs(ON_DEMAND, SPOT, whole_nodes=True))
    assert mix.node.tolist() == [8, 8]
    mix = planned_rent(plan(od=[10, 0]), inputs(ON_DEMAND, SPOT, whole_nodes=True))
    assert mix.node.tolist() == [16, 8]
    # Of level work the last machine of one accelerator is rented for the hours that are left.
    single = replace(ON_DEMAND, accelerators=1)
    level = inputs(single, whole_nodes=True, is_level=True)
    assert planned_rent(plan(od=[10, 10]), level).node.tolist() == [0, 0]


def test_where_spot_is_barred_empty_months_are_on_demand() -> None:
    one = plan(ScenarioKey.ON_DEMAND, od=[10, 0])
    mix = planned_rent(one, inputs(ON_DEMAND, SPOT))
    assert mix.spot_share.tolist() == [0, 0]
    assert list(rates(mix)) == [("od", "od", False)]
    full = planned_rent(plan(od=[10, 5]), inputs(ON_DEMAND, SPOT))
    assert len(full.parts) == 1


def test_where_nothing_can_be_rented_an_hour_costs_the_average_of_the_plan() -> None:
    lines: Any = (SimpleNamespace(amount=Decimal(400)),)
    served = replace(plan(), cost=300.0, lines=lines, served_hours=np.array([40, 60]))
    assert rates(planned_rent(served, inputs())) == {("", "", False): near((3, 4), (3, 4))}


def test_what_stands_in_for_spot_follows_the_price_on_demand() -> None:
    fallback = HourCharge(Category.COMPUTE, "", "h", 0.5, np.array([4.0, 6.0, 6.0]), True)
    risky = replace(SPOT, hour_charges=(*SPOT.hour_charges, fallback))
    mix = planned_rent(plan(spot=[40, 12.5]), inputs(ON_DEMAND, risky, fallback=ON_DEMAND))
    assert rates(mix)["spot", "od", True] == near(
        (2 * KEEP / 8, 2 * KEEP / 8), (3 * KEEP / 8 * D1, 3 * KEEP / 8)
    )
    assert rates(mix)["spot", "spot", False] == near(
        (1 * KEEP / 8, 1 * KEEP / 8), (5 * KEEP / 8 * D1, 5 * KEEP / 8)
    )
    alone = planned_rent(plan(spot=[40, 12.5]), inputs(risky))
    assert ("spot", "", True) in rates(alone)


OFFER: Any = SimpleNamespace(provider="")


@pytest.mark.parametrize(
    ("fields", "is_bound"),
    [
        ({"offer": OFFER}, False),
        ({"offer": OFFER, "available": np.array([True, True])}, True),
        ({"offer": OFFER, "purchase_option": "capacity_block"}, True),
        ({"available": np.array([True, True])}, False),
        ({"purchase_option": "capacity_block"}, False),
    ],
)
def test_what_is_reserved_by_date_is_not_rented_beyond_the_plan(
    fields: dict[str, Any], is_bound: bool
) -> None:
    block = replace(rented("block", "on_demand", 16.0, (2.0, 2.0)), **fields)
    given = inputs(ON_DEMAND, block)
    one = plan(ScenarioKey.ON_DEMAND, od=[10, 3], block=[10, 3])
    planned = planned_rent(one, given)
    more = rent_beyond(one, given, planned)
    assert (more is not planned) == is_bound
    if is_bound:
        assert list(rates(more)) == [("od", "od", False)]
        assert more.width == pytest.approx(planned.width / 2)
        assert rates(more)["od", "od", False][1] == near((6 * KEEP / 16 * D1, 6 * KEEP / 16))[0]


BESIDE, ALONE = np.array([True]), np.array([False])
"""Whether units serve in the month as well."""


def following(node: float) -> RentMix:
    return RentMix((), np.zeros((1, 2)), np.zeros(1), np.array([20.0]), np.array([node]))


@pytest.mark.parametrize(
    ("node", "needed", "width"),
    [(8, 10, 28), (8, 4.9, 20), (8, 5.1, 28), (0, 10, 29), (8, 0.5, 20), (0, 0.5, 19.5), (8, 0, 0)],
)
def test_as_much_more_or_less_is_rented_as_is_needed(
    node: float, needed: float, width: float
) -> None:
    """One is planned to be lacking, and 20 are rented."""
    found = following(node).follow(np.array([needed]), np.ones(1), ALONE)
    assert found == pytest.approx([width])


@pytest.mark.parametrize(
    ("node", "needed", "planned", "width"),
    [(8, 3, 8, 3), (8, 3, 7, 8), (8, 10, 40, 8), (0, 1, 10, 0)],
)
def test_work_that_is_there_rents_a_node_for_part_of_its_time(
    node: float, needed: float, planned: float, width: float
) -> None:
    one = replace(following(node), width=np.full(1, 8.0))
    assert one.follow(np.array([needed], float), np.full(1, float(planned)), ALONE) == [width]


@pytest.mark.parametrize(("needed", "width"), [(3, 0), (5, 8)])
def test_beside_servers_as_beside_rent_less_than_half_a_node_waits(
    needed: float, width: float
) -> None:
    nothing = replace(following(8), width=np.zeros(1))
    assert nothing.follow(np.array([needed], float), np.zeros(1), BESIDE) == [width]


def test_work_that_slips_into_a_month_without_machines_is_paid_for() -> None:
    nothing = replace(following(8), width=np.zeros(1))
    assert nothing.follow(np.array([3.0]), np.zeros(1), ALONE) == [3]
    assert nothing.follow(np.array([0.0]), np.zeros(1), ALONE) == [0]


def test_the_cheapest_counts_by_all_that_an_hour_costs_and_its_name() -> None:
    """8.5 / 16 against 4.5 / 8 and 4 / 8, and another of that price."""
    dear, near_by = rented("a", "on_demand", 8.0, (4.5, 0.1)), rented("b", "on_demand", 8, (4.0, 9))
    assert cheapest([ON_DEMAND, dear]) is ON_DEMAND
    assert cheapest([ON_DEMAND, dear, near_by]) is near_by
    assert cheapest([replace(near_by, key="c"), near_by]) is near_by
    assert cheapest([]) is None
