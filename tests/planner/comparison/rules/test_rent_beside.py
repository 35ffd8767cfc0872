"""Beside servers and commitments a sized run rents for the hours alone that these leave."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.comparison import solve
from planner.contract.answer.common import ScenarioKey
from planner.contract.request.rules import PlanRules
from planner.costing.analysis.sensitivity import cost_plans
from planner.costing.inputs.job_nodes import JobNodes
from planner.costing.run_machines import group_by_run
from planner.costing.run_peaks import RunPeaks
from tests.bench.bench_compare import TODAY
from tests.planner.comparison.rules.test_full_machines import EIGHT, answered, asked, cost, sold
from tests.planner.costing.market_of import RENT_ALONE, catalog, offer

PRICE_PER_HOUR = 32.0
FULL_MONTH = 8 * 730


def beside(units: int = 1, tokens: float = 1e12, size: int = 8, **fields: Any) -> dict[str, Any]:
    """Work with a deadline beside servers in place."""
    work = EIGHT | {"tokens": tokens, "runs": [{"start": "2027-01", "deadline": "2027-06"}]}
    server = {"server": "custom", "label": "mine", "accelerator": "H100", "power_kw": 5}
    servers = [server | {"accelerator_count": size, "unit_price": 40_000 * size}]
    own = {"servers": servers, "already_owned": [{"server": "mine", "units": units}]}
    return asked(work, on_prem=own, finance=RENT_ALONE, **fields)


@pytest.mark.parametrize(("units", "tokens"), [(1, 9e11), (1, 1.5e12), (2, 1.5e12), (1, 1e11)])
def test_rent_is_for_what_servers_in_place_leave(units: int, tokens: float) -> None:
    answer = answered(beside(units, tokens), sold(8))
    plan = answer.scenarios[0]
    hours = np.array(answer.demand.hours_per_month)
    left = np.maximum(hours - FULL_MONTH * units, 0.0)
    rented = [row for row in plan.capacity if not row.source.startswith("owned")]
    assert sum(row.hours_used for row in rented) == pytest.approx(left.sum(), abs=1e-3)
    assert all(row.accelerators % 8 == 0 for row in plan.capacity), "whole machines"
    paid = sum(line.amount for line in plan.lines if line.category == "compute")
    assert float(paid) == pytest.approx(left.sum() / 8 * PRICE_PER_HOUR, abs=0.1)


def test_an_answer_of_before_rents_for_as_long_as_the_servers_work() -> None:
    request, market = beside(), sold(8)
    today, before = answered(request, market), answered(request, market, 4)
    assert cost(today) < cost(before)
    at_work = {
        row.hours_used for row in before.scenarios[0].capacity if row.source.startswith("owned")
    }
    assert max(at_work) < FULL_MONTH - 1


def test_samples_cost_what_the_plan_costs_where_nothing_varies() -> None:
    results = solve(beside(), sold(8), TODAY)
    plans = [plan for plan in results.scenarios.values() if plan.feasible]
    assert any(plan.is_level for plan in plans)
    for plan, costs in zip(plans, cost_plans(plans, results.inputs), strict=True):
        assert costs == pytest.approx(plan.cost, abs=0.01)


def test_a_quota_counts_machines_at_once_and_keeps_them_there() -> None:
    quotas = [{"provider": "aws", "accelerator": "H100", "max_accelerators": 80}]
    request = beside(constraints={"quotas": quotas})
    results = solve(request, sold(8), TODAY)
    assert not any(plan.is_level for plan in results.scenarios.values())
    assert cost(answered(request, sold(8))) == cost(answered(beside(), sold(8), 4))


def test_what_is_committed_to_works_all_month_too() -> None:
    """A reservation is paid for, so that on demand comes the rest alone."""
    reserved = offer("10", "reserved", term_months=12, payment_option="no_upfront")
    market = catalog(offer(f"{PRICE_PER_HOUR:g}", network_gbps=400.0), reserved)
    work = EIGHT | {"tokens": 2e12, "runs": [{"start": "2027-01", "deadline": "2027-12"}]}
    request = asked(work, on_prem={"servers": []}, finance=RENT_ALONE)
    results = solve(request, market, TODAY)
    plan = results.scenarios[ScenarioKey.COMMITTED]
    (units,) = plan.units_started.values()
    left = np.maximum(results.inputs.hours - FULL_MONTH * units.cumsum(), 0.0)
    rented = sum(
        (
            hours * 8
            for key, hours in plan.used_hours.items()
            if results.inputs.by_key[key].term is None
        ),
        np.zeros(12),
    )
    assert rented == pytest.approx(left, abs=1e-3)


@pytest.mark.parametrize(
    ("job", "changes", "is_level"),
    [
        (4, {}, True),
        (5, {}, False),
        (4, {"quotas": ("one",)}, False),
        (4, {"supply": SimpleNamespace(tells_providers_apart=True)}, False),
        (4, {"data": SimpleNamespace(home="here")}, False),
        (4, {"rents_the_rest": False}, False),
    ],
)
def test_where_what_is_owned_may_work_alone(
    job: int, changes: dict[str, Any], is_level: bool
) -> None:
    def source(count: int, provider: str, existing: Any) -> Any:
        return SimpleNamespace(
            accelerator="h100", accelerators=count, capacity=float(count), term=None, offer=None,
            provider=provider, is_owned=bool(existing is not None), existing=existing,
            stands_for="",
        )  # fmt: skip

    plain: dict[str, Any] = {
        "by_key": {"own": source(4, "", np.ones(2)), "rent": source(8, "aws", None)},
        "job_sizes": {"h100": job}, "least_peaks": None, "fills_machines": True,
        "rents_the_rest": True, "one_accelerator": True, "quotas": (),
        "supply": SimpleNamespace(tells_providers_apart=False), "data": SimpleNamespace(home=None),
        "hours": np.array([7300.0, 0.0]), "calendar": SimpleNamespace(months=2),
        "runs": RunPeaks(np.array([7300.0, 0.0]), np.array([12.0, 0.0]), None, True),
    }  # fmt: skip
    inputs: Any = SimpleNamespace(**plain | changes)
    levels = [group for group in group_by_run(("own", "rent"), inputs) if group.is_level]
    assert len(levels) == is_level
    assert all(group.peak.tolist() == [10, 0] for group in levels)


def test_edition_from_which_the_rest_alone_is_rented() -> None:
    rules = PlanRules(whole_nodes=True, is_sized=True)
    assert [JobNodes(rules, (), 80.0, edition).rents_the_rest for edition in (4, 5)] == [
        False,
        True,
    ]
