"""Under rules 2 the range of the hours is that of the accelerator that the advised plan uses."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.request.comparison import read_request
from planner.sizing.demand import compute_demand
from pricing.market.snapshot import Catalog

L4, A100 = "nvidia-l4", "nvidia-a100-80gb-sxm"
WORKLOAD = {"kind": "training", "parameters": 1e9, "tokens": 1e10}


def offer(accelerator: str, usd: float) -> dict[str, Any]:
    return {
        "label": accelerator,
        "accelerator": accelerator,
        "accelerator_count": 1,
        "purchase_option": "on_demand",
        "usd_per_hour": usd,
    }


def compared(rules: int, cheap: str) -> dict[str, Any]:
    usd = {one: 0.01 if one == cheap else 100.0 for one in (L4, A100)}
    request = {
        "start": "2027-01",
        "horizon_months": 12,
        "use_catalog": False,
        "sensitivity": False,
        "cheaper_if": False,
        "rules": rules,
        "workload": WORKLOAD,
        "constraints": {"accelerators": [L4, A100]},
        "custom_offers": [offer(one, price) for one, price in usd.items()],
        "on_prem": {"servers": []},
    }
    return dict(compare(request, Catalog.of([]), today=dt.date(2026, 11, 20)).to_json()["demand"])


def ranges() -> dict[str, tuple[float, float]]:
    workload = read_request({"workload": WORKLOAD}).workload
    demand = compute_demand(workload, dt.date(2027, 1, 1), 12, [L4, A100], 2)
    return {one.accelerator: one.range_p10_p90 for one in demand.candidates}


@pytest.mark.parametrize("cheap", [L4, A100])
def test_the_range_is_that_of_the_accelerator_advised(cheap: str) -> None:
    found = compared(2, cheap)["range"]
    assert (found["p10"], found["p90"]) == pytest.approx(ranges()[cheap])


def test_the_two_have_ranges_of_their_own() -> None:
    assert ranges()[L4] != pytest.approx(ranges()[A100])


def test_rules_1_show_that_of_the_reference() -> None:
    assert compared(1, L4)["range"] == compared(1, A100)["range"]
