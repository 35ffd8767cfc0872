"""A plan of two or three months in one sample, costed by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.costing.analysis.outcomes import Outcomes
from planner.costing.analysis.plan_costs import (
    Cohort,
    PlanCosts,
    RentMix,
    RentPart,
    Resale,
    UnitCosts,
)
from planner.costing.analysis.samples import Market, stretch_peaks
from planner.costing.analysis.simulation import cost_plans, plan_units
from planner.costing.cost_model.capacity_source import CapacitySource, SpotAvailability
from planner.costing.cost_model.terms import Term
from planner.costing.optimizer.work import WorkMeter

OD = CapacitySource("od", "", "on_demand", "h100", 8, 8.0)
SPOT = CapacitySource("spot", "", "spot", "h100", 8, 8.0, is_spot=True)


def mix(*parts: RentPart, spot: float = 0.0, data: float = 0.0, width: Any = (1.0, 1.5)) -> RentMix:
    months = len(width)
    return RentMix(
        parts, np.full((months, 2), data), np.full(months, spot), np.array(width), np.zeros(months)
    )


def part(source: CapacitySource, *rates: tuple[float, float], **fields: Any) -> RentPart:
    plain = {"is_fallback": False, "driver_key": source.key}
    return RentPart(source, rate=np.array(rates), **(plain | fields))


RENT = mix(part(OD, (2, 3), (4, 5)), data=0.5)
BEYOND = mix(part(OD, (7, 8), (7, 8)))


def plan(**changes: Any) -> PlanCosts:
    """Units of width 1 serve 40 h of a month; a width of 1 is lacking at the peak."""
    plain = {
        "fixed": np.array([100.0, 110.0]), "residual": (), "width": np.ones(2),
        "hours": np.array([40.0, 40.0]), "later": (), "usable": np.ones(2),
        "lacking": np.ones(2), "in_use": np.array([[0.1, 0.2], [0.3, 0.4]]), "rent": RENT,
        "more": RENT, "on_demand": BEYOND,
    }  # fmt: skip
    return PlanCosts(**(plain | changes))


@pytest.mark.parametrize(
    ("needed", "has_units", "rented"),
    [(3.0, False, 3.0), (3.0, True, 0.0), (5.0, True, 8.0), (13.0, False, 16.0), (0.0, False, 0.0)],
)
def test_what_no_unit_serves_rents_at_least_a_part_of_a_node(
    needed: float, has_units: bool, rented: float
) -> None:
    """More is rented by whole nodes of 8, to the nearest, where the plan rents nothing."""
    nodes = replace(RENT, node=np.full(2, 8.0), width=np.zeros(2))
    found = nodes.follow(np.full(2, needed), np.zeros(2), np.full(2, has_units))
    assert found.tolist() == [rented, rented]


MARKET = Market(np.array([100.0, 100.0]), np.array([2.0, 2.0]), {"od": 0, "spot": 1}, 1.0, 0.0)


def outcomes(**changes: Any) -> Outcomes:
    """All as planned, but for prices on demand: 1, then 2, then 3 at the horizon's end."""
    one = np.ones(1)
    prices = np.array([[[1.0, 2.0, 3.0]], [[1.0, 1.0, 1.0]]])
    plain = {
        "slip": np.array([0]), "growth": np.ones((1, 2)), "prices": prices,
        "is_rent": np.array([True, True]), "interruptions": one, "waiting": one, "lost": one,
    }  # fmt: skip
    return Outcomes(**(plain | changes))


def cost(one: PlanCosts, market: Market = MARKET, **changes: Any) -> list[float]:
    """Net present and nominal."""
    return [float(x) for x in cost_plans([one], market, outcomes(**changes))[:2, 0, 0]]


def test_a_sample_costs_what_is_fixed_what_is_used_and_what_is_rented() -> None:
    """60 of 100 h lack over 50 h at peak: 0.2 of width more than planned is rented besides 1 and
    1.5, for 60 h and 85 h; units serve 40 h, then 15."""
    present = 100 + 40 * 0.1 + 15 * 0.3 + 60 * 2 + 85 * 4 * 2 + 145 * 0.5
    nominal = 110 + 40 * 0.2 + 15 * 0.4 + 60 * 3 + 85 * 5 * 2 + 145 * 0.5
    assert cost(plan()) == pytest.approx([present, nominal])


