"""How far a figure moves before another plan is no dearer, where the plans' costs are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis import turning_points
from planner.costing.analysis.turning_points import TurningPoint, find_turning_points
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter

HYBRID, ON_PREM, SPOT = ScenarioKey.HYBRID, ScenarioKey.ON_PREM, ScenarioKey.SPOT
HOURS, RENTS, SERVERS = "workload.hours", "rental_prices", "on_prem.servers.unit_price"
CASE = 300 * (1 + 2 * 50 / 100) / 4
"""Units of work for the plans in one case: two sources, 50 months."""
Costs = Callable[[str, float], Sequence[float]]


class Inputs(SimpleNamespace):
    """Two sources over 50 months, and which figure is moved to where."""

    moved = ("", 1.0)

    def select_sources(self, keys: set[str]) -> Inputs:
        self.selected.append(keys)
        return self


def points(
    monkeypatch: pytest.MonkeyPatch,
    costs: Costs,
    to_buy: tuple[str, ...] = (),
    work: WorkMeter | None = None,
    net: Sequence[float] = (1.0, 2.0, 3.0),
) -> list[TurningPoint]:
    def change(field: str) -> Callable[[Any, float], Any]:
        return lambda inputs, multiplier: SimpleNamespace(moved=(field, multiplier))

    monkeypatch.setattr(
        turning_points, "_CHANGES", {field: change(field) for field in turning_points._CHANGES}
    )
    monkeypatch.setattr(turning_points, "cost_plans", lambda plans, inputs: costs(*inputs.moved))
    inputs: Any = Inputs(
        sources=(0, 0), calendar=SimpleNamespace(length=50), selected=[],
        servers=SimpleNamespace(to_buy=to_buy),
    )  # fmt: skip
    plans: Any = {
        key: SimpleNamespace(
            key=key, feasible=True, net_present_cost=cost, units_started={f"u{cost}": 1},
            used_hours={f"h{cost}": 1},
        )
        for key, cost in zip((HYBRID, ON_PREM, SPOT), net, strict=True)
    }  # fmt: skip
    found = find_turning_points(inputs, plans, HYBRID, work)
    assert inputs.selected in ([], [{f"{kind}{cost}" for kind in "uh" for cost in net}])
    return found


def crossing(field: str, *at: float) -> Costs:
    """Of one figure alone: another plan is the cheaper one beyond the first, a third below the
    second."""

    def costs(moved: str, multiplier: float) -> Sequence[float]:
        if moved != field:
            return 0.0, 1.0, 1.0
        below = multiplier < at[1] if len(at) > 1 else False
        return 1.0, 0.0 if multiplier >= at[0] else 2.0, 0.0 if below else 2.0

    return costs


def test_what_moves_is_the_demand_the_rents_and_the_servers() -> None:
    assert dict(turning_points._CHANGES) == {
        HOURS: ModelInputs.with_demand,
        RENTS: ModelInputs.with_rental_prices,
        SERVERS: ModelInputs.with_unit_prices,
    }


def test_a_turning_point_is_found_to_a_128th_of_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """2.1 = 4^(0.5352): the next of 128 steps is the 69th."""
    work = WorkMeter()
    (point,) = points(monkeypatch, crossing(RENTS, 2.1), work=work)
    assert (point.field, point.scenario) == (RENTS, ON_PREM)
    assert point.multiplier == pytest.approx(4 ** (69 / 128))
    # Of rents 1, both ends and seven halvings; of hours, which turn nothing, 1 and both ends.
    assert work.done == (10 + 3) * CASE


def test_the_nearest_point_comes_first_whichever_way_it_lies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """0.7 = 4^(−0.2573), the 33rd step, lies nearer than 2.1."""
    found = points(monkeypatch, crossing(HOURS, 2.1, 0.7))
    assert [(p.scenario, p.multiplier) for p in found] == [
        (SPOT, pytest.approx(4 ** (-33 / 128))), (ON_PREM, pytest.approx(4 ** (69 / 128))),
    ]  # fmt: skip
    found = points(monkeypatch, crossing(HOURS, 1.2, 0.7))
    assert [p.scenario for p in found] == [ON_PREM, SPOT]


def test_beyond_a_quarter_and_four_times_nothing_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert points(monkeypatch, crossing(HOURS, 4.1, 0.24)) == []
    (far,) = points(monkeypatch, crossing(HOURS, 4.0))
    assert far.multiplier == 4.0


def test_prices_of_servers_move_where_some_can_be_bought(monkeypatch: pytest.MonkeyPatch) -> None:
    assert points(monkeypatch, crossing(SERVERS, 1.5)) == []
    (point,) = points(monkeypatch, crossing(SERVERS, 1.5), to_buy=("server",))
    assert point.field == SERVERS


def test_without_another_plan_or_where_the_advised_one_is_dearer_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert points(monkeypatch, crossing(HOURS, 2.1), net=(1.0, 1.0, 1.0)) == []
    work = WorkMeter()
    assert points(monkeypatch, crossing(HOURS, 0.9), work=work) == []
    assert work.done == (1 + 3) * CASE
    # With one other plan there is.
    assert len(points(monkeypatch, crossing(HOURS, 2.1), net=(1.0, 2.0, 1.0))) == 1


def test_points_found_before_the_work_is_spent_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    work = WorkMeter(10 * CASE)
    assert len(points(monkeypatch, crossing(HOURS, 2.1), work=work)) == 1
    assert points(monkeypatch, crossing(HOURS, 2.1), work=WorkMeter(9 * CASE)) == []
