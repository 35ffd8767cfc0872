"""Contracts that are there already: the form's boxes and the request."""

from __future__ import annotations

from typing import Any

from planner.web.common.plan_request import read_plan_request
from planner.web.plan.forms import as_query
from tests.planner.web.asking import HOURS, get, text

BOXES = {
    "existing.credits.0.label": "Startup credits",
    "existing.credits.0.amount": "50000",
    "existing.credits.0.provider": "aws",
    "existing.credits.0.expires": "2027-06",
    "existing.minimum_spend.0.label": "EDP",
    "existing.minimum_spend.0.provider": "aws",
    "existing.minimum_spend.0.amount": "100000",
    "existing.minimum_spend.0.first": "2027-01",
    "existing.minimum_spend.0.last": "2027-06",
    "existing.minimum_spend.0.discount_rate~pct": "5",
    "existing.commitments.0.label": "Reservation",
    "existing.commitments.0.provider": "aws",
    "existing.commitments.0.accelerator": "H100",
    "existing.commitments.0.accelerator_count": "8",
    "existing.commitments.0.price_per_month": "20000",
    "existing.commitments.0.ends": "2027-03",
    "existing.leased_servers.0.server": "dgx-h100",
    "existing.leased_servers.0.rent_per_month": "9000",
    "existing.leased_servers.0.ends": "2027-03",
}


def test_the_address_carries_them_into_the_request() -> None:
    existing = read_plan_request(as_query(HOURS | BOXES))["existing"]
    assert existing["credits"][0]["amount"] == 50000
    assert existing["minimum_spend"][0]["discount_rate"] == 0.05
    assert existing["commitments"][0]["ends"] == "2027-03"
    assert existing["leased_servers"][0]["server"] == "dgx-h100"


def test_each_has_a_box_and_the_answer_counts_them(client: Any, prices: Any) -> None:
    page = text(get(client, "plan", HOURS | BOXES | {"edit": "1"}))
    for name in BOXES:
        assert f'name="{name}"' in page, name
    answer = get(client, "plan", HOURS | BOXES).context["page"].answer
    assert any(line.category == "credit" for one in answer.feasible for line in one.lines)
