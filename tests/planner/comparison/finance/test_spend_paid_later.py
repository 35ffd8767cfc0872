"""Bills that are due later than what a minimum spend lacks: an hour of them is worth more than it
costs, and bound and plan know it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner.comparison import solve
from planner.contract.answer.common import ScenarioKey
from planner.costing.optimizer.problem import Plan
from planner.costing.scenarios import build_scenario
from tests.planner.costing.market_of import H100, TODAY, catalog

MONTHS, BOTH = 6, 1460.0
"""Months of the plan, and hours that two servers of eight work in each."""
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def asked(amount: int, terms_days: int, per_kwh: float) -> dict[str, Any]:
    return {
        "start": "2027-01",
        "horizon_months": MONTHS,
        "use_catalog": False,
        "workload": {
            "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 8 * BOTH,
        },
        "finance": {
            "cash_timing": "year_end", "payment_terms_days": terms_days,
            "cloud_price_trend_per_year": 0,
        },
        "custom_offers": [{
            "label": "One", "provider": "aws", "accelerator": H100, "accelerator_count": 1,
            "purchase_option": "on_demand", "usd_per_hour": 3.7337,
        }],
        "on_prem": {
            "servers": [{
                "server": "custom", "label": "Box", "accelerator": H100, "accelerator_count": 8,
                "unit_price": 146_034, "power_kw": 10, "rack_units": 8,
            }],
            "already_owned": [{"server": "Box", "units": 2, "bought": "2026-10"}],
            "electricity_per_kwh": per_kwh,
        },
        "existing": {"minimum_spend": [{
            "label": "EDP", "provider": "aws", "amount": amount, "first": "2027-01",
            "last": "2027-06",
        }]},
    }  # fmt: skip


@pytest.mark.parametrize("amount", [250_000, 500_000])
@pytest.mark.parametrize("terms_days", [30, 90])
@pytest.mark.parametrize("per_kwh", [0, 0.1])
def test_no_plan_costs_less_than_the_bound(amount: int, terms_days: int, per_kwh: float) -> None:
    """Servers without electricity were used and 527,174 called proven, where 514,626 are due if
    their work is rented and the spend is met."""
    found = solve(asked(amount, terms_days, per_kwh), catalog(), TODAY)
    advised = found.scenarios[ScenarioKey.ON_DEMAND]
    inputs = found.inputs.for_scenario(ScenarioKey.ON_DEMAND)
    (rental,) = inputs.problem.rental_options
    owned = next(unit for unit in inputs.problem.units if unit.existing is not None)
    for share in SHARES:
        rented = np.full(MONTHS, BOTH * share)
        hours = {"used_hours": {owned.key: BOTH - rented}, "rented_hours": {rental.key: 8 * rented}}
        plan = Plan(feasible=True, cost=0.0, bound=0.0, **hours)
        cost = float(build_scenario(inputs, ScenarioKey.ON_DEMAND, plan, 0.0).net_present_cost)
        assert advised.bound <= cost + 0.05
        assert advised.cost <= cost + 0.05
