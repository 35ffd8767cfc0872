"""How the search for the robust plan picks its samples and its neighbouring plans."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.costing.analysis import robust_plan
from planner.costing.analysis.monte_carlo import RiskParameters, draw_samples
from planner.costing.analysis.plan_neighbours import neighbours, signature
from planner.costing.analysis.robust_plan import (
    _argmin_with_ties,
    _RobustSearch,
)
from planner.costing.analysis.simulation import CommonPriceSimulation
from planner.costing.optimizer.work import WorkMeter


def search(n: int, weight: float = 2.0) -> Any:
    """Over `n` samples that cost two scenarios 1, 2, 3… and three times that."""
    parameters = RiskParameters(n, 1)
    inputs: Any = SimpleNamespace(hours=np.array([100.0, 50.0]), peak=np.array([50.0, 50.0]))
    simulation = CommonPriceSimulation(inputs, parameters, draw_samples(parameters))
    one = _RobustSearch(simulation, weight, (), WorkMeter())
    cost = np.arange(1.0, n + 1)
    vars(one).update(cost=np.array([cost, 3 * cost]))
    return one


def test_nine_tenths_are_cut_into_ten_classes_and_the_worst_into_six() -> None:
    one = search(100)
    samples = one._select_model_samples()
    shares = [0.09] * 10 + [0.02, 0.01, 0.02, 0.02, 0.01, 0.02]
    assert [sample.probability for sample in samples] == pytest.approx(shares)
    assert sum(shares) == pytest.approx(1.0)
    assert samples[0].hours.tolist() == [100, 50]
    assert samples[0].spot_factor == 1.0


def test_a_class_is_represented_by_the_sample_nearest_to_its_mean() -> None:
    one = search(10)
    assert one._pick_representative(np.arange(9)) == 4
    assert one._pick_representative(np.array([0, 1, 8])) == 1
    uneven = search(4)
    uneven.__dict__["cost"] = np.array([[100.0, 110, 105, 500], [1.0, 9, 5, 500]])
    assert uneven._pick_representative(np.array([0, 1, 2])) == 2


def test_samples_are_in_the_order_of_what_they_cost_on_average() -> None:
    one = search(3)
    one.__dict__["cost"] = np.array([[1.0, 5, 2], [9.0, 1, 3]])
    assert one.order.tolist() == [2, 1, 0]


def test_changes_are_judged_over_evenly_spaced_samples() -> None:
    few, many = search(2_000), search(5_000)
    assert len(few._polish_samples.samples.slip) == 2_000
    chosen = many.simulation.samples.growth[np.arange(5_000)[1::3]]
    assert many._polish_samples.samples.growth.tolist() == chosen.tolist()


def test_the_objective_is_the_mean_and_the_weighted_worst_tenth() -> None:
    cost = np.arange(20.0)
    assert search(2)._objective(cost) == pytest.approx(9.5 + 2 * 18.5)
    assert search(2, 0.0)._objective(cost) == pytest.approx(9.5)


def test_of_equally_good_plans_the_first_counts() -> None:
    assert _argmin_with_ties([2.0, 1e6, 1.0, 1.0]) == 2
    assert _argmin_with_ties([1e6 + 1e-4, 1e6]) == 0
    assert _argmin_with_ties([-1e6 + 1e-4, -1e6]) == 0
    assert _argmin_with_ties([1e6 + 1e-2, 1e6]) == 1
    assert _argmin_with_ties([np.inf, np.inf]) == 0


def test_plans_are_the_same_that_start_the_same_units() -> None:
    units, nothing = np.array([1, 0]), np.array([0, 0])
    assert signature({"b": units, "a": nothing}) == signature({"b": units.astype(float)})
    assert signature({"a": units, "b": units}) == signature({"b": units, "a": units})
    assert signature({"a": units}) != signature({"a": units[::-1].copy()})


def test_a_share_of_the_work_left_goes_to_the_model_and_then_to_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 1,000 units the model may take 500. Each plan tried takes 100: one, the best again, and
    of its neighbours as many as start before 100 + 0.7 · 900."""
    limits, tried = [], []

    def solve_model(*_: Any, work: WorkMeter, **fields: Any) -> None:
        limits.append(work.limit)

    def evaluate(one: Any, units_started: Any) -> float:
        one.work.charge(100)
        tried.append(units_started)
        return 1.0

    monkeypatch.setattr(robust_plan, "solve_over_samples", solve_model)
    monkeypatch.setattr(_RobustSearch, "_evaluate", evaluate)
    inputs: Any = SimpleNamespace(calendar=SimpleNamespace(months=12))
    simulation: Any = SimpleNamespace(inputs=inputs)
    one = _RobustSearch(simulation, 1.0, (), WorkMeter(1_000))
    vars(one).update(problem=None)
    one._solve_model([])
    assert limits == [500]
    plan = {"a": np.ones(12, np.int64)}
    assert one._polish([plan]) is plan
    assert one.work.done == 800
    assert len(tried) == 8


@pytest.mark.parametrize(("new_cost", "chosen", "same_as"), [(9.0, 0, "hybrid"), (1.0, 1, None)])
def test_a_new_plan_that_is_better_is_a_plan_of_its_own(
    monkeypatch: pytest.MonkeyPatch, new_cost: float, chosen: int, same_as: str | None
) -> None:
    plans: Any = [SimpleNamespace(key="hybrid"), SimpleNamespace(key="hybrid")]
    costs = {id(plans[0]): [5.0] * 20, id(plans[1]): [new_cost] * 20}
    simulation: Any = SimpleNamespace(
        net_present_cost=lambda asked, work: np.array([costs[id(one)] for one in asked]),
        parameters=RiskParameters(20, 7),
    )
    one = _RobustSearch(simulation, 2.0, (plans[0],), WorkMeter())
    monkeypatch.setattr(_RobustSearch, "_select_model_samples", lambda self: [1, 2, 3])
    monkeypatch.setattr(_RobustSearch, "_solve_model", lambda self, samples: None)
    monkeypatch.setattr(_RobustSearch, "_new_plans", lambda self, solution: [plans[1]])
    monkeypatch.setattr(_RobustSearch, "_gap", lambda self, plan, samples, solution: 0.5)
    found = one.best()
    assert (found.scenario is plans[chosen], found.same_as) == (True, same_as)
    assert found.expected == found.cvar_90 == min(5.0, new_cost)
    assert (found.samples, found.seed, found.model_samples, found.gap) == (20, 7, 3, 0.5)


def starts(plans: Any) -> list[dict[str, list[int]]]:
    return [{k: v.tolist() for k, v in plan.items() if v.any()} for plan in plans]


def test_neighbours_have_a_unit_more_fewer_moved_or_of_another_source() -> None:
    plan = {"a": np.array([0, 1, 0])}
    assert starts(neighbours(plan, ["a", "b"], 3)) == [
        {"a": [1, 1, 0]}, {"a": [0, 2, 0]}, {"a": [0, 1, 1]},
        {"a": [0, 1, 0], "b": [1, 0, 0]}, {"a": [0, 1, 0], "b": [0, 1, 0]},
        {"a": [0, 1, 0], "b": [0, 0, 1]},
        {}, {"a": [1, 0, 0]}, {"a": [0, 0, 1]}, {"b": [0, 1, 0]},
    ]  # fmt: skip
    assert plan["a"].tolist() == [0, 1, 0]


def test_over_long_horizons_a_unit_more_is_tried_in_every_third_month() -> None:
    more = starts(neighbours({}, ["a"], 36))
    assert [one["a"].index(1) for one in more] == list(range(0, 36, 3))
