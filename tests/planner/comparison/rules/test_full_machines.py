"""A sized run works on every accelerator of the machines that it rents, however few hold it."""

from __future__ import annotations

from math import ceil
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import AssumptionRow, ComparisonAnswer
from planner.contract.request.rules import PlanRules
from planner.costing.inputs.job_nodes import JobNodes
from planner.costing.run_machines import group_by_run, peak_of
from planner.costing.run_peaks import RunPeaks
from pricing.bundled.catalog import bundled_catalog
from pricing.market.snapshot import Catalog
from tests.bench.bench_compare import TODAY
from tests.planner.costing.market_of import catalog, offer

FIELD = "workload.run_edition"
EIGHT = {"model": "Llama-3.1-8B", "optimizer": "adamw", "accelerator": "H100"}
YEAR = {"runs": [{"start": "2027-01", "deadline": "2027-12"}]}
USD_PER_ACCELERATOR = 4


def asked(work: dict[str, Any], **fields: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {"start": "2027-01", "horizon_months": 12}
    plain |= {"cheaper_if": False, "sensitivity": False}
    return plain | {"workload": {"kind": "training", **work}} | fields


def answered(
    request: dict[str, Any], market: Catalog | None = None, edition: int | None = None
) -> ComparisonAnswer:
    market = market or bundled_catalog()
    answer = compare(request, market, today=TODAY)
    if edition is None:
        return answer
    rows = [
        AssumptionRow.model_validate(
            row.model_dump() | ({"value": edition} if row.field == FIELD else {})
        )
        for row in answer.assumptions
    ]
    return compare(request, market, today=TODAY, previous_assumptions=rows)


def cost(answer: ComparisonAnswer, key: ScenarioKey = ScenarioKey.ON_DEMAND) -> float:
    plan = next(one for one in answer.scenarios if one.key == key)
    assert plan.total_cost is not None
    return float(plan.total_cost)


def sold(count: int) -> Catalog:
    """H100 in machines of one size, at the same price for each of their accelerators."""
    price = f"{USD_PER_ACCELERATOR * count}"
    return catalog(offer(price, count=count, instance_type=f"h100.{count}", network_gbps=400.0))


def test_the_run_takes_the_whole_machine_that_it_pays_for() -> None:
    """Three H100 hold it and would do by the deadline; all eight of the server work."""
    work = EIGHT | YEAR | {"tokens": 1e11}
    free, stated = answered(asked(work)), answered(asked(work | {"accelerators_per_job": 8}))
    assert free.demand.peak_accelerators[0] == 3
    assert cost(free) == cost(stated)
    assert cost(answered(asked(work), edition=3)) == pytest.approx(8 / 3 * cost(free), rel=1e-4)
    assert all(row.accelerators == 8 for row in free.scenarios[0].capacity)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("billions", [0.5, 3, 8, 30, 70])
@pytest.mark.parametrize("deadline", ["2027-01", "2027-06"])
def test_a_job_of_whole_machines_costs_no_less(size: int, billions: float, deadline: str) -> None:
    runs = [{"start": "2027-01", "deadline": deadline}]
    work = {"parameters": billions * 1e9, "tokens": 2e9, "accelerator": "H100", "runs": runs}
    market = sold(size)
    (plan,) = [s for s in answered(asked(work), market).scenarios if s.key == ScenarioKey.ON_DEMAND]
    if not plan.feasible:
        return
    free = answered(asked(work), market)
    job = ceil(free.demand.candidates[0].min_accelerators / size) * size
    stated = answered(asked(work | {"accelerators_per_job": job}), market)
    assert cost(free) <= cost(stated) * 1.15
    assert cost(free) <= cost(answered(asked(work), market, 3)) * (1 + 1e-6)
    paid = free.demand.total_hours * USD_PER_ACCELERATOR
    support = [row.value for row in free.assumptions if row.field == "finance.cloud_support_rate"]
    assert cost(free) >= paid
    assert cost(free) <= paid * 1.06 * (1 + float(support[0] if support else 0.0))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("own", [3, 4, 5, 6, 8])
@pytest.mark.parametrize("price", [2_000, 60_000])
def test_a_server_of_any_size_beside_costs_no_more_than_it_did(own: int, price: int) -> None:
    """What is owned is no whole number of the machines rented: neither makes the other idle."""
    server = {"server": "custom", "label": "box", "accelerator": "H100", "power_kw": 2}
    servers = [server | {"accelerator_count": own, "unit_price": price * own}]
    work = EIGHT | {"tokens": 4e10, "runs": [{"start": "2027-01", "deadline": "2027-09"}]}
    request = asked(work, on_prem={"servers": servers})
    market = catalog(offer("40", count=8, network_gbps=400.0))
    today, before = answered(request, market), answered(request, market, 3)
    for key in (ScenarioKey.ON_DEMAND, ScenarioKey.ON_PREM, ScenarioKey.HYBRID):
        assert cost(today, key) <= cost(before, key) * 1.011


def test_every_number_at_once_is_tried_beside_servers_that_fill_no_machine() -> None:
    """Six in use on machines of eight beside an own server of four, which comes in month 1."""
    months = np.ones(3)

    def source(count: int, provider: str, **fields: Any) -> Any:
        plain = {
            "accelerator": "h100", "accelerators": count, "capacity": float(count), "term": None,
            "provider": provider, "is_owned": False, "existing": None, "stands_for": "",
            "offer": None,
        }  # fmt: skip
        return SimpleNamespace(**plain | fields)

    service = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], bool)
    term = SimpleNamespace(active=service, can_start=np.array([True, True, False]))
    sources = {
        "own": source(4, "", is_owned=True, term=term),
        "a8": source(8, "aws"), "a16": source(16, "aws"),
    }  # fmt: skip
    inputs: Any = SimpleNamespace(
        by_key=sources, job_sizes={}, least_peaks=None, fills_machines=True, one_accelerator=True,
        runs=RunPeaks(600 * months, 6 * months, None, True),
        calendar=SimpleNamespace(months=3), rents_the_rest=False,
    )  # fmt: skip
    groups = [(group.keys, group.peak.tolist()) for group in group_by_run(sources, inputs)]
    every, large = frozenset(sources), frozenset({"own", "a16"})
    assert groups == [
        (every, [8, 8, 8]),
        (large, [16, 8, 8]),
        (large, [16, 12, 12]),
        (large, [16, 16, 16]),
    ]
    del sources["own"]
    groups = [(group.keys, group.peak.tolist()) for group in group_by_run(sources, inputs)]
    assert groups == [(frozenset(sources), [8, 8, 8]), (frozenset({"a16"}), [16, 16, 16])]


