"""Requests of published calculations: owning at no cost but what a case names, undiscounted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.comparison import compare
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import H100, TODAY

FREE = {
    "electricity_per_kwh": 0,
    "pue": 1,
    "colocation_per_kw_month": 0,
    "support_rate_per_year": 0,
    "network_storage_rate": 0,
    "install_cost_rate": 0,
    "staff_fte_per_server": 0,
    "spare_rate": 0,
    "residual_rate": 0,
    "lead_time_months": 0,
    "utilisation_ceiling": 1,
}
"""Owning at no cost but the unit price; a case adds what it has."""
UNDISCOUNTED = {
    "discount_rate_per_year": 0,
    "electricity_trend_per_year": 0,
    "staff_cost_trend_per_year": 0,
    "colocation_trend_per_year": 0,
    "support_trend_per_year": 0,
    "cloud_support_rate": 0,
    "cloud_staff_fte_per_accelerator": 0,
}


def answer(
    rent_per_hour: float,
    hours: float,
    months: int,
    count: float = 1,
    server: dict[str, Any] | None = None,
    other_costs: Sequence[Mapping[str, Any]] = (),
    **owning: Any,
) -> dict[str, dict[str, Any]]:
    """Scenarios by key: `hours` node-hours a month against one offer and at most one server."""
    rent = {
        "label": "rent",
        "accelerator": H100,
        "accelerator_count": count,
        "purchase_option": "on_demand",
        "usd_per_hour": rent_per_hour,
    }
    own = {"server": "custom", "accelerator": H100, "accelerator_count": count} | (server or {})
    request = {
        "start": "2027-01",
        "horizon_months": months,
        "use_catalog": False,
        "sensitivity": False,
        "cheaper_if": False,
        "workload": {
            "kind": "accelerator_hours",
            "accelerator": H100,
            "hours_per_month": hours * count,
        },
        "custom_offers": [rent],
        "on_prem": FREE | owning | {"servers": [own] if server else []},
        "finance": UNDISCOUNTED,
        "other_costs": [dict(cost) for cost in other_costs],
        "break_even": "all",
    }
    found = compare(request, Catalog.of([]), today=TODAY).to_json()
    return {s["key"]: s for s in found["scenarios"]} | {"break_even": found["break_even"]}


def rented(rent_per_hour: float, hours: float, months: int, count: float = 1) -> float:
    return float(answer(rent_per_hour, hours, months, count)["on_demand"]["total_cost"])


def owned(hours: float, months: int, server: dict[str, Any], **owning: Any) -> float:
    return float(answer(1e6, hours, months, server=server, **owning)["on_prem"]["total_cost"])
