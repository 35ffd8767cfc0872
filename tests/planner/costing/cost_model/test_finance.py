"""Discounting, annuities and depreciation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.costing.cost_model.finance import (
    annual_levelised_cost_per_hour,
    capital_recovery_factor,
    depreciation_shares,
    discount_factors,
    net_present_cost,
    tax_shield,
    trend_factors,
)
from tests.properties import examples

RATES = st.floats(0, 1)


def test_a_year_from_now_is_worth_less_by_the_rate() -> None:
    assert discount_factors(0.1, 13)[12] == pytest.approx(1 / 1.1)


@examples(25, 2000)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=120))
def test_at_rate_zero_present_cost_is_the_sum(flows: list[float]) -> None:
    assert net_present_cost(flows, 0.0) == pytest.approx(sum(flows), abs=1e-6)


@examples(25, 2000)
@given(RATES, st.floats(1, 20))
def test_the_annuity_repays_the_capital(rate: float, years: float) -> None:
    whole = int(years) or 1
    paid = sum(capital_recovery_factor(rate, whole) / (1 + rate) ** y for y in range(1, whole + 1))
    assert paid == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("method", ["straight_line", "macrs_5"])
def test_all_capital_is_written_off(method: str) -> None:
    assert sum(depreciation_shares(method, 37)) == pytest.approx(1.0)


def test_without_depreciation_nothing_is_written_off() -> None:
    assert depreciation_shares("none", 60) == ()


def test_macrs_takes_its_own_life() -> None:
    assert len(depreciation_shares("macrs_5", 36)) == 72


def test_a_tax_shield_is_worth_less_later() -> None:
    now, later = tax_shield([100.0], 0.2, 0.1), tax_shield([0.0] * 12 + [100.0], 0.2, 0.1)
    assert (now, later) == (pytest.approx(20.0), pytest.approx(20 / 1.1))


def test_levelised_cost_with_interest_is_above_that_without() -> None:
    cost = [annual_levelised_cost_per_hour(1e5, 1e4, 1e3, 8760, r, 5) for r in (0.0, 0.1)]
    assert cost[0] == pytest.approx((90_000 / 5 + 1000) / 8760)
    assert cost[1] > cost[0]


def test_a_trend_grows_by_the_year() -> None:
    assert trend_factors(-0.25, 25)[[0, 12, 24]].tolist() == pytest.approx([1.0, 0.75, 0.5625])
