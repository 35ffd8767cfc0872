"""Lines of cost over the hours of use, and where they cross."""

from __future__ import annotations

import pytest

from planner.costing.analysis.break_even import (
    Rent,
    build_cost_lines,
    compute_break_even,
    compute_rent,
    find_best_rents,
    hours_to_break_even,
)
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.ownership import ServerToBuy
from planner.costing.paying_use import CostLine, UseCost, find_crossings, find_paying_use
from tests.planner.comparison.compared import compared
from tests.planner.costing.analysis.small_inputs import (
    CALENDAR,
    D1,
    D2,
    KEEP,
    committed,
    rented,
    to_buy,
)

ON_DEMAND = rented("od", "on_demand", 16.0, (8.0, 6.0), 0.5)

OWNED = CostLine("own", "own", "owned", 73_000.0, 10.0)
RENTED = CostLine("rent", "rent", "on_demand", 0.0, 210.0)


def assumed(**values: float) -> Assumptions:
    """The defaults, some of them changed."""
    inputs = compared(horizon_months=1).inputs
    for name, value in values.items():
        inputs = inputs.with_assumption(name, value)
    return inputs.assumptions


def test_owning_pays_back_by_whatever_an_hour_saves() -> None:
    assert hours_to_break_even(10.0, 1.0, 0.5) == 20.0
    assert hours_to_break_even(10.0, 0.5, 0.5) is None


def test_uses_that_pay_by_the_hour_and_for_what_is_paid_used_or_not() -> None:
    owned = UseCost(100.0, 120.0)

    def found(idle: float, busy: float, ceiling: float = 1.0) -> tuple[str, float | None]:
        use = find_paying_use(owned, UseCost(idle, busy), ceiling)
        return use.when, use.share and round(use.share, 9)

    assert found(0.0, 320.0) == ("from", round(1 / 3, 9))
    assert found(0.0, 320.0, ceiling=0.3) == ("never", round(1 / 3, 9))  # it would take a third
    assert found(320.0, 320.0) == ("always", 0.0)
    assert found(110.0, 110.0) == ("up_to", 0.5)
    assert found(110.0, 110.0, ceiling=0.4) == ("always", 0.0)
    assert found(90.0, 90.0) == ("never", None)


def crossings(*lines: CostLine) -> list[tuple[str, str, float, float]]:
    return [(c.one, c.other, c.hours_per_month, c.cost) for c in find_crossings(lines)]


def test_lines_cross_where_both_cost_the_same() -> None:
    assert crossings(OWNED, RENTED) == [("own", "rent", 365.0, 76_650.0)]


def test_full_use_counts_and_no_use_does_not() -> None:
    at_full_use = CostLine("full", "", "reserved", 730 * 210.0, 0.0)
    beyond = CostLine("beyond", "", "reserved", 731 * 210.0, 0.0)
    at_nothing = CostLine("nothing", "", "spot", 0.0, 50.0)
    assert crossings(at_full_use, RENTED) == [("full", "rent", 730.0, 153_300.0)]
    assert crossings(beyond, RENTED) == []
    assert crossings(at_nothing, RENTED) == []


def test_parallel_lines_never_cross_and_do_not_end_the_search() -> None:
    level = CostLine("level", "", "reserved", 2100.0, 0.0)
    higher = CostLine("higher", "", "reserved", 4200.0, 0.0)
    assert [c[:3] for c in crossings(level, higher, RENTED)] == [
        ("level", "rent", 10.0),
        ("higher", "rent", 20.0),
    ]


def test_crossings_stand_in_the_order_of_their_hours() -> None:
    level = CostLine("level", "", "reserved", 2100.0, 0.0)
    assert [c[2] for c in crossings(OWNED, RENTED, level)] == [10.0, 365.0]


def test_lines_of_a_server_and_of_rents_count_the_months_in_which_it_serves() -> None:
    """Bought at once and there in month 1: only that month counts, after tax and discounted."""
    server = to_buy(lead=1, taxes_capital=False)
    reserved = committed()
    rents = [Rent(ON_DEMAND, 0, 8.0), Rent(reserved, 12, 2.0)]
    owned, hourly, fixed = build_cost_lines(server, rents, CALENDAR)
    assert (owned.key, owned.purchase_option) == ("server", "owned")
    assert owned.fixed == pytest.approx(1000 - 200 * D2)
    assert owned.per_hour == pytest.approx(3 * KEEP * D1)
    assert (hourly.fixed, hourly.per_hour) == (0.0, pytest.approx(8.0 * KEEP * D1))
    assert fixed.fixed == pytest.approx(2.0 * 730 * KEEP * D1)
    assert fixed.per_hour == 0.0


