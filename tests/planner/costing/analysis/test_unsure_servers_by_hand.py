"""Servers that cost something else than planned or come late, costed by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.costing.analysis.plan_costs import Cohort
from planner.costing.cost_model.ownership import (
    P90_DEVIATIONS,
    DeliveryRisk,
    PriceRange,
    ServerToBuy,
)
from tests.planner.costing.analysis.test_recourse_by_hand import (
    FOUR,
    OD,
    cohort,
    cost,
    mix,
    part,
    plan,
)

BOX = ServerToBuy("box", "Box", "h100", 8, 100.0, 1.0, 0.1)


def bought(month: int, lead: int = 0) -> Cohort:
    """Three units of width 2 and 30 h a month; a month of service costs 1, or 2 nominal."""
    one = cohort(month, 3, lead=lead)
    each = np.ones((4, 4, 1)) * np.array([[[1.0, 2.0]]])
    return replace(one, costs=replace(one.costs, monthly=each))


def unsure(one: Cohort, server: ServerToBuy, peak: float = 10.0, **changes: Any) -> float:
    """Net present cost of units of width 4 beside what may be late; 200 h asked at a
    peak of 10, an hour rented at 5; prices 1, 2, 3, 4, 5."""
    rent = mix(part(OD, *((5.0, 5.0),) * 4, driver_key=""), width=(0.0,) * 4)
    first = one.month == 0
    there = one.service(0) if first else np.zeros(4)
    plain = plan(
        fixed=np.zeros(2), width=4.0 + 6.0 * there, hours=120.0 + 180.0 * there,
        usable=np.ones(4), lacking=np.zeros(4), in_use=np.zeros((4, 2)), rent=rent, more=rent,
        later=() if first else (one,), bought=(one,) if first else (),
    )  # fmt: skip
    market = replace(FOUR, hours=np.full(4, 200.0), peak=np.full(4, peak), servers={"od": server})
    fields = {"growth": np.ones((1, 4)), "prices": np.arange(1.0, 6.0).reshape(1, 1, 5)}
    return cost(plain, market, **(fields | changes))[0]


LATE = {"delivery": np.array([0.0])}
DEAR = {"server_price": np.array([1.0])}


def test_while_a_server_is_late_its_work_is_rented_and_it_costs_nothing_to_run() -> None:
    """Of 200 h a month 120 are rented without it: two months late cost 1,200 less 6."""
    late = replace(BOX, delivery=DeliveryRisk(2, 1.0))
    on_time = unsure(bought(0, lead=1), late)
    assert unsure(bought(0, lead=1), late, **LATE) == pytest.approx(on_time + 2 * 120 * 5 - 6)
    assert unsure(bought(0, lead=1), replace(BOX, delivery=DeliveryRisk(2, 0.0)), **LATE) == on_time
    never = replace(BOX, delivery=DeliveryRisk(9, 1.0))
    assert unsure(bought(0, lead=1), never, **LATE) == pytest.approx(on_time + 3 * 120 * 5 - 9)


def test_a_server_that_comes_early_serves_and_runs_from_then_on() -> None:
    """At a draw of 0 the quoted lead time is 7 months, two and three less than planned here; not
    before it is ordered."""
    early = replace(BOX, delivery=DeliveryRisk.quoted(9))
    on_time = unsure(bought(0, lead=3), early)
    assert unsure(bought(0, lead=3), early, **LATE) == pytest.approx(on_time - 2 * 120 * 5 + 6)
    sooner = replace(BOX, delivery=DeliveryRisk.quoted(10))
    on_time = unsure(bought(1, lead=2), sooner)
    assert unsure(bought(1, lead=2), sooner, **LATE) == pytest.approx(on_time - 2 * 120 * 5 + 6)


def test_a_late_server_gives_no_hours_either() -> None:
    """At a peak of 5 for 40 h the width left would do 160 h, but its hours are 120 of 200."""
    late = replace(BOX, delivery=DeliveryRisk(2, 1.0))
    on_time = unsure(bought(0), late, peak=5.0)
    assert unsure(bought(0), late, peak=5.0, **LATE) == pytest.approx(on_time + 2 * 80 * 5 - 6)


def test_a_server_ordered_later_comes_late_too() -> None:
    late = replace(BOX, delivery=DeliveryRisk(1, 1.0))
    on_time = unsure(bought(1), late)
    assert unsure(bought(1), late, **LATE) == pytest.approx(on_time + 120 * 5 - 3)
    slipped = unsure(bought(1), late, slip=np.array([1]))
    assert unsure(bought(1), late, slip=np.array([1]), **LATE) > slipped


def test_what_sellers_ask_is_paid_for_each_unit_at_the_price_of_its_month() -> None:
    """A seller who asks 1.5 times as much at one standard deviation above the median."""
    asked = replace(BOX, price_range=PriceRange(1.0, 1.5**P90_DEVIATIONS))
    first = unsure(bought(0), asked)
    assert unsure(bought(0), asked, **DEAR) == pytest.approx(first + 0.5 * 3 * 100)
    later = unsure(bought(1), asked)
    assert unsure(bought(1), asked, **DEAR) == pytest.approx(later + 0.5 * 3 * 200 * 2)
    cheap = {"server_price": np.array([-1.0])}
    assert unsure(bought(0), asked, **cheap) == first


def test_firm_prices_on_time_are_as_planned() -> None:
    assert unsure(bought(0), BOX, **LATE, **DEAR) == unsure(bought(0), BOX)
