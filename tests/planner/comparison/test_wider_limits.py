"""A wider limit admits every plan of the narrower one, so it never costs more."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

import pytest

from planner.comparison import compare
from pricing.market.snapshot import Catalog

SERVER = {
    "server": "custom",
    "label": "own",
    "unit_price": 51361,
    "accelerator": "H100",
    "accelerator_count": 8,
    "power_kw": 9.6,
    "idle_power_kw": 1.6,
}
REQUEST = {
    "start": "2027-01",
    "horizon_months": 18,
    "use_catalog": False,
    "sensitivity": False,
    "cheaper_if": False,
    "workload": {
        "kind": "accelerator_hours",
        "accelerator": "H100",
        "hours_per_month": 25069,
        "peak_accelerators": 64,
    },
    "custom_offers": [
        {
            "label": "spot",
            "accelerator": "H100",
            "accelerator_count": 8,
            "purchase_option": "spot",
            "usd_per_hour": 21.53,
        }
    ],
    "on_prem": {
        "servers": [SERVER],
        "useful_life_months": 12,
        "residual_rate": 0.6,
        "lead_time_months": 3,
        "utilisation_ceiling": 0.9,
    },
}
BUDGETS = {
    "monthly_budget": (150_000, 150_222, 150_259, 150_444, 150_481, 160_000, 200_000),
    "capex_budget": (0, 60_000, 130_000, 260_000, 410_000, 600_000, 900_000),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("limit", BUDGETS)
def test_a_wider_budget_never_costs_more(limit: str) -> None:
    costs = [hybrid_cost(limit, budget) for budget in BUDGETS[limit]]
    assert all(wider <= narrower + 0.05 for narrower, wider in pairwise(costs)), costs


def hybrid_cost(limit: str, budget: float) -> float:
    asked = {**REQUEST, "constraints": {limit: budget}}
    answer = compare(asked, Catalog.of([]), today=dt.date(2026, 11, 20)).to_json()
    hybrid = next(s for s in answer["scenarios"] if s["key"] == "hybrid")
    return float(hybrid["net_present_cost"]) if hybrid["feasible"] else float("inf")
