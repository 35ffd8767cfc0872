"""Servers in place that cost more to run than renting the work would are told."""

from __future__ import annotations

from typing import Any

import pytest

from planner.contract.answer.verdict import Alternative
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

GIVEN_UP = "on_prem.already_owned"


def without_servers(hours: float, rules: int = 6) -> list[Alternative]:
    on_prem: dict[str, Any] = {
        "servers": [],
        "already_owned": [{"server": "hgx-h100-8", "units": 3, "bought": "2025-01"}],
    }
    found = compared(
        catalog(offer("30")), hours, horizon_months=12, on_prem=on_prem, rules=rules,
        cheaper_if=True,
    )  # fmt: skip
    return [one for one in found.answer.cheaper_if if one.field.startswith(GIVEN_UP)]


def test_little_work_on_many_servers_names_what_renting_alone_would_cost() -> None:
    (told,) = (one for one in without_servers(100) if one.field == GIVEN_UP)
    assert told.value == ()
    assert told.change == "the servers you already own are given up"
    rented = compared(catalog(offer("30")), 100, horizon_months=12, on_prem={"servers": []})
    verdict = rented.answer.verdict
    assert verdict
    assert (told.total, told.plan) == (verdict.total, verdict.headline)


def test_servers_beyond_those_that_the_work_fills_are_told() -> None:
    """Three servers for 9,000 hours a month, which two could work: 12.3 accelerators at once."""
    (told,) = without_servers(9000)
    assert (told.field, told.value) == (f"{GIVEN_UP}.0.units", 2)
    assert told.plan == "Keep 2 × HGX H100 server (8x H100), already owned, for all of the hours."
    owned = [{"server": "hgx-h100-8", "units": 2, "bought": "2025-01"}]
    again = compared(
        catalog(offer("30")), 9000, horizon_months=12,
        on_prem={"servers": [], "already_owned": owned},
    ).answer.verdict  # fmt: skip
    assert again
    assert again.total == told.total


@pytest.mark.parametrize(("hours", "rules"), [(17_520, 6), (100, 5)])
def test_servers_that_the_work_fills_are_not_given_up(hours: float, rules: int) -> None:
    assert without_servers(hours, rules) == []
