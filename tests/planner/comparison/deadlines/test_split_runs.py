"""A run that works in several places at once is told."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from tests.planner.costing.market_of import TODAY, catalog, offer, request_of

PRICES = catalog(offer("55.04", network_gbps=3200.0))
THERE: dict[str, Any] = {
    "servers": [],
    "already_owned": [{"server": "hgx-h100-8", "bought": "2026-06"}],
}


def warnings_of(count: int, rules: int = 6, **on_prem: Any) -> tuple[str, ...]:
    """Runs of one month that keep eight accelerators busy for three weeks, `count` at once."""
    workload = {
        "kind": "training",
        "parameters": 7e9,
        "tokens": 1e10,
        "accelerator": "H100",
        "measured_accelerator_hours": 16 * 500 / count,
        "runs": [{"start": "2027-01", "deadline": "2027-01", "count": count}],
    }
    request = request_of(horizon_months=1, workload=workload, on_prem=on_prem, rules=rules)
    return compare(request, PRICES, today=TODAY).warnings


def test_a_run_on_premises_and_in_a_cloud_at_once_is_told() -> None:
    (told,) = (words for words in warnings_of(1, **THERE) if "single run has machines" in words)
    assert told.startswith(
        "From January 2027, a single run has machines in several places at once (AWS us-east-1 and "
        "your own premises), and no network between them is known to be fast"
    )


@pytest.mark.parametrize(
    ("count", "rules", "on_prem"), [(2, 6, THERE), (1, 6, {"servers": []}), (1, 5, THERE)]
)
def test_runs_of_one_place_each_are_not(count: int, rules: int, on_prem: Any) -> None:
    assert not any("one run has" in words for words in warnings_of(count, rules, **on_prem))
