"""Fewer servers are bought where not all that the cheapest plan buys pay back."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import Verdict
from tests.planner.comparison.compared import Compared, solved

RENT = 730 * 20
"""Rent of a machine for a month, USD."""
PRICE = 250_000
CREDIT = {"label": "Grant", "amount": 40_000, "provider": "custom", "expires": "2028-12"}


def _answer(**fields: Any) -> ComparisonAnswer:
    return _compared(**fields).answer


def _compared(
    max_units: int | None = None,
    explain: bool = False,
    sensitivity: bool = False,
    usd_per_hour: float = 20,
    capex_budget: float | None = None,
    existing: dict[str, Any] | None = None,
    unit_price: float = PRICE,
    **changed: Any,
) -> Compared:
    """One machine of work for two years and a second one in the last: of the servers the first
    saves 24 months of rent, 350,400 USD, the second 12 months, 175,200 USD."""
    server = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8}
    terms = {"unit_price": unit_price, "running_cost_per_hour": 0, "max_units": max_units}
    request = {
        "start": "2027-01",
        "horizon_months": 24,
        "use_catalog": False,
        "workload": {
            "kind": "accelerator_hours",
            "accelerator": "H100",
            "hours_per_month": [5840] * 12 + [11680] * 12,
        },
        "custom_offers": [
            {
                **{"label": "Eight H100", "accelerator": "H100", "accelerator_count": 8},
                **{"purchase_option": "on_demand", "usd_per_hour": usd_per_hour},
            }
        ],
        "on_prem": {
            "servers": [server | terms],
            **{"lead_time_months": 0, "spare_rate": 0, "network_storage_rate": 0},
            **changed,
        },
        "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0},
        "constraints": {"capex_budget": capex_budget},
        "existing": existing or {},
        "sensitivity": sensitivity,
        "explain": explain,
    }
    return solved(request)


def _verdict(answer: ComparisonAnswer) -> Verdict:
    assert answer.verdict is not None
    return answer.verdict


def _bought(answer: ComparisonAnswer) -> float:
    return sum(part.units or 0 for part in _verdict(answer).decision if part.action == "buy")


def test_the_server_that_pays_back_is_bought_without_the_one_that_does_not() -> None:
    """Both together save 525,600 USD before any resale, of 625,000 USD that are asked for."""
    answer = _answer()
    assert _bought(answer) == 1
    rent = next(part for part in _verdict(answer).decision if part.action == "rent")
    assert (rent.starts, rent.amount) == ("2028-01", Decimal(12 * RENT))
    own = {one.key: one for one in answer.scenarios}[ScenarioKey.ON_PREM]
    assert not own.allowed
    assert own.net_present_cost < _verdict(answer).present_value


@pytest.mark.sweep
def test_credits_that_only_renting_uses_up_keep_out_the_servers_beyond() -> None:
    """Both servers save 525,600 USD of rent of 500,000 USD that are asked for; the credit that
    renting would use up besides makes that 485,600 USD. One server leaves rent for the credit."""
    answer = _answer(unit_price=200_000, existing={"credits": [CREDIT]})
    assert _bought(answer) == 1
    only = _answer(unit_price=200_000, existing={"credits": [CREDIT]}, max_units=1)
    assert _verdict(answer).total == _verdict(only).total


def test_what_a_narrower_margin_buys_is_told() -> None:
    told = {row.field: row for row in _answer().cheaper_if}
    asked = _answer(payback_margin=0)
    assert _bought(asked) == 2
    assert told["on_prem.payback_margin"].total == _verdict(asked).total


def test_a_budget_that_keeps_out_the_server_that_pays_back_is_told() -> None:
    (told,) = (
        row for row in _answer(capex_budget=1000).cheaper_if if row.field.endswith("capex_budget")
    )
    assert told.value == PRICE
    assert told.total == _verdict(_answer(capex_budget=PRICE)).total


def test_no_server_is_bought_where_none_pays_back() -> None:
    assert _bought(_answer(payback_margin=0.5)) == 0
