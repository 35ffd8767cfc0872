"""Edition 2, hours without a peak: the work goes on all month, and more of it never costs less."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.answer.common import ScenarioKey
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer
from tests.properties import examples

MONTH = 730
ALONE: dict[str, Any] = {"horizon_months": 12, "on_prem": {"servers": []}}
ONE, TWO, FOUR, EIGHT = (
    offer(price, count=count, instance_type=f"m{count}", region=f"r{count}")
    for count, price in ((1, "7"), (2, "11"), (4, "21"), (8, "40"))
)
YEAR = offer("25", "reserved", count=8, instance_type="m8", region="r8", term_months=12)
SERVER = {
    "server": "custom", "label": "box", "accelerator": H100, "accelerator_count": 4,
    "unit_price": 90_000, "power_kw": 5,
}  # fmt: skip


def rented(found: Compared) -> float:
    """Machine-hours of a month."""
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    return sum(float(hours[0]) for hours in plan.used_hours.values())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("hours", "machine_hours"),
    [(365, 365), (730, 730), (731, 730), (5839, 730), (5840, 730), (5841, 1460), (11_680, 1460)],
)
def test_a_large_machine_is_rented_for_the_month(hours: float, machine_hours: float) -> None:
    assert rented(compared(catalog(EIGHT), hours, **ALONE)) == pytest.approx(machine_hours)


@pytest.mark.parametrize("hours", [100, 730, 731, 1000, 5841])
def test_machines_of_one_accelerator_are_rented_for_the_hours_of_the_work(hours: float) -> None:
    found = compared(catalog(ONE), hours, **ALONE)
    assert rented(found) == pytest.approx(hours)
    assert found.scenarios[ScenarioKey.ON_DEMAND].total_cost == Decimal(hours * 7 * 12)


def test_a_job_of_several_takes_them_at_once() -> None:
    work = {
        "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": MONTH,
        "accelerators_per_job": 8,
    }  # fmt: skip
    found = compared(catalog(EIGHT), workload=work, **ALONE)
    assert found.demand.peak_accelerators.tolist() == [8.0] * 12
    assert rented(found) == pytest.approx(MONTH / 8)


def test_a_peak_that_is_given_is_kept_to() -> None:
    work = {
        "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 731,
        "peak_accelerators": 2,
    }  # fmt: skip
    assert rented(compared(catalog(EIGHT), workload=work, **ALONE)) == pytest.approx(365.5)


def test_the_answer_says_how_the_work_is_taken_to_run() -> None:
    found = compared(catalog(EIGHT), 731, **ALONE)
    assert "evenly over the month as no peak is given" in found.answer.demand.method
    first = compared(catalog(EIGHT), 731, rules=1, **ALONE)
    assert first.demand.peak_accelerators.tolist() == [2.0] * 12
    assert first.answer.demand.method == "accelerator-hours as given"


MARKETS = st.lists(st.sampled_from([ONE, TWO, FOUR, EIGHT, YEAR]), min_size=1, unique=True)
AMOUNTS = st.integers(1, 16 * MONTH) | st.sampled_from(
    [n * MONTH + more for n in (1, 2, 4, 7, 8, 9, 16) for more in (0, 1)]
)


@pytest.mark.sweep
@given(prices=MARKETS, one=AMOUNTS, other=AMOUNTS, job=st.sampled_from([1, 1, 2, 8]), owns=...)
@examples(short=1, long=500)
def test_more_demand_never_costs_less(
    prices: list[Any], one: int, other: int, job: int, owns: bool
) -> None:
    """Of plans proven within their gap: what less work costs is at most what more work costs."""
    owned = [{"server": "box", "units": 1, "bought": "2026-01"}] if owns else []
    on_prem = {"servers": [SERVER | {"max_units": 0}] if owns else [], "already_owned": owned}
    less, more = (
        compared(
            catalog(*prices), sensitivity=False, cheaper_if=False, horizon_months=12,
            on_prem=on_prem,
            workload={
                "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": hours,
                "accelerators_per_job": job,
            },
        ).scenarios[ScenarioKey.HYBRID]
        for hours in sorted((one, other))
    )  # fmt: skip
    assert less.feasible or not more.feasible
    if more.feasible:
        assert less.bound <= more.cost + abs(more.cost) * 1e-9
        assert less.cost <= more.cost + abs(more.cost) * 0.01 + 0.05