def test_kinds_that_may_be_mixed_cost_no_more_than_one() -> None:
    work = EIGHT | YEAR | {"tokens": 1e10}
    mixed = {"allow_mixed_accelerators": True}
    for servers in ({}, {"on_prem": {"servers": []}}):
        one, several = (
            answered(asked(work, constraints=limits, **servers)) for limits in ({}, mixed)
        )
        for key in (ScenarioKey.ON_DEMAND, ScenarioKey.HYBRID):
            assert cost(several, key) <= cost(one, key) * 1.011


def test_with_more_work_than_planned_the_plan_has_as_many_more_at_once() -> None:
    plan: Any = SimpleNamespace(peak=np.array([8.0, 0.0]), served_hours=np.array([80.0, 0.0]))
    inputs: Any = SimpleNamespace(hours=np.array([120.0, 0.0]))
    peak = peak_of(plan, inputs)
    assert peak is not None
    assert peak.tolist() == [12, 0]


@pytest.mark.parametrize(
    ("stated", "whole", "sized", "edition", "fills"),
    [
        (1, True, True, 4, True),
        (1, True, True, 3, False),
        (3, True, True, 4, False),
        (1, False, True, 4, False),
        (1, True, False, 4, False),
    ],
)
def test_which_runs_fill_machines(
    stated: int, whole: bool, sized: bool, edition: int, fills: bool
) -> None:
    rules = PlanRules(accelerators_per_job=stated, whole_nodes=whole, is_sized=sized)
    assert JobNodes(rules, (), 80.0, edition).fills_machines is fills


IDLE = "paid for at once"
HOURS = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 1000}


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (EIGHT | YEAR | {"tokens": 1e11}, ""),
        (EIGHT | YEAR | {"tokens": 1e11, "accelerators_per_job": 8}, ""),
        (EIGHT | YEAR | {"tokens": 1e11, "accelerators_per_job": 3}, "leave out accelerators_per"),
        (HOURS, "a peak of 8 (peak_accelerators)"),
        (HOURS | {"peak_accelerators": 3}, "a peak of 8 (peak_accelerators)"),
        (HOURS | {"peak_accelerators": 8}, ""),
    ],
)
def test_what_of_a_machine_idles_is_told(work: dict[str, Any], says: str) -> None:
    request = asked(work, on_prem={"servers": []})
    answer = answered(request, sold(8))
    told = [text for text in answer.warnings if IDLE in text]
    assert len(told) == bool(says)
    assert all(says in text for text in told)
    assert not told or "of the 8 accelerators" in told[0]


def test_without_whole_machines_nothing_idles() -> None:
    limits = {"allow_partial_nodes": True}
    request = asked(HOURS, on_prem={"servers": []}, constraints=limits)
    assert not [text for text in answered(request, sold(8)).warnings if IDLE in text]
