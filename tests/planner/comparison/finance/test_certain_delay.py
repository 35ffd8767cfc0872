"""A delay that is certain is part of the plan: its total, its payback and its words."""

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import TODAY

HOUR, RUNNING = 40, 5
GAP = 3 * 730 * (HOUR - RUNNING)
CERTAIN: list[dict[str, Any]] = [
    {"probability": 1, "months": 3},
    {"p10_months": 3, "p90_months": 3},
]


def request(late: dict[str, Any] | None = None, **own: Any) -> dict[str, Any]:
    server = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
              "unit_price": 300_000, "running_cost_per_hour": RUNNING}  # fmt: skip
    if late is not None:
        server["late_delivery"] = late
    return {
        "start": "2027-01", "horizon_months": 24, "use_catalog": False,
        "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840},
        "custom_offers": [
            {"label": "By the hour", "provider": "aws", "accelerator": "H100",
             "accelerator_count": 8, "purchase_option": "on_demand", "usd_per_hour": HOUR}
        ],
        "on_prem": {"servers": [server], "useful_life_months": 24, "lead_time_months": 0,
                    "residual_rate": 0, "spare_rate": 0, "network_storage_rate": 0, **own},
        "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0},
    }  # fmt: skip


def answer(*args: Any, **own: Any) -> ComparisonAnswer:
    return compare(request(*args, **own), Catalog.of([]), today=TODAY)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("late", CERTAIN)
def test_the_total_has_the_rent_of_the_months_without_the_server(late: dict[str, Any]) -> None:
    on_time, delayed = answer(), answer(late)
    plan = delayed.by_key[ScenarioKey.ON_PREM]
    assert float(plan.total_cost - on_time.by_key[ScenarioKey.ON_PREM].total_cost) == GAP
    as_lead_time = answer(lead_time_months=3).by_key[ScenarioKey.ON_PREM]
    assert plan.total_cost == as_lead_time.total_cost
    assert plan.finance is not None
    assert as_lead_time.finance is not None
    assert plan.finance.payback_months == as_lead_time.finance.payback_months
    assert delayed.verdict is not None
    assert on_time.verdict is not None
    assert delayed.verdict.payback is not None
    assert on_time.verdict.payback is not None
    assert delayed.verdict.payback > on_time.verdict.payback


@pytest.mark.parametrize("late", CERTAIN)
def test_the_range_knows_of_it(late: dict[str, Any]) -> None:
    found = answer(late)
    assert found.risk is not None
    assert found.risk.on_prem is not None
    assert found.risk.on_prem.total_p10 is not None
    assert found.risk.on_prem.total_p90 is not None
    total = found.by_key[ScenarioKey.ON_PREM].total_cost
    assert found.risk.on_prem.total_p10 <= total <= found.risk.on_prem.total_p90
