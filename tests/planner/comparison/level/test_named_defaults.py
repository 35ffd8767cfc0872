"""Each default that an answer names among those that tell owning from renting can be given back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from planner.comparison import compare, solve
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import TODAY

LEASE = {"method": "lease", "months": 24}
LOAN = {"method": "loan", "months": 24, "deposit_rate": 0.2}
SERVERS = [{"server": "dgx-h100"}]
REQUESTS: list[dict[str, Any]] = [
    {"on_prem": {"servers": SERVERS}},
    {"on_prem": {"servers": SERVERS, "financing": LEASE}},
    {"on_prem": {"servers": SERVERS, "financing": LOAN}, "finance": {"tax_rate": 0.25}},
    {"on_prem": {"servers": SERVERS},
     "data": {"storage_gib": 100_000, "egress_gib_per_month": 5_000}},
]  # fmt: skip


def whole(request: dict[str, Any]) -> dict[str, Any]:
    """Two years: as long as the lease and the loan."""
    plain = {
        "start": "2027-01", "horizon_months": 24, "use_catalog": False, "cheaper_if": False,
        "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5000},
        "custom_offers": [
            {"label": "By the hour", "provider": "aws", "accelerator": "H100",
             "accelerator_count": 8, "purchase_option": "on_demand", "usd_per_hour": 60},
            {"label": "A year", "provider": "aws", "accelerator": "H100", "accelerator_count": 8,
             "purchase_option": "reserved", "term_months": 12, "usd_per_hour": 20,
             "upfront_usd": 100_000},
        ],
    }  # fmt: skip
    return plain | request


def ask(request: dict[str, Any]) -> ComparisonAnswer:
    return compare(whole(request), Catalog.of([]), today=TODAY)


def given_back(request: dict[str, Any], path: str, value: float) -> dict[str, Any]:
    changed: dict[str, Any] = copy.deepcopy(request)
    *parts, name = path.split(".")
    section = changed
    for part in parts:
        section = section.setdefault(part, {})
    section[name] = value
    return changed


@pytest.mark.one_in(4)
@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_a_default_given_back_changes_no_total(number: int) -> None:
    request = REQUESTS[number]
    answer = ask(request)
    assert len(answer.default_effects) > 5
    for row in answer.default_effects:
        asked = whole(given_back(request, row.field, row.value))
        again = solve(asked, Catalog.of([]), TODAY).scenarios
        for key in (ScenarioKey.ON_PREM, ScenarioKey.ON_DEMAND):
            found, expected = again[key].total_cost, answer.by_key[key].total_cost
            assert float(found) == pytest.approx(float(expected), rel=1e-6), (row.field, key)


def test_people_are_named_as_a_request_gives_them() -> None:
    rows = {row.field: row for row in ask(REQUESTS[0]).default_effects}
    staff = rows["on_prem.staff_fte_per_server"]
    assert staff.value == pytest.approx(8 / 75)
    assert staff.unit == "full-time equivalents per server"