def test_without_a_server_lines_are_of_one_accelerator_over_all_months() -> None:
    (line,) = build_cost_lines(None, [Rent(ON_DEMAND, 0, 8.0)], CALENDAR)
    assert line.per_hour == pytest.approx(8 / 16 * KEEP * (1 + D1))
    (line,) = build_cost_lines(to_buy(max_units=0), [Rent(ON_DEMAND, 0, 8.0)], CALENDAR)
    assert line.per_hour == pytest.approx(8 * KEEP * (1 + D1))


def test_a_rent_is_its_hours_or_its_commitment_spread_over_them() -> None:
    """Two months are charged: 1,460 · 2 + 730 · 4 upfront a hundredth each, without data."""
    assert compute_rent(ON_DEMAND, CALENDAR) == Rent(ON_DEMAND, 0, 8.0)
    rent = compute_rent(committed(upfront=1460.0), CALENDAR)
    assert (rent.term_months, rent.per_hour) == (12, pytest.approx(0.1 + 2 + 1460 / 2 / 730))
    assert rent.per_capacity == pytest.approx(3.1 / 16)


def test_the_best_rent_of_each_option_and_term_is_by_capacity() -> None:
    small = rented("small", "on_demand", 4.0, (2.5, 2.5))
    nothing = rented("nothing", "on_demand", 0.0, (0.1, 0.1))
    longer = committed("longer", months=36)
    sources = (small, nothing, to_buy(), committed(), longer, ON_DEMAND)
    best = find_best_rents(sources, CALENDAR)
    assert [(one.source.key, one.term_months) for one in best] == [
        ("od", 0), ("reserved", 12), ("longer", 36),
    ]  # fmt: skip


BOX = ServerToBuy("box", "box", "h100", 8, 100_000.0, 10.0, 2.0, running_cost_per_hour=4.0)


@pytest.mark.parametrize(
    ("given", "price"),
    [
        ((), 100_000),
        (("network_storage_rate",), 110_000),
        (("network_storage_rate", "install_cost_rate"), 115_000),
        (("residual_rate",), 100_000 * (1 - 0.5 ** (2 / 12))),
    ],
)
def test_a_server_pays_back_its_price_by_what_an_hour_saves(
    given: tuple[str, ...], price: float
) -> None:
    """Twice as fast as the reference, it stands for 16: rent 8 against 4 an hour to run it."""
    rates = {
        "network_storage_rate": 0.1, "install_cost_rate": 0.05, "residual_rate": 0.5,
        "resale_cost_rate": 0.0,
    }  # fmt: skip
    (row,) = compute_break_even(
        BOX, 2.0, [Rent(ON_DEMAND, 0, 8.0)], assumed(**rates), CALENDAR, frozenset(given)
    )
    assert (row.rent_per_hour, row.running_cost_per_hour) == (8.0, 4.0)
    assert row.hours == pytest.approx(price / 4)
    assert row.months_at_full_use == pytest.approx(price / 4 / 730)


def test_a_server_worn_out_within_the_horizon_is_sold_then() -> None:
    """At the age of a month."""
    worn = assumed(
        residual_rate=0.5, useful_life_months=1, lead_time_months=0, resale_cost_rate=0.1
    )
    given = frozenset({"residual_rate"})
    (row,) = compute_break_even(BOX, 2.0, [Rent(ON_DEMAND, 0, 8.0)], worn, CALENDAR, given)
    assert row.hours == pytest.approx((100_000 - 0.5 ** (1 / 12) * 90_000) / 4)


@pytest.mark.parametrize(("term", "trend"), [(0, 0.9), (12, 1.0)])
def test_the_use_over_life_that_pays_follows_the_rents_of_its_months(
    term: int, trend: float
) -> None:
    """Two months of life after a lead of one: 100,000 over 730 · Σ d · (rent − 4)."""
    two = assumed(
        useful_life_months=2, lead_time_months=1, discount_rate_per_year=0.21,
        cloud_price_trend_per_year=-0.1, residual_rate=0.0, network_storage_rate=0.0,
        install_cost_rate=0.0, spare_rate=0.0,
    )  # fmt: skip
    (row,) = compute_break_even(BOX, 2.0, [Rent(ON_DEMAND, term, 208.0)], two, CALENDAR)
    saved = sum(d * (208 * trend ** (t / 12) - 4) for t, d in ((1, D1), (2, D2)))
    assert row.utilisation_over_life == pytest.approx(100_000 / (730 * saved))


def test_a_rent_below_the_running_cost_is_never_paid_back() -> None:
    (row,) = compute_break_even(BOX, 2.0, [Rent(ON_DEMAND, 0, 4.0)], assumed(), CALENDAR)
    assert (row.hours, row.months_at_full_use, row.utilisation_over_life) == (None, None, None)
