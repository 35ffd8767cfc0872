"""A training takes at once what its kind of accelerator needs, of machines that are alike."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.comparison import compare, solve
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import AssumptionRow, ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.costing.analysis.sensitivity import cost_plans
from planner.costing.run_machines import group_by_run
from pricing.bundled.catalog import bundled_catalog
from tests.bench.bench_compare import TODAY

TRAININGS: dict[str, dict[str, Any]] = {
    "70B": {"parameters": 70e9, "tokens": 1e9},
    "20B": {"parameters": 20e9, "tokens": 1e9},
    "405B with adapters": {"parameters": 405e9, "tokens": 1e8, "optimizer": "lora"},
    "7B in jobs of 40": {"parameters": 7e9, "tokens": 1e9, "accelerators_per_job": 40},
}
TRAININGS["70B in jobs"] = TRAININGS["70B"] | {"accelerators_per_job": 60}
FIELD = "workload.run_edition"
MOVED = ("growth", "prices", "lost")


def asked(work: dict[str, Any], **fields: Any) -> dict[str, Any]:
    plain = {"start": "2027-01", "horizon_months": 3, "cheaper_if": False}
    return plain | {"workload": {"kind": "training", **work}} | fields


def on_demand_of(answer: ComparisonAnswer) -> ScenarioAnswer:
    return next(one for one in answer.scenarios if one.key == "on_demand")


def answered(request: dict[str, Any], **fields: Any) -> ComparisonAnswer:
    return compare(request, bundled_catalog(), today=TODAY, **fields)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TRAININGS)
def test_every_plan_holds_the_training_on_machines_of_one_kind(name: str) -> None:
    work = TRAININGS[name]
    answer = answered(asked(work))
    least = {c.accelerator: c.min_accelerators for c in answer.demand.candidates}
    kinds = {key: one.accelerator for key, one in answer.offers.items()}
    machines = {key: (one.provider, one.accelerator_count) for key, one in answer.offers.items()}
    plans = [plan for plan in answer.scenarios if plan.feasible]
    assert plans
    for plan in plans:
        at_once: dict[int, float] = defaultdict(float)
        for row in plan.capacity:
            at_once[row.month] += row.accelerators
        (kind,) = {kinds[row.source] for row in plan.capacity}
        needed = max(least[kind], work.get("accelerators_per_job", 1))
        assert min(at_once.values()) >= needed * (1 - 1e-6), "to the solver's tolerance"
        used = {machines[row.source] for row in plan.capacity}
        assert len(used) == 1 or min(count for _, count in used) >= needed


def test_one_run_keeps_to_one_size_of_machine() -> None:
    """Beside servers of one's own, and on any machines that each hold it."""
    sources = {
        "own": ("", 8, True), "a8": ("aws", 8, False), "a8 reserved": ("aws", 8, False),
        "g8": ("gcp", 8, False), "g16": ("gcp", 16, False), "a64": ("aws", 64, False),
    }  # fmt: skip
    by_key = {
        key: SimpleNamespace(
            accelerator="a100", provider=provider, accelerators=count, is_owned=owned, existing=None
        )
        for key, (provider, count, owned) in sources.items()
    }
    inputs: Any = SimpleNamespace(by_key=by_key, job_sizes={"a100": 40}, least_peaks={})
    assert {frozenset(group) for group in group_by_run(sources, inputs)} == {
        frozenset({"own", "a64"}),
        frozenset({"own", "a8", "a8 reserved"}),
        frozenset({"own", "g8"}),
        frozenset({"own", "g16"}),
    }
    inputs.least_peaks = None
    assert list(group_by_run(sources, inputs)) == [frozenset(sources)]


def test_samples_cost_what_the_plan_costs_where_nothing_varies() -> None:
    """Forty cards where 32 would do the hours: the same hours in less time, in the samples too."""
    limits = {"accelerators": ["A100 40GB SXM"]}
    request = asked(TRAININGS["70B in jobs"], constraints=limits)
    results = solve(request, bundled_catalog(), TODAY)
    assert results.inputs.least_peaks
    plans = [plan for plan in results.scenarios.values() if plan.feasible]
    for plan, cost in zip(plans, cost_plans(plans, results.inputs), strict=True):
        assert cost == pytest.approx(plan.cost, abs=0.01)
    simulation = results.simulation
    assert simulation is not None
    sure = replace(
        simulation.outcomes,
        **{name: np.ones_like(getattr(simulation.outcomes, name)) for name in MOVED},
        slip=np.zeros_like(simulation.outcomes.slip),
        level=None,
    )
    on_demand = results.scenarios[ScenarioKey.ON_DEMAND]
    costs = replace(simulation, outcomes=sure).net_present_cost([on_demand])
    assert costs[0] == pytest.approx(on_demand.cost, rel=1e-6)


def test_an_answer_of_before_keeps_its_machines() -> None:
    request = asked(TRAININGS["20B"])
    today = answered(request)
    rows = [row for row in today.assumptions if row.field != FIELD]
    assert len(rows) == len(today.assumptions) - 1
    previous = [AssumptionRow.model_validate(row.model_dump()) for row in rows]
    before = answered(request, previous_assumptions=previous)
    assert FIELD not in {row.field for row in before.assumptions}
    fewest = [
        min(row.accelerators for row in on_demand_of(answer).capacity) for answer in (before, today)
    ]
    assert fewest == [8, 16]
