"""A sized run works on all accelerators of its machines; jobs of a stated size fill them whole."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import AssumptionRow, ComparisonAnswer
from planner.contract.request.rules import PlanRules
from planner.costing.inputs.job_nodes import JobNodes
from planner.sizing.demand import Candidate
from pricing.bundled.catalog import bundled_catalog
from tests.bench.bench_compare import TODAY

FIELD = "workload.run_edition"
SEVENTY = {"parameters": 70e9, "tokens": 1e11, "sequence_length": 4096}
KINDS = ["nvidia-h100-80gb-sxm", "nvidia-h200-141gb-sxm", "nvidia-a100-80gb-sxm"]


def asked(**work: Any) -> dict[str, Any]:
    return {
        "start": "2027-01",
        "horizon_months": 4,
        "cheaper_if": False,
        "workload": {"kind": "training", **SEVENTY, **work},
    }


def answered(request: dict[str, Any], **fields: Any) -> ComparisonAnswer:
    return compare(request, bundled_catalog(), today=TODAY, **fields)


def cost(answer: ComparisonAnswer) -> float:
    total = next(one for one in answer.scenarios if one.key == ScenarioKey.ON_DEMAND).total_cost
    assert total is not None
    return float(total)


def cost_per_hour(answer: ComparisonAnswer) -> float:
    return cost(answer) / answer.demand.total_hours


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
def test_no_accelerator_of_a_machine_idles(kind: str) -> None:
    """70B holds on 19 H100, which leave 5 of three servers of 8 over: the run takes those too, and
    an hour of a job of whole servers costs no less. How many hours it takes depends on its split.
    """
    free = cost_per_hour(answered(asked(accelerator=kind)))
    for size in (24, 40, 80):
        stated = cost_per_hour(answered(asked(accelerator=kind, accelerators_per_job=size)))
        assert stated == pytest.approx(free, rel=0.01)


def test_an_answer_of_before_idles_what_it_idled() -> None:
    request = asked(accelerator=KINDS[0])
    today = answered(request)
    rows = [
        AssumptionRow.model_validate(
            row.model_dump() | ({"value": 2} if row.field == FIELD else {})
        )
        for row in today.assumptions
    ]
    before = cost(answered(request, previous_assumptions=rows))
    assert before / cost(today) == pytest.approx(24 / 19, rel=0.05)


def candidate(least: int) -> Candidate:
    return Candidate(
        accelerator=KINDS[0],
        relative_throughput=1.0,
        min_accelerators=least,
        tensor_parallel=1,
    )


@pytest.mark.parametrize(
    ("is_sized", "stated", "edition", "size"),
    [(True, 1, 3, 1), (True, 1, 2, 19), (True, 24, 3, 24), (False, 1, 3, 19)],
)
def test_multiples_in_which_machines_are_filled(
    is_sized: bool, stated: int, edition: int, size: int
) -> None:
    rules = PlanRules(packs_jobs=True, is_sized=is_sized, accelerators_per_job=stated)
    nodes = JobNodes(rules, (candidate(19),), 80.0, edition)
    assert nodes.packed_sizes == {KINDS[0]: size}
    assert nodes.job_sizes == {KINDS[0]: max(19, stated)}
    assert nodes.min_accelerators == {KINDS[0]: 8.0}
