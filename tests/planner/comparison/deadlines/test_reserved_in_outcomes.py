"""What is reserved by date is paid for in every simulated outcome, used or not."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from planner.costing.analysis.simulation import planned_simulation, simulation_of
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

MODE = offer(
    "40", "dws_calendar_mode", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g"
)
PRICES = catalog(offer("55.04"), MODE)
SPREAD = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": "H100"}
RUN = {**SPREAD, "runs": [{"start": "2027-01", "deadline": "2027-01"}]}
GIVEN = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}


def asked(workload: dict[str, Any], months: int = 1, **fields: Any) -> Any:
    fields = {"choice": {"certainty": 0.5}} | fields
    on_prem = {"servers": []}
    return compared(PRICES, workload=workload, horizon_months=months, on_prem=on_prem, **fields)


def cost_of(found: Any) -> Any:
    """[N] total of the advised plan in the outcomes, and its total."""
    plan = found.scenarios[found.recommendation.scenario]
    simulation = simulation_of(found.inputs, found.simulation.parameters)
    return simulation.cost([plan])[1, 0], float(plan.total_cost), simulation


def test_no_outcome_costs_less_than_what_is_signed() -> None:
    """Hours fall short of the estimate in half of the outcomes: before, the reservation shrank."""
    found = asked(RUN)
    verdict = found.answer.verdict
    assert [part.action for part in verdict.decision] == ["reserve"]
    costs, total, simulation = cost_of(found)
    assert (simulation.hours_factors < 0.9).any()
    assert costs.min() == pytest.approx(total)
    assert verdict.range.p10 == verdict.total < verdict.range.p90


def test_hours_beyond_the_days_reserved_are_rented() -> None:
    """Those of the reservation, to the end of its last day, at 40 USD and the rest at 55.04."""
    found = asked(RUN)
    costs, total, simulation = cost_of(found)
    plan = found.scenarios[found.recommendation.scenario]
    machine_hours = sum(float(hours.sum()) for hours in plan.used_hours.values())
    days = np.ceil(machine_hours / 24)
    worked = machine_hours * simulation.hours_factors
    rented = np.maximum(worked - days * 24, 0.0)
    is_whole = worked < 730  # beyond a month's hours a second machine works beside the first
    expected = days * 24 * 40 + rented * 55.04
    assert total == pytest.approx(days * 24 * 40)
    assert costs[is_whole] == pytest.approx(expected[is_whole])


def test_as_planned_it_costs_what_the_plan_costs() -> None:
    rows: list[dict[str, Any]] = [
        RUN, GIVEN, {**GIVEN, "hours_per_month": [2000, 5840, 9000], "peak_accelerators": 16},
    ]  # fmt: skip
    for workload in rows:
        months = 3 if "peak_accelerators" in workload else 2
        found = asked(workload, months, finance={"cloud_support_rate": 0.05})
        plan = found.scenarios[found.recommendation.scenario]
        assert any(found.inputs.by_key[key].offer.purchase_option.value.startswith("dws")
                   for key in plan.used_hours)  # fmt: skip
        simulation = planned_simulation(found.inputs, found.simulation.parameters)
        present, total, *_ = simulation.cost([plan])[:, 0, 0]
        assert total == pytest.approx(float(plan.total_cost), abs=0.05)
        assert present == pytest.approx(float(plan.net_present_cost), abs=0.05)


def test_servers_beside_a_reservation_leave_the_hours_to_it_that_are_paid_for() -> None:
    """Before, they worked as long as they can, so that electricity of 408 USD was added to a plan
    as planned."""
    node = {"server": "custom", "label": "Node", "accelerator": "H100", "accelerator_count": 8,
            "unit_price": 40_000, "lead_time_months": 0, "power_kw": 10.2}  # fmt: skip
    mode = replace(MODE, price_per_hour=Decimal("33.06"))
    found = compared(
        catalog(offer("50.32"), mode),
        [2902.5, 1404.0, 8782.4, 0.0, 1749.4],
        horizon_months=5,
        on_prem={"servers": [node]},
    )
    plans = (one.plan for one in found.choice.candidates)
    plan = next(one for one in plans if one.buys and len(one.used_hours) == 2)
    simulation = planned_simulation(found.inputs, found.simulation.parameters)
    assert simulation.cost([plan])[1, 0, 0] == pytest.approx(float(plan.total_cost), abs=0.05)


def test_it_is_reserved_when_the_work_begins() -> None:
    """A start that slips by a month books the days of the next month, and pays no others."""
    found = asked(RUN, 3, risk={"slip_months_sd": 3, "price_sd": 0, "samples": 200})
    costs, total, simulation = cost_of(found)
    slipped = simulation.outcomes.slip > 0
    short = simulation.hours_factors < 0.9
    assert (slipped & short).any()
    assert costs[slipped & short] == pytest.approx(total)


def test_a_project_that_has_ended_reserves_nothing_more() -> None:
    """Of two stretches the second is never reserved; the first is paid to its end."""
    hours = [5840.0, 5840, 0, 5840, 5840]
    work = {**GIVEN, "hours_per_month": hours}

    def paid(after: int) -> float:
        risk = {"end_probability": 1 - 1e-9, "end_after_months": after, "slip_months_sd": 0}
        risk |= {"hours_spread": 0, "price_sd": 0, "demand_growth_sd": 0, "samples": 200}
        found = asked(work, 5, risk=risk)
        plan = found.scenarios["cloud"]
        simulation = simulation_of(found.inputs, found.simulation.parameters)
        return float(simulation.cost([plan])[1].mean() / float(plan.total_cost))

    assert [paid(after) for after in (1, 3, 4)] == [0.5, 0.5, 1.0]
