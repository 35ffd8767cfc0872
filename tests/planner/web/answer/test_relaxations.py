"""A page without a plan: what would do, and the link that asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.planner.web.asking import HOURS, get, text

ALONE = HOURS | {"on_prem.servers": "none"}


@pytest.mark.parametrize(
    "limits",
    [
        {"constraints.monthly_budget": "100"},
        {"constraints.total_budget": "100"},
        {"constraints.max_spot_share~pct": "10", "constraints.purchase_options": "spot"},
    ],
)
def test_the_link_asks_for_what_would_do(client: Any, prices: Any, limits: dict[str, str]) -> None:
    response = get(client, "plan", ALONE | limits)
    page = response.context["page"]
    shown = text(response)
    assert "No plan keeps to these limits." in shown
    assert page.loosenings
    for change, address in page.loosenings:
        assert f"Plan with {change}" in shown
        wider = client.get(f"{response.request['PATH_INFO']}?{address}")
        assert wider.context["page"].recommended is not None, change


def test_a_page_with_a_plan_offers_none(client: Any, prices: Any) -> None:
    assert get(client, "plan", ALONE).context["page"].loosenings == []