def test_a_residual_value_moves_with_the_price_at_the_end() -> None:
    moved, still = np.array([-10.0, -20.0]), np.array([-1.0, -2.0])
    for most, factor in ((4.0, 3.0), (2.5, 2.5)):  # of the price paid, never more
        priced = plan(residual=(Resale("od", moved, most), Resale("", still, 1.5)))
        change = np.array(cost(priced)) - cost(plan())
        assert change == pytest.approx([-10 * factor - 1, -20 * factor - 2])


def test_units_serve_the_share_that_the_plan_uses_of_them() -> None:
    """20 of 40 h: 80 lack, 0.6 of width more is rented: 80 h and 105 h, none of units then."""
    rented = 80 * 2 + 105 * 4 * 2 + 185 * 0.5
    half = plan(usable=np.array([0.5, 0.5]))
    assert cost(half)[0] == pytest.approx(100 + 20 * 0.1 + rented)


def test_units_serve_no_more_than_their_width_at_the_peak() -> None:
    wide = plan(hours=np.array([400.0, 400.0]))
    # 50 of 100 h lack, 1 of width as planned: 50 h and 75 h are rented, 50 h and 25 h served.
    rented = 50 * 2 + 75 * 4 * 2 + 125 * 0.5
    assert cost(wide)[0] == pytest.approx(100 + 50 * 0.1 + 25 * 0.3 + rented)


def test_what_is_rented_beyond_the_plan_has_prices_of_its_own() -> None:
    """The plan rents 50 h and 75 h; 10 h of each month go beyond it."""
    split = plan(more=BEYOND)
    present = 100 + 40 * 0.1 + 15 * 0.3 + 50 * 2 + 75 * 4 * 2 + 125 * 0.5 + 10 * 7 + 10 * 7 * 2
    assert cost(split)[0] == pytest.approx(present)


def test_what_nothing_moves_costs_what_the_plan_says() -> None:
    still = mix(part(OD, (2, 3), (4, 5), driver_key=""), data=0.5)
    present = 100 + 40 * 0.1 + 15 * 0.3 + 60 * 2 + 85 * 4 + 145 * 0.5
    assert cost(plan(rent=still, more=still))[0] == pytest.approx(present)


def test_growth_moves_the_peak_and_the_level_of_hours_how_long_it_lasts() -> None:
    """Twice the hours: at a peak twice as high 160 h lack over 50 h, 2.2 of width more than
    planned; where they last twice as long over 100 h, 0.6 more."""
    no_use = plan(in_use=np.zeros((2, 2)), fixed=np.zeros(2), rent=BEYOND, more=BEYOND)
    grown = cost(no_use, growth=np.array([[2.0, 2.0]]))[0]
    assert grown == pytest.approx((160 * 7) + (185 * 7 * 2))
    longer = cost(no_use, level=np.array([2.0]))[0]
    assert longer == pytest.approx((160 * 7) + (210 * 7 * 2))


def test_a_peak_lasts_a_month_at_most_and_late_work_as_long_as_planned() -> None:
    at_peak, level = np.array([50.0, 0.0, 40.0, 1000.0]), np.array([2.0, 20.0])

    def stretch(slip: int, level: Any = None, **fields: Any) -> list[Any]:
        return [x.tolist() for x in stretch_peaks(at_peak, slip, replace(MARKET, **fields), level)]

    assert stretch(0) == [[50, 0, 40, 1000], [0, 0, 0, 0]]
    assert stretch(0, level) == [
        [[100, 0, 80, 1000], [730, 0, 730, 1000]],
        [[0, 0, 0, 1000], [pytest.approx(270), 0, pytest.approx(70), 19_000]],
    ]
    assert stretch(1, level, replica=2) == stretch(1)
    assert stretch(1) == [[0, 50, 0, 730], [0, 0, 0, pytest.approx(310)]]


def test_hours_beyond_the_month_are_rented_beside_idle_units() -> None:
    """730 hours at a peak of 1, and a fifth more than that at 1 an hour; by nodes of 4, four times
    as many. Without a stated peak the units do them."""
    alone = mix(part(OD, *((1.0, 1.0),) * 2, driver_key=""), width=(0.0, 0.0))
    one = plan(
        fixed=np.zeros(2), width=np.full(2, 2.0), hours=np.full(2, 1460.0), lacking=np.zeros(2),
        in_use=np.zeros((2, 2)), rent=alone, more=alone,
    )  # fmt: skip
    busy = replace(MARKET, hours=np.array([730.0, 0.0]), peak=np.array([1.0, 0.0]))
    assert cost(one, busy)[0] == 0
    level = np.array([1.2])
    assert cost(one, busy, level=level)[0] == pytest.approx(146)
    assert cost(one, replace(busy, is_level=True), level=level)[0] == 0
    nodes = replace(alone, node=np.full(2, 4.0))
    assert cost(replace(one, rent=nodes, more=nodes), busy, level=level)[0] == pytest.approx(584)


