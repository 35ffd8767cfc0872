"""The advice in words, and what it says of limits."""

from __future__ import annotations

from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer


def test_a_quota_that_no_machine_fits_is_named() -> None:
    quota = {"provider": "aws", "accelerator": "H100-80GB-SXM", "max_accelerators": 4}
    found = compared(
        catalog(offer("55.04")), hours=8 * 730, on_prem={"servers": []},
        constraints={"quotas": [quota]},
    )  # fmt: skip
    reasons = found.scenarios["on_demand"].why_not
    larger = "the quota for H100 SXM5 80 GB at AWS (4) excludes 1, whose machines are larger"
    assert larger in reasons


def test_a_negative_cost_is_still_advised() -> None:
    owned = [{"server": "dgx-h100", "units": 50, "bought": "2026-12"}]
    found = compared(hours=100, horizon_months=1, on_prem={"already_owned": owned})
    assert found.recommendation.scenario is not None
