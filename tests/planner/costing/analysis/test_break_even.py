"""Lines of cost over the hours of use, and where they cross."""

from __future__ import annotations

import pytest

from planner.costing.analysis.break_even import CostLine, find_crossings
from planner.costing.analysis.sensitivity import PRICE_FACTORS, UTILISATIONS, build_price_grid

OWNED = CostLine("own", "own", "owned", 73_000.0, 10.0)
RENTED = CostLine("rent", "rent", "on_demand", 0.0, 210.0)


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


def test_the_grid_is_owning_less_renting_at_each_use_and_price() -> None:
    grid = build_price_grid([RENTED, OWNED])
    assert grid
    assert (grid.server, grid.against) == ("own", "rent")
    assert grid.utilisations == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert grid.price_factors == (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5)
    for share, row in zip(UTILISATIONS, grid.difference, strict=True):
        hours = 730 * share
        assert row == pytest.approx(
            [73_000 + 10 * hours - 210 * hours * factor for factor in PRICE_FACTORS]
        )


def test_without_a_server_or_an_offer_there_is_no_grid() -> None:
    assert build_price_grid([RENTED]) is None
    assert build_price_grid([OWNED]) is None