def only(one: RentMix, **fields: Any) -> PlanCosts:
    """A plan that rents 50 h and 75 h and nothing else."""
    return plan(
        fixed=np.zeros(2), width=np.zeros(2), hours=np.zeros(2), in_use=np.zeros((2, 2)),
        lacking=np.array([2.0, 2.0]), rent=one, more=one, **fields,
    )  # fmt: skip


def test_spot_costs_what_interruptions_lose() -> None:
    one = only(mix(part(SPOT, (2, 2), (2, 2)), part(OD, (0, 0), (0, 0))))
    assert cost(one, lost=np.array([1.5]))[0] == pytest.approx(125 * 2 * 1.5)


@pytest.mark.parametrize(("patience", "taken"), [(0.0, 1.0), (7.3, float(np.exp(-1)))])
def test_what_spot_does_not_serve_falls_to_on_demand(patience: float, taken: float) -> None:
    """10 interruptions of 7.3 h are a tenth of a month, twice as many a fifth, each beside the
    hours served; after `patience` only exp(−7.3 / 7.3) of them are waited for in vain. A wait three
    times as long takes more."""
    there = replace(SPOT, availability=SpotAvailability(10.0, 7.3))
    market = replace(MARKET, spot_patience_hours=patience)
    planned, found = (x * taken / (1 + x * taken) for x in (0.1, 0.2))
    changes = {"lost": np.array([1.5]), "interruptions": np.array([2.0])}
    own = only(mix(part(there, (2, 2), (2, 2))))
    factor = 1.5 * (1 - found) / (1 - planned)
    assert cost(own, market, **changes)[0] == pytest.approx(250 * factor)
    fallback = only(mix(part(there, (2, 2), (2, 2), is_fallback=True)))
    assert cost(fallback, market, **changes)[0] == pytest.approx(250 * found / planned)
    waited = cost(own, waiting=np.array([3.0]))[0]
    assert waited == pytest.approx(250 * (1 - 0.3 / 1.3) / (1 - 0.1 / 1.1))


def test_spot_beyond_its_share_of_all_hours_is_rented_on_demand() -> None:
    """Half of 50 h and 75 h is spot, 20 of 100 h may be: 5 h and 17.5 h go, which are spot's
    share of 10 h and 35 h of the mix."""
    half = only(mix(part(SPOT, (2, 3), (2, 3)), part(OD, (4, 5), (4, 5)), spot=0.5))
    free = np.array(cost(half))
    assert free == pytest.approx([125 * 2 + 50 * 4 + 75 * 4 * 2, 125 * 3 + 50 * 5 + 75 * 5 * 2])
    held = cost(half, replace(MARKET, max_spot_share=0.2))
    moved = [-45 * 2 + 5 * 7 + 17.5 * 7 * 2, -45 * 3 + 5 * 8 + 17.5 * 8 * 2]
    assert held - free == pytest.approx(moved)


def test_a_mix_that_is_no_spot_in_one_month_is_held_in_the_others() -> None:
    parts = (part(SPOT, (2, 2), (0, 0)), part(OD, (0, 0), (4, 4)))
    first = replace(mix(*parts), spot_share=np.array([1.0, 0.0]))
    held = cost(only(first), replace(MARKET, max_spot_share=0.2))[0]
    assert held == pytest.approx(20 * 2 + 30 * 7 + 75 * 4 * 2)


def cohort(month: int, units: int, lead: int = 0, can: Any = (True,) * 4, **fields: Any) -> Cohort:
    """Units of width 2 for the rest of four months: 10, 20, … to operate, 100, 200, … priced."""
    source = CapacitySource(
        "od", "", "reserved", "h100", 8, 2.0, term=Term(4, 5, lead, 60), hours_per_month=30.0
    )
    by_month = np.arange(1.0, 5.0)[:, None] * np.array([[1.0, 2.0]])
    costs = UnitCosts(
        operating=10 * by_month, priced=100 * by_month,
        residual=fields.get("residual", 0 * by_month), most_resale=np.full(4, 2.0),
        hour=np.zeros((4, 2)), can_start=np.array(can),
    )  # fmt: skip
    return Cohort(source, costs, month, units)


FOUR = Market(np.full(4, 1000.0), np.full(4, 10.0), {"od": 0}, 1.0, 0.0)
"""A peak of 10 for 100 hours."""


