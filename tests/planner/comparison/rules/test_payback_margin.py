"""A purchase is advised where it pays back before any resale with room to spare."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from tests.planner.costing.market_of import H100, TODAY, catalog, offer

SERVER = {
    "server": "custom", "label": "eight", "accelerator": H100, "accelerator_count": 8,
    "unit_price": 200_000, "running_cost_per_hour": 0,
}  # fmt: skip
MARKET = catalog(offer("40"))
MARGIN = "on_prem.payback_margin"


def request(months: int, **on_prem: Any) -> dict[str, Any]:
    """One machine of eight all the time: 40 USD an hour, or 225,000 USD, spares and network in."""
    own = {"servers": [SERVER], "network_storage_rate": 0.125, "spare_rate": 0, "install_cost_rate":
           0, "lead_time_months": 0}  # fmt: skip
    return {
        "workload": {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 8 * 730},
        "horizon_months": months, "on_prem": own | on_prem, "start": "2027-01",
        "sensitivity": False,
        "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0},
    }  # fmt: skip


def asked(
    months: int, limits: dict[str, Any] | None = None, cheaper_if: bool = False, **on_prem: Any
) -> ComparisonAnswer:
    question = request(months, **on_prem) | {"constraints": limits or {}, "cheaper_if": cheaper_if}
    return compare(question, MARKET, today=TODAY)


def buys(answer: ComparisonAnswer) -> bool:
    return answer.verdict.capital_to_approve is not None


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("months", "is_bought"), [(7, False), (8, False), (9, False), (10, True)])
def test_it_saves_a_quarter_of_its_price(months: int, is_bought: bool) -> None:
    """Rent is 29,200 USD a month: 233,600 after eight months, 281,250 = 1.25 × 225,000 after
    nine and a half."""
    assert buys(asked(months)) == is_bought


@pytest.mark.parametrize(("margin", "is_bought"), [(0.16, True), (0.17, False), ("0.16", True)])
def test_the_request_may_ask_for_another_share(margin: float | str, is_bought: bool) -> None:
    """262,800 of rent in nine months: 37,800 above the price, 16.8 % of it."""
    assert buys(asked(9, payback_margin=margin)) == is_bought


def test_what_is_bought_follows_the_resale_only_where_that_is_asked_for() -> None:
    assert buys(asked(7, count_on_resale=True))
    assert not buys(asked(7, payback_margin=0))
    assert buys(asked(7, residual_rate=0.7))


def test_the_refusal_says_how_much_is_saved_and_how_much_is_asked_for() -> None:
    answer = asked(9)
    owned = answer.by_key["on_prem"]
    assert not owned.allowed
    assert owned.why_not_allowed == (
        "Before resale, its servers save only 17% of their price; 25% is required."
    )
    assert answer.verdict.reasons[0].startswith(
        "Buying does not save enough: before any resale it would save 37,800 USD but would have "
        "to save at least 56,250 USD (25% of the purchase price). With "
    )
    assert asked(7).by_key["on_prem"].why_not_allowed == (
        "Without resale, its servers do not pay back within the plan."
    )


def test_lifting_it_is_named_with_what_it_saves() -> None:
    answer = asked(9, cheaper_if=True)
    (one,) = [x for x in answer.cheaper_if if x.field == MARGIN]
    lifted = asked(9, payback_margin=one.value)
    assert lifted.verdict.total == one.total
    assert lifted.verdict.headline == one.plan
    assert lifted.verdict.present_value is not None
    assert answer.verdict.present_value == lifted.verdict.present_value + one.saving
    assert all(x.field != "on_prem.count_on_resale" for x in answer.cheaper_if)  # the same plan
    assert [x.field for x in asked(7, cheaper_if=True).cheaper_if] == ["on_prem.count_on_resale"]
    assert not [x for x in asked(12, cheaper_if=True).cheaper_if if x.field == MARGIN]


def test_a_contract_that_buys_nothing_needs_none() -> None:
    """A lease of 36 months costs what it costs: no price is paid and nothing is resold."""
    leased = asked(36, financing={"method": "lease", "months": 36})
    assert leased.verdict.total is not None
    assert leased.verdict.total < Decimal(36 * 29_200)
    assert any(part.action == "lease" for part in leased.verdict.decision)
