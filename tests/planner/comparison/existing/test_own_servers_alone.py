"""Work that may be done on servers of one's own alone: data that may go to no cloud."""

from __future__ import annotations

from typing import Any

import pytest

from planner.contract.request.comparison import read_request
from pricing.common.invalid_input import InvalidInput
from tests.planner.comparison.compared import compared

SERVERS = [{"server": "hgx-h100-8", "unit_price": 200_000}]


def own(hours: Any, **on_prem: Any) -> Any:
    return compared(hours=hours, use_catalog=False, on_prem={"servers": SERVERS, **on_prem})


def test_a_request_without_any_offer_is_planned_on_servers() -> None:
    found = own([0] * 3 + [4000] * 21)
    verdict = found.answer.verdict
    assert [part.action for part in verdict.decision] == ["buy"]
    assert not any(found.answer.by_key[key].feasible for key in ("on_demand", "cloud_mix"))


def test_a_late_server_is_replaced_by_nothing_that_may_not_be_rented() -> None:
    """Before, its work was said to be rented for what an hour of the plan costs."""
    late = own([0] * 3 + [4000] * 21).answer.verdict.late_delivery
    assert late is not None
    assert late.cost == 0
    assert "their work waits, as nothing may be rented in the meantime." in late.sentence


def test_where_servers_come_too_late_the_answer_says_from_when_they_serve() -> None:
    verdict = own(4000).answer.verdict
    assert verdict.total is None
    assert (
        "servers ordered in January 2027 are in service from April 2027: begin the work then, or "
        "give a shorter on_prem.lead_time_months" in verdict.sentence
    )
    assert own(4000, lead_time_months=0).answer.verdict.total


def test_of_servers_alone_nothing_is_said_of_commitments() -> None:
    """Those in place do the work of every scenario; before, commitments were "the same as on
    demand", which there is not."""
    there = {"servers": [], "already_owned": [{"server": "hgx-h100-8", "bought": "2026-06"}]}
    answer = compared(hours=4000, use_catalog=False, on_prem=there).answer
    assert answer.verdict.total
    assert not any("on demand" in words for words in answer.warnings)


def test_without_servers_either_it_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no custom_offers and no servers; give one"):
        read_request(
            {
                "use_catalog": False,
                "on_prem": {"servers": []},
                "workload": {
                    "kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 100
                },
            }
        )  # fmt: skip
