"""One private offer against one server, with nothing on either side but what a test names."""

from typing import Any

from planner.comparison import compare
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import H100, TODAY

NOTHING = {
    "electricity_per_kwh": 0, "pue": 1, "colocation_per_kw_month": 0, "support_rate_per_year": 0,
    "network_storage_rate": 0, "install_cost_rate": 0, "staff_fte_per_server": 0, "spare_rate": 0,
    "residual_rate": 0, "lead_time_months": 0, "utilisation_ceiling": 1,
}  # fmt: skip
"""Owning at no cost but the price; a case adds what it has."""
NO_TRENDS = {
    f"{what}_trend_per_year": 0
    for what in ("cloud_price", "electricity", "staff_cost", "colocation", "support")
}
RENT_ALONE = {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0}


def scenarios(
    rent: dict[str, Any],
    server: dict[str, Any],
    owning: dict[str, Any] | None = None,
    finance: dict[str, Any] | None = None,
    hours: Any = 5840,
    months: int = 36,
    data: dict[str, Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """Scenarios by key of one private offer against one server, eight accelerators each."""
    machine = {"accelerator": H100, "accelerator_count": 8}
    request = {
        "start": "2027-01",
        "horizon_months": months,
        "use_catalog": False,
        "sensitivity": False,
        "cheaper_if": False,
        "workload": {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": hours},
        "custom_offers": [{"label": "rent"} | machine | rent],
        "on_prem": NOTHING
        | {"useful_life_months": months}
        | {"servers": [{"server": "custom"} | machine | server]}
        | (owning or {}),
        "finance": NO_TRENDS | RENT_ALONE | (finance or {}),
    }
    request |= {"data": data} if data else {}
    found = compare(request, Catalog.of([]), today=TODAY).to_json()
    return {s["key"]: s for s in found["scenarios"]}
