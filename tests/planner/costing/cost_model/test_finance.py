"""Discounting, annuities and depreciation."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from planner.costing.cost_model.terms import (
    depreciation_shares,
    discount_factors,
    trend_factors,
)

RATES = st.floats(0, 1)


def test_a_year_from_now_is_worth_less_by_the_rate() -> None:
    assert discount_factors(0.1, 13)[12] == pytest.approx(1 / 1.1)


@pytest.mark.parametrize("method", ["straight_line", "macrs_5"])
def test_all_capital_is_written_off(method: str) -> None:
    assert sum(depreciation_shares(method, 37)) == pytest.approx(1.0)


def test_without_depreciation_nothing_is_written_off() -> None:
    assert depreciation_shares("none", 60) == ()


def test_macrs_takes_its_own_life() -> None:
    assert len(depreciation_shares("macrs_5", 36)) == 72


def test_a_trend_grows_by_the_year() -> None:
    assert trend_factors(-0.25, 25)[[0, 12, 24]].tolist() == pytest.approx([1.0, 0.75, 0.5625])
