"""Lowest prices of what a plan may rent, for sizing before there is a plan."""

from typing import Any

import pytest

from planner.comparison.lowest_rents import LowestRents
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


@pytest.mark.parametrize(
    ("software", "accelerators", "usd"),
    [
        ("cuda", None, 5),
        ("any", ["H100"], 5),
        ("xla", None, None),
        (None, ["A100-80GB", "H100"], 5),
        (None, ["A100-80GB"], None),
    ],
)
def test_stated_software_and_accelerators_bind(
    software: Any, accelerators: Any, usd: float | None
) -> None:
    limits = {"accelerators": accelerators} if accelerators else {}
    assert rents(constraints=limits, workload={**TRAINING, "software": software}) == usd


@pytest.mark.parametrize(
    ("counts", "used", "more", "at_work"),
    [
        ((8,), 1, {}, 8),
        ((8,), 12, {}, 16),
        ((1, 8), 3, {}, 3),
        ((8,), 1, {"workload": {**TRAINING, "accelerators_per_job": 2}}, 1),
        ((8,), 1, {"constraints": {"allow_partial_nodes": True}}, 1),
    ],
)
def test_a_run_takes_every_accelerator_of_its_machines(
    counts: Any, used: int, more: Any, at_work: int
) -> None:
    """As the plan that follows rents them; not where jobs are of a stated size."""
    market = catalog(*(offer(str(5 * n), count=n, network_gbps=400.0) for n in counts))
    candidates = estimate({"workload": TRAINING}).answer.candidates
    small = [one.model_copy(update={"min_accelerators": 1}) for one in candidates]
    asked = LowestRents.read({"workload": TRAINING, **more}, market, small)
    assert asked.at_work(H100, used) == at_work


def test_machines_that_hold_no_job_and_join_none_have_no_price() -> None:
    candidates = estimate({"workload": TRAINING}).answer.candidates
    h100 = next(one for one in candidates if one.accelerator == H100)
    assert (h100.min_accelerators or 0) > 1
    assert rents(catalog(offer("2", count=1))) is None
