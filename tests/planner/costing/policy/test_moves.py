"""Moves cost what plans cost: sample by sample, with all that may go otherwise than planned."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from planner.costing.policy.least_squares import Move, Paths
from planner.costing.policy.moves import KEEP, SELL, START, WAIT, Decisions
from planner.costing.policy.policy import list_decisions
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

SERVERS = {"servers": [{"server": "hgx-h100-8"}]}
UNSURE: dict[str, Any] = {
    "hours": [8 * 730] * 24,
    "risk": {"samples": 300, "slip_months_sd": 1.0, "demand_growth_sd": 0.2},
    "on_prem": {**SERVERS, "late_delivery_probability": 0.5, "late_delivery_months": 4},
    "finance": {"tax_rate": 0.2},
}


@cache
def decided(
    months: int = 3, end: float = 0.0, *, owns: bool = False
) -> tuple[Compared, Decisions, Paths]:
    """`end`: chance that the project ends in a quarter; `owns`: whether a server is there."""
    prices = catalog(offer("30.00"), offer("16.00", "reserved", term_months=12))
    there = {"already_owned": [{"server": "hgx-h100-8", "bought": "2026-06"}]} if owns else {}
    asked = {"risk": {**UNSURE["risk"], "end_probability": end}}
    own = {"on_prem": {**UNSURE["on_prem"], **there}, "hours": [(1 + owns) * 8 * 730] * 24}
    one = compared(prices, **{**UNSURE, **asked, **own})
    assert one.choice is not None
    assert one.simulation is not None
    decisions = list_decisions(one.choice, one.simulation, months)
    assert decisions is not None
    return one, decisions, decisions.paths()


def along(paths: Paths, *names: str) -> list[Move]:
    """The moves of these names, the last of them for as long as it may be made."""
    position, made = 0, []
    for k, moves in enumerate(paths.moves):
        own = {move.name: move for move in moves if move.start == position}
        name = names[min(k, len(names) - 1)]
        made.append(own[name if name in own else WAIT])
        position = made[-1].end
    return made


def cost(moves: list[Move]) -> Any:
    return np.sum([move.cost for move in moves], axis=0)


@pytest.mark.parametrize(
    ("months", "end", "owns"),
    [(1, 0.0, False), (3, 0.0, False), (5, 0.0, False), (5, 0.2, False), (3, 0.2, True)],
)
def test_renting_throughout_costs_what_the_plan_that_rents_costs(
    months: int, end: float, owns: bool
) -> None:
    one, decisions, paths = decided(months, end, owns=owns)
    assert one.choice is not None
    at = one.choice.find(decisions.waiting)
    assert at is not None
    assert cost(along(paths, WAIT)) == pytest.approx(one.choice.present[at], rel=1e-9)


@pytest.mark.parametrize("end", [0.0, 0.1])
def test_buying_now_and_keeping_costs_what_the_plan_that_buys_costs(end: float) -> None:
    one, decisions, paths = decided(end=end)
    assert one.choice is not None
    found = [
        (b, one.choice.find(bundle.plan))
        for b, bundle in enumerate(decisions.bundles)
        if any(key.startswith("server:") for key in bundle.units) and len(bundle.units) == 1
    ]
    assert found
    for b, at in found:
        assert at is not None
        bought = cost(along(paths, f"{START} {b}", KEEP))
        assert bought == pytest.approx(one.choice.present[at], rel=1e-9)


def test_a_contract_ends_and_then_all_may_be_decided_again() -> None:
    _, decisions, paths = decided()
    b = next(b for b, bundle in enumerate(decisions.bundles) if "reserved" in "".join(bundle.units))
    moves = along(paths, f"{START} {b}", KEEP)
    assert [move.name for move in moves[:4]] == [f"{START} {b}", KEEP, KEEP, KEEP]
    assert [move.name for move in moves[4:]] == [WAIT] * 4
    waited = along(paths, WAIT)
    assert cost(moves[4:]) == pytest.approx(cost(waited[4:]))


def test_a_server_sold_fetches_its_value_of_the_day() -> None:
    """Selling saves running it and its resale at the end, and costs the rent from then on."""
    one, decisions, paths = decided()
    b = next(b for b, bundle in enumerate(decisions.bundles) if "server:hgx-h100-8" in bundle.units)
    sale = next(
        (k, move) for k, moves in enumerate(paths.moves) for move in moves
        if move.name == SELL and move.start == decisions.position(b, 0)
    )  # fmt: skip
    k, move = sale
    month = int(decisions.months[k])
    assert month > 4  # it may come four months late
    server = one.inputs.servers.by_key["server:hgx-h100-8"]
    of_all = one.inputs.assumptions
    value = server.unit_price * of_all["residual_rate"] ** (month / 12)
    value *= (1 - of_all["resale_cost_rate"]) * (1 - of_all["tax_rate"])
    value *= one.calendar.discount[month] * decisions.bundles[b].units["server:hgx-h100-8"]
    assert one.simulation is not None
    row = one.simulation.drivers.of_source["server:hgx-h100-8"]
    fetched = along(paths, WAIT)[k].cost - move.cost
    prices = one.simulation.outcomes.prices[row, :, month]
    is_free = prices < 0.9  # where what was paid does not limit it
    assert is_free.sum() > 50
    assert (fetched / (value * prices))[is_free] == pytest.approx(1.0)
    assert (fetched <= value * prices + 1e-6).all()
