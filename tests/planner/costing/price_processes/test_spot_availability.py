"""Whether spot is there: shares that add up, and their limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.costing.price_processes.families import Tier
from planner.costing.price_processes.spot_availability import SpotAvailability, find_availability
from pricing.common.invalid_input import InvalidInput


@given(st.floats(0, 100), st.floats(0, 500), st.floats(0, 500))
def test_shares_add_up(rate: float, waiting: float, patience: float) -> None:
    one = SpotAvailability(rate, waiting)
    shares = (one.available_share, one.fallback_share(patience), one.waiting_share(patience))
    assert sum(shares) == pytest.approx(1)
    assert all(-1e-12 <= share <= 1 for share in shares)


def test_patience_0_leaves_nothing_waiting() -> None:
    one = SpotAvailability(2.0, 10.0)
    assert one.waiting_share(0) == pytest.approx(0)
    assert one.fallback_share(1e6) == pytest.approx(0)


def test_an_hour_costs_between_spot_and_on_demand() -> None:
    one = SpotAvailability(20.0, 12.0)
    assert 2.0 < one.effective_usd_per_hour(2.0, 6.0, patience_hours=1.0) < 6.0
    assert SpotAvailability(0.0, 12.0).effective_usd_per_hour(2.0, 6.0, 1.0) == 2.0


def test_a_band_is_taken_where_there_is_one() -> None:
    known = find_availability("aws", "af-south-1", "g4dn.12xlarge", Tier.INFERENCE)
    assert known.interruptions_per_month == pytest.approx(0.0253, abs=1e-3)
    other = find_availability("gcp", "us-central1", "a3-highgpu-8g", Tier.TRAINING)
    assert "mean of all bands" in other.source
    assert "assumed" in other.source


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match="waiting_hours"):
        SpotAvailability(1.0, -1.0)
    with pytest.raises(InvalidInput, match="patience_hours"):
        SpotAvailability(1.0, 1.0).fallback_share(-1.0)
