"""The advice in words, and what it says of limits."""

from __future__ import annotations

import pytest

from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer


def test_a_limit_is_worth_what_loosening_it_saves() -> None:
    """Half of the work must go to the dearer cloud: 8 more of quota bring it back."""
    prices = catalog(
        offer("50"), offer("80", provider="azure", region="westus3", instance_type="ND96")
    )
    quota = {"provider": "aws", "accelerator": "H100-80GB-SXM", "max_accelerators": 8}
    found = compared(
        prices, hours=16 * 730, horizon_months=12, on_prem={"servers": []}, explain=True,
        constraints={"quotas": [quota]}, finance={"discount_rate_per_year": 0},
    ).as_dict()  # fmt: skip
    (value,) = found["marginal_values"]
    assert (value["limit"], value["step"]) == ("quota aws nvidia-h100-80gb-sxm", 8)
    assert float(value["saving"]) == pytest.approx(730 * 12 * 30)


def test_limits_that_clash_are_named_with_the_least_that_would_do() -> None:
    quota = {"provider": "aws", "accelerator": "H100-80GB-SXM", "max_accelerators": 4}
    found = compared(
        catalog(offer("55.04")), hours=8 * 730, on_prem={"servers": []},
        constraints={"quotas": [quota]},
    )  # fmt: skip
    first, *more = found.scenarios["on_demand"].why_not
    assert first == (
        "it takes a quota for H100 SXM5 80 GB at AWS of at least 8 accelerators instead of "
        "4 accelerators"
    )
    assert "the quota for H100 SXM5 80 GB at AWS (4) excludes 1, whose machines are larger" in more


def test_a_negative_cost_is_still_advised() -> None:
    owned = [{"server": "dgx-h100", "units": 50, "bought": "2026-12"}]
    found = compared(hours=100, horizon_months=1, on_prem={"already_owned": owned})
    assert found.recommendation.scenario is not None
