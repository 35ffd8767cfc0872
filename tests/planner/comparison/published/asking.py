"""Published calculations put to the API: owning at no cost but what a case names, undiscounted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.core.cache import cache
from rest_framework.test import APIClient

from tests.planner.costing.market_of import H100

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
NOBODY_RENTS = 1e6
"""USD an hour, of a case that only owns."""


@dataclass(frozen=True)
class Reply:
    """The answer to one request."""

    body: Mapping[str, Any]

    def scenario(self, key: str) -> dict[str, Any]:
        (found,) = (s for s in self.body["scenarios"] if s["key"] == key)
        assert found["feasible"], found["why_not"]
        return dict(found)

    def total(self, key: str) -> float:
        return float(self.scenario(key)["total_cost"])

    @property
    def own(self) -> float:
        return self.total("on_prem")

    @property
    def rent(self) -> float:
        return self.total("on_demand")

    def lines(self, key: str, *categories: str) -> list[dict[str, Any]]:
        return [x for x in self.scenario(key)["lines"] if x["category"] in categories]

    def sum_of(self, key: str, *categories: str) -> float:
        return sum(float(line["amount"]) for line in self.lines(key, *categories))

    @property
    def returns(self) -> dict[str, Any]:
        """Of owning against renting."""
        finance = self.scenario("on_prem")["finance"]
        assert finance["against"] == "on_demand"
        return dict(finance)

    @property
    def payback_months(self) -> float:
        """When the cash that owning saves stays above what it cost."""
        return float(self.returns["payback_months"])

    @property
    def hours_to_break_even(self) -> float:
        (row,) = self.body["break_even"]
        return float(row["hours"])


def ask(
    rent_per_hour: float = NOBODY_RENTS,
    hours: Any = 730,
    months: int = 1,
    count: float = 1,
    server: Mapping[str, Any] | None = None,
    *,
    peak: int | None = None,
    option: str = "on_demand",
    other_costs: Sequence[Mapping[str, Any]] = (),
    finance: Mapping[str, Any] | None = None,
    risk: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    **owning: Any,
) -> Reply:
    """`hours` of machines of `count` accelerators a month, of one offer and at most one server,
    on as few machines as it takes, or on `peak` of them at once."""
    each = [hours] * months if isinstance(hours, int | float) else hours
    machines = [peak or ceil(one / 730) for one in each]
    offer = {
        "label": "rent", "accelerator": H100, "accelerator_count": count,
        "purchase_option": option, "usd_per_hour": rent_per_hour,
    }  # fmt: skip
    own = {"server": "custom", "accelerator": H100, "accelerator_count": count, "power_kw": 0}
    work = {
        "kind": "accelerator_hours", "accelerator": H100,
        "hours_per_month": [one * count for one in each],
        "peak_accelerators": [one * count for one in machines],
        "interruptible": option == "spot",
    }  # fmt: skip
    request = {
        "start": "2027-01",
        "horizon_months": months,
        "use_catalog": False,
        **{"sensitivity": False, "cheaper_if": False, "decide_every_months": 0},
        "workload": work,
        "custom_offers": [offer],
        "on_prem": FREE
        | {"useful_life_months": months}
        | owning
        | {"servers": [own | server] if server else []},
        "finance": UNDISCOUNTED | (finance or {}),
        "other_costs": [dict(cost) for cost in other_costs],
        "break_even": "all",
    }
    request |= {"risk": risk} if risk else {}
    request |= {"data": data} if data else {}
    cache.clear()  # so many questions in a minute are refused elsewhere
    answer = APIClient().post("/api/v1/comparisons/?include=all", request, format="json")
    assert answer.status_code == 200, answer.content
    return Reply(answer.json())
