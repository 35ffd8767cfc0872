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
from planner.costing.run_peaks import RunPeaks
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
    runs = RunPeaks(np.ones(1), np.ones(1))
    inputs: Any = SimpleNamespace(
        by_key=by_key, job_sizes={"a100": 40}, least_peaks={}, fills_machines=False, runs=runs,
        one_accelerator=True,
    )  # fmt: skip
    assert {group.keys for group in group_by_run(sources, inputs)} == {
        frozenset({"own", "a64"}),
        frozenset({"own", "a8", "a8 reserved"}),
        frozenset({"own", "g8"}),
        frozenset({"own", "g16"}),
    }
    inputs.least_peaks = None
    assert [group.keys for group in group_by_run(sources, inputs)] == [frozenset(sources)]


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


def kept(answer: ComparisonAnswer, edition: int | None) -> list[AssumptionRow]:
    """The assumptions of an answer as one of an edition of runs has them; None: of before any."""
    rows = [row.model_dump() for row in answer.assumptions if row.field != FIELD or edition]
    own = [row | ({"value": edition} if row["field"] == FIELD else {}) for row in rows]
    return [AssumptionRow.model_validate(row) for row in own]


def test_an_answer_of_before_keeps_its_machines() -> None:
    """20B on what its hours come to, on what holds it, and on machines of which none idles."""
    request = asked(TRAININGS["20B"], rules=5)
    today = answered(request)
    at_once, costs = [], []
    for edition in (None, 2, 3, 4):
        answer = answered(request, previous_assumptions=kept(today, edition))
        if edition is None:
            assert FIELD not in {row.field for row in answer.assumptions}
        plan = on_demand_of(answer)
        at_once.append(min(row.accelerators for row in plan.capacity))
        costs.append(plan.total_cost)
    assert at_once == [8, 16, 16, 8]
    assert costs[3] == on_demand_of(today).total_cost
    assert costs[1] == costs[2]
    assert costs[3] < costs[2]
