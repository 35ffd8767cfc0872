"""What room for own servers is limited to costs money, and `cheaper_if` says how much."""

from __future__ import annotations

from typing import Any

import pytest

from tests.planner.comparison.compared import solved

SERVER = {
    **{"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8},
    **{"unit_price": 100_000, "power_kw": 10, "rack_units": 8, "running_cost_per_hour": 0},
}
ONE_BOX: dict[str, Any] = {
    "power_kw": 12,
    "rack_units": 8,
    "sites": [{"site": "Here", "power_kw": 12}],
}


def asked(constraints: dict[str, Any]) -> Any:
    """Two machines of work for two years; of rent at 20 USD an hour each box saves 350,400 USD."""
    at = "Here" if "sites" in constraints else None
    offer = {"accelerator": "H100", "accelerator_count": 8, "usd_per_hour": 20}
    request = {
        "start": "2027-01",
        "horizon_months": 24,
        "use_catalog": False,
        "workload": {
            **{"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 11_680},
        },
        "custom_offers": [{"label": "Eight H100", "purchase_option": "on_demand"} | offer],
        "on_prem": {"servers": [{**SERVER, "site": at}], "lead_time_months": 0},
        "constraints": constraints,
    }
    return solved(request).answer


@pytest.mark.parametrize("name", ONE_BOX)
def test_the_plan_without_the_limit_is_told(name: str) -> None:
    answer = asked({name: ONE_BOX[name]})
    (told,) = (one for one in answer.cheaper_if if one.field == f"constraints.{name}")
    free = asked({}).verdict
    assert answer.verdict.decision[0].units == 1
    assert free.decision[0].units == 2
    assert (told.total, told.saving) == (
        free.total,
        answer.verdict.present_value - free.present_value,
    )


def test_a_limit_with_room_enough_is_not_named() -> None:
    assert not any(one.field.endswith("power_kw") for one in asked({"power_kw": 20}).cheaper_if)
