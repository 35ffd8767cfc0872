"""A plan as samples see it: what it has signed, what it starts later and what it rents."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category, ScenarioKey
from planner.costing.analysis.plan_costs import PlanCosts, measure_plan, measure_units
from planner.costing.cost_model.terms import ChargeTiming, Term
from planner.costing.results.scenario_result import Scenario
from tests.planner.costing.analysis.small_inputs import (
    CALENDAR,
    D1,
    D2,
    KEEP,
    committed,
    inputs_of,
    owned_already,
    per_unit,
    rented,
    to_buy,
)

ON_DEMAND = rented("od", "on_demand", 16.0, (8.0, 6.0))
PLACED = owned_already("a", [1, 1], 4.0, 3.0)
SERVER = to_buy()


def table(*rows: tuple[float, float]) -> Any:
    return pytest.approx(np.array(rows))


@pytest.mark.parametrize(("taxed", "left"), [(True, KEEP), (False, 1.0)])
def test_a_server_is_priced_by_its_purchase_and_its_resale(taxed: bool, left: float) -> None:
    found = measure_units(to_buy(taxes_capital=taxed), CALENDAR)
    assert found.priced == table((1000 * left, 1000 * left), (1000 * left * D1, 1000 * left))
    assert found.residual == table(*[(-200 * left * D2, -200 * left)] * 2)
    assert found.most_resale.tolist() == [5, 5]
    assert found.operating == table((0, 0), (0, 0))
    assert found.hour == table((3 * KEEP, 3 * KEEP), (3 * KEEP * D1, 3 * KEEP))
    assert found.can_start.tolist() == [True, True]


def test_what_operates_a_server_follows_no_price() -> None:
    staff = per_unit(Category.STAFF, 10.0, ChargeTiming.MONTHLY)
    one = replace(SERVER, unit_charges=(*SERVER.unit_charges, staff))
    found = measure_units(one, CALENDAR)
    assert found.operating == table((10 * KEEP * (1 + D1), 20 * KEEP), (10 * KEEP * D1, 10 * KEEP))
    assert found.priced == pytest.approx(measure_units(SERVER, CALENDAR).priced)


def test_a_contract_that_pays_for_a_server_is_part_of_its_price() -> None:
    """Of a loan the interest alone lowers the tax."""
    loan = (
        per_unit(Category.LOAN, -1000.0, ChargeTiming.START),
        per_unit(Category.INTEREST, 40.0, ChargeTiming.START),
    )
    one = replace(SERVER, unit_charges=(*SERVER.unit_charges, *loan))
    change, due = measure_units(one, CALENDAR).priced, 40 * KEEP - 1000
    assert change - measure_units(SERVER, CALENDAR).priced == table((due, due), (due * D1, due))


def test_what_follows_the_price_paid_moves_with_its_own_trend() -> None:
    support = replace(
        per_unit(Category.SUPPORT, 10.0, ChargeTiming.MONTHLY),
        unit_price=np.array([10.0, 8.0, 6.0]), fixed_at_start=True,
        by_month=np.array([1.0, 2.0, 4.0]),
    )  # fmt: skip
    assert support.amounts(Term(2, 3, 0, 60)) == table((10, 20, 0), (0, 16, 0))


def test_a_commitment_is_priced_as_a_whole() -> None:
    found = measure_units(committed(upfront=100.0), CALENDAR)
    assert found.priced == table(
        ((1460 * (1 + D1) + 100) * KEEP, (2 * 1460 + 100) * KEEP),
        ((1460 + 100) * D1 * KEEP, (1460 + 100) * KEEP),
    )
    assert found.operating == table((0, 0), (0, 0))
    assert found.residual == table((0, 0), (0, 0))
    assert found.hour == table((0.6 * KEEP, 0.6 * KEEP), (0.6 * KEEP * D1, 0.6 * KEEP))


def measured(
    *sources: Any, hours: Any = (20_000.0, 60_000.0), peak: Any = (40.0, 100.0), **plan: Any
) -> PlanCosts:
    """500 h and 600 h at peak."""
    inputs = inputs_of(
        *sources, hours=np.array(hours), peak=np.array(peak), fallback=None,
        whole_nodes=plan.get("whole_nodes", False),
    )  # fmt: skip
    scenario = Scenario(
        ScenarioKey.HYBRID,
        feasible=True,
        served_hours=np.array(hours),
        units_started={k: np.array(v) for k, v in plan.get("started", {}).items()},
        used_hours={k: np.array(v, float) for k, v in plan.get("used", {}).items()},
    )
    units = {one.key: measure_units(one, CALENDAR) for one in sources if one.term is not None}
    return measure_plan(scenario, inputs, units)


def test_what_is_there_and_what_starts_at_once_is_signed() -> None:
    """A server of 4 in place, one of 16 bought at once and two in month 1."""
    found = measured(PLACED, SERVER, ON_DEMAND, started={"server": [1, 2]})
    assert found.fixed == pytest.approx([10 * KEEP * (1 + D1) + 1000 * KEEP, (20 + 1000) * KEEP])
    assert {one.key: one.value.tolist() for one in found.residual} == {
        "a": pytest.approx([-200 * KEEP * D2, -200 * KEEP]),
        "server": pytest.approx([-200 * KEEP * D2, -200 * KEEP]),
    }
    assert found.width.tolist() == [20, 20]
    assert found.hours.tolist() == [20 * 730, 20 * 730]
    (later,) = found.later
    assert (later.source.key, later.month, later.units) == ("server", 1, 2)
    assert later.service(1).tolist() == [0, 1]
    assert later.service(0).tolist() == [1, 1]


def test_units_that_end_before_the_horizon_serve_until_then() -> None:
    found = measured(committed(months=1), ON_DEMAND, started={"reserved": [3, 0]})
    assert found.width.tolist() == [48, 0]
    assert found.hours.tolist() == [48 * 730, 0]
    assert found.lacking == pytest.approx([0, 100])
    assert found.in_use.tolist()[1] == [0, 0]


def test_later_starts_are_in_their_order() -> None:
    found = measured(SERVER, committed(), started={"server": [0, 1], "reserved": [0, 2]})
    assert [(c.source.key, c.month, c.units) for c in found.later] == [
        ("reserved", 1, 2), ("server", 1, 1),
    ]  # fmt: skip


def test_units_lack_what_they_cannot_serve_at_the_peak() -> None:
    """10,000 of 20,000 h are served within 20 of width for 500 h; then 52 for 600 h, 31,200 of
    60,000 h."""
    found = measured(PLACED, SERVER, ON_DEMAND, started={"server": [1, 2]})
    assert found.lacking == pytest.approx([20, 48])
    assert found.usable.tolist() == [1, 1]
    few_hours = measured(PLACED, hours=(20_000, 3_000), peak=(40, 4))
    assert few_hours.lacking == pytest.approx([(20_000 - 4 * 500) / 500, (3_000 - 2_920) / 750])
    before_a_start = measured(
        PLACED, SERVER, started={"server": [0, 2]}, hours=(3_000, 3_000), peak=(4, 40)
    )
    assert before_a_start.lacking == pytest.approx([(3_000 - 2_920) / 750, 300 / 75])
    plenty = measured(PLACED, hours=(100, 0), peak=(1, 0))
    assert plenty.lacking.tolist() == [0, 0]
    assert plenty.usable.tolist() == [1, 1]


def test_a_plan_that_rents_although_units_idle_uses_a_share_of_them() -> None:
    """It rents 625 · 16 h as it must, then 3,000 · 16 of 60,000 h: 12,000 of 31,200 are used."""
    found = measured(
        PLACED, SERVER, ON_DEMAND, started={"server": [1, 2]}, used={"od": [625, 3000]}
    )
    assert found.rent.width == pytest.approx([20, 80])
    assert found.usable == pytest.approx([1, 12_000 / 31_200])
    assert found.lacking == pytest.approx([20, 80])
    assert found.more is found.rent
    all_rented = measured(
        PLACED, SERVER, ON_DEMAND, started={"server": [1, 2]}, used={"od": [625, 5000]}
    )
    assert all_rented.usable.tolist() == [1, 0]
    assert measured(ON_DEMAND, used={"od": [5000, 5000]}).usable.tolist() == [1, 1]


def test_an_hour_of_units_costs_the_plan_s_mix_or_the_average_in_service() -> None:
    other = owned_already("b", [1, 1], 2.0, 5.0)
    found = measured(
        PLACED, other, SERVER, started={"server": [1, 2]}, used={"a": [10, 0], "b": [20, 0]}
    )
    mixed = (10 * 3 + 20 * 5) * KEEP / (10 * 4 + 20 * 2)
    service = (3 + 5 + 3 * 3) * KEEP / (4 + 2 + 3 * 16)
    assert found.in_use == table((mixed, mixed), (service * D1, service))
    narrow = [owned_already(key, [1, 1], 0.25, hour) for key, hour in (("a", 3.0), ("b", 5.0))]
    found = measured(*narrow, used={"a": [2, 0], "b": [1, 0]})
    assert found.in_use == table(*[(44 / 3 * KEEP, 44 / 3 * KEEP), (16 * KEEP * D1, 16 * KEEP)])


def test_beyond_spot_s_share_the_cheapest_on_demand_is_rented() -> None:
    dear = rented("dear", "on_demand", 16.0, (9.0, 1.0))
    found = measured(ON_DEMAND, dear)
    (part,) = found.on_demand.parts
    assert part.source is ON_DEMAND
    assert part.rate == table((8 * KEEP / 16, 8 * KEEP / 16), (6 * KEEP / 16 * D1, 6 * KEEP / 16))