def started(*later: Cohort, growth: Any = (1.0,) * 4, rate: float = 0.0, slip: int = 0) -> float:
    """Net present cost of later starts beside units of width 10; prices 1, 2, 3, 4, 5."""
    nothing = replace(mix(part(OD, *((rate, rate),) * 4, driver_key=""), width=(0.0,) * 4))
    one = plan(
        fixed=np.zeros(2), width=np.full(4, 10.0), hours=np.full(4, 300.0), later=later,
        usable=np.ones(4), lacking=np.zeros(4), in_use=np.zeros((4, 2)), rent=nothing,
        more=nothing,
    )  # fmt: skip
    prices = np.arange(1.0, 6.0).reshape(1, 1, 5)
    return cost(one, FOUR, growth=np.array([growth]), prices=prices, slip=np.array([slip]))[0]


@pytest.mark.parametrize(
    ("growth", "units"), [(1.0, 4), (1.2, 4), (0.8, 2), (0.7, 1), (0.6, 0), (0.1, 0)]
)
def test_as_many_are_started_as_bring_service_nearest_to_the_demand(
    growth: float, units: int
) -> None:
    """Of 18 of width planned from month 1 on, 10 are there, and a unit brings 2."""
    each = 20 + 200 * 2
    assert started(cohort(1, 4), growth=(1.0, growth, 9.0, 9.0)) == pytest.approx(units * each)


def test_what_an_earlier_cohort_started_is_in_service() -> None:
    """Planned 18, then 24: at half as much again as 16 the first cohort starts 3, at 20 in all
    the second finds 16 in service and starts 2 of its 3."""
    found = started(cohort(1, 4), cohort(2, 3), growth=(1.0, 16 / 18, 20 / 24, 1.0))
    assert found == pytest.approx(3 * (20 + 200 * 2) + 2 * (30 + 300 * 3))


def test_a_start_looks_ahead_to_the_month_of_its_delivery() -> None:
    """Ordered in month 1, in service from month 2: the first cohort's 3 are there by then."""
    found = started(cohort(0, 3, lead=2), cohort(1, 2, lead=1), growth=(1.0, 14 / 20, 1.0, 1.0))
    assert found == pytest.approx(3 * (10 + 100 * 1))
    found = started(cohort(0, 3, lead=2), cohort(1, 2, lead=1), growth=(1.0, 18 / 20, 1.0, 1.0))
    assert found == pytest.approx(3 * (10 + 100 * 1) + 1 * (20 + 200 * 2))


def test_late_work_starts_later_at_the_prices_of_then() -> None:
    assert started(cohort(1, 4), slip=1) == pytest.approx(4 * (30 + 300 * 3))
    assert started(cohort(1, 4), slip=3) == 0.0


def test_nothing_is_started_where_it_could_not_be_delivered() -> None:
    assert started(cohort(1, 4, can=(True, False, True, True))) == 0.0
    # Servers that are sold in some months alone come when they are sold again.
    one = cohort(1, 4, can=(True, True, False, True))
    bought = replace(one.source, purchase_option="owned", available=one.costs.can_start)
    late = started(replace(one, source=bought), slip=1)
    assert late == started(replace(one, source=bought), slip=2) == pytest.approx(4 * (40 + 400 * 4))


def test_later_units_serve_and_are_resold() -> None:
    """They bring 8 of width and 4 · 2 · 30 h: 300 of 1,000 h are served, then 540."""
    alone = 4 * (20 + 200 * 2)
    assert started(cohort(1, 4), rate=1.0) == pytest.approx(alone + 700 + 3 * 460)
    late = 4 * (30 + 300 * 3)
    # What slips by a month is done in the last one: 2,000 h, and nothing in the first.
    assert started(cohort(1, 4), rate=1.0, slip=1) == pytest.approx(late + 700 + 460 + 1460)
    resold = cohort(1, 4, residual=np.full((4, 2), -7.0))
    assert started(resold) == pytest.approx(alone - 4 * 7 * 4)  # twice what was paid, at 2


def test_work_and_progress_are_told_by_sample() -> None:
    meter, seen = WorkMeter(), list[tuple[int, int]]()
    sample = outcomes()
    cost_plans([plan(), plan()], MARKET, sample, lambda *at: seen.append(at), meter)
    assert seen == [(0, 1)]
    each = 30 + 12 * (0.008 + 3 * 0.002)
    assert plan_units(1, plan(), 2) == pytest.approx(each)
    assert meter.done == int(2 * each)
