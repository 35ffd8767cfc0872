"""Lowest prices of what a plan may rent, for sizing before there is a plan."""

from __future__ import annotations

from typing import Any

import pytest

from planner.services.projects.lowest_rents import LowestRents
from planner.sizing.estimate import estimate
from tests.planner.costing.market_of import H100, catalog, offer

TRAINING = {"kind": "training", "parameters": 7e9, "tokens": 140e9}
MARKET = catalog(
    offer("40"),
    offer("16", provider="vast", network_gbps=400.0),
    offer("24", region="cn-north-1"),
    offer("48", region="eu-west-1"),
)


def rents(market: Any = MARKET, **request: Any) -> float | None:
    candidates = estimate({"workload": TRAINING}).answer.candidates
    asked = {"workload": TRAINING, **request}
    return LowestRents.read(asked, market, candidates).usd_per_hour(H100)


@pytest.mark.parametrize(
    ("limits", "usd"),
    [
        ({}, 5),
        ({"partitions": ["commercial", "marketplaces"]}, 2),
        ({"providers": ["vast"]}, 2),
        ({"regions": ["eu-west-1"]}, 6),
        ({"purchase_options": ["spot"]}, None),
    ],
)
def test_a_price_is_of_what_the_plan_may_rent(limits: Any, usd: float | None) -> None:
    assert rents(constraints=limits) == usd


def test_limits_that_cannot_be_read_leave_the_usual_rules() -> None:
    assert rents(constraints={"providers": 7}) == 5


def test_machines_that_hold_no_job_and_join_none_have_no_price() -> None:
    candidates = estimate({"workload": TRAINING}).answer.candidates
    h100 = next(one for one in candidates if one.accelerator == H100)
    assert (h100.min_accelerators or 0) > 1
    assert rents(catalog(offer("2", count=1))) is None
