"""What moves the expected cost, and where the advice turns."""

from typing import Any

import numpy as np
import pytest

from planner.comparison.drivers import list_turns
from planner.contract.answer.risk import Driver
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

SERVERS: dict[str, Any] = {
    "servers": [{"server": "dgx-h100", "unit_price": 320_000, "max_units": 1}],
    "lead_time_months": 3,
}
RENT, SPOT = offer("40"), offer("18", "spot")
EXACT = {"demand_growth_sd": 0.0, "hours_spread": 0.0, "price_sd": 0.0, "residual_sd": 0.0}


def owning(**fields: Any) -> Compared:
    return compared(
        catalog(RENT), 8 * 640, on_prem=SERVERS, horizon_months=36, sensitivity=True, **fields
    )


@pytest.fixture(scope="module")
def owned() -> Compared:
    return owning()


def row_of(results: Compared, field: str) -> Driver:
    return next(row for row in results.answer.drivers if row.field == field)


def test_drivers_of_a_plan_that_buys_come_by_their_reach(owned: Compared) -> None:
    rows = owned.answer.drivers
    assert {row.field for row in rows} >= {
        "workload.hours", "rental_prices.demand", "on_prem.servers.unit_price",
        "on_prem.lead_time_months", "on_prem.residual_rate", "on_prem.electricity_per_kwh",
        "horizon_months",
    }  # fmt: skip
    reach = [row.effect for row in rows if row.value is not None]
    assert reach == sorted(reach, reverse=True)
    assert all(row.low < row.high and row.source for row in rows)
    assert owned.answer.verdict
    assert owned.answer.verdict.turns == list_turns(rows)


def test_expected_costs_of_drivers_move_that_of_the_answer(owned: Compared) -> None:
    """Servers of another price cost a rented plan nothing, and its row says what the headline does;
    a length that is as planned changes nothing either."""
    assert owned.answer.verdict
    length = row_of(owned, "horizon_months")
    assert length.expected_at_high == owned.answer.verdict.expected
    assert length.expected_at_low != owned.answer.verdict.expected


@pytest.mark.parametrize(
    ("field", "side"), [("rental_prices.demand", "Below"), ("on_prem.servers.unit_price", "Above")]
)
def test_the_advice_turns_where_the_sentence_says(owned: Compared, field: str, side: str) -> None:
    """A request at prices beyond the turn is answered by the other plan, short of it by this."""
    row = row_of(owned, field)
    assert row.turns_at
    assert row.value
    assert row.sentence.startswith(f"{side} ")
    assert row.sentence.endswith(", rent.")
    for factor, action in ((0.93, "rent"), (1.07, "buy")):
        times = factor if side == "Below" else 1 / factor
        price = row.turns_at * times
        prices, on_prem = catalog(RENT), SERVERS
        if side == "Below":
            prices = catalog(offer(f"{price:.4f}"))
        else:
            on_prem = SERVERS | {"servers": [{**SERVERS["servers"][0], "unit_price": price}]}
        found = compared(prices, 8 * 640, on_prem=on_prem, horizon_months=36)
        verdict = found.answer.verdict
        assert verdict
        assert verdict.decision[0].action == action, price


def test_rents_held_at_a_price_cost_that_price() -> None:
    """Renting alone for hours that are exact: cost is price times hours."""
    row = row_of(
        compared(catalog(RENT), 4000, on_prem={"servers": []}, risk=EXACT, sensitivity=True),
        "rental_prices.demand",
    )
    assert (row.value, row.low, row.high) == (40.0, 32.0, 48.0)
    assert float(row.expected_at_low) / float(row.expected_at_high) == pytest.approx(
        2 / 3, abs=0.01
    )
    assert (row.turns_at, row.chance, row.sentence) == (None, None, "")


def test_the_chance_is_the_share_of_outcomes_beyond_the_turn(owned: Compared) -> None:
    row, simulation = row_of(owned, "workload.hours"), owned.simulation
    assert simulation
    hours = simulation.outcomes.demand(slice(None)) @ owned.inputs.hours
    assert [row.low, row.high] == pytest.approx(np.percentile(hours, (10, 90)), rel=1e-3)
    for one in owned.answer.drivers:
        assert one.chance is None or 0.0 <= one.chance <= 1.0
    if row.turns_at:
        assert row.chance == pytest.approx(float((hours < row.turns_at).mean()), abs=0.01)


def test_a_default_moves_between_its_published_ends_and_a_figure_given_by_a_fifth(
    owned: Compared,
) -> None:
    field = "on_prem.electricity_per_kwh"
    row = row_of(owned, field)
    assert (row.low, row.high) == (0.0575, 0.2391)
    given = compared(
        catalog(RENT), 8 * 640, on_prem=SERVERS | {"electricity_per_kwh": 0.2}, sensitivity=True,
        horizon_months=36,
    )  # fmt: skip
    assert (row_of(given, field).low, row_of(given, field).high) == (0.16, 0.24)


def test_turns_that_will_not_come_are_left_out_of_the_sentences() -> None:
    def turn(chance: float | None, words: str) -> Driver:
        return Driver(
            field="f", label="l", unit="months", value=1, low=1, high=2, source="s",
            expected_at_low=1, expected_at_high=2, advice_at_low="rent", advice_at_high="rent",
            turns_at=2, chance=chance, sentence=words,
        )  # fmt: skip

    rows = (turn(0.0, "never"), turn(None, "perhaps"), turn(0.3, "likely"), turn(0.02, "hardly"))
    assert list_turns(rows) == ("likely", "perhaps", "hardly")


def test_a_contract_that_is_renewed_is_one_at_a_time() -> None:
    """Two years of one machine, signed for twice, and of none where rent is next to nothing."""
    term = offer("25", "reserved", term_months=12, payment_option="no_upfront")
    none: dict[str, Any] = {"servers": []}
    found = compared(catalog(RENT, term), 5840, on_prem=none, sensitivity=True, risk=EXACT)
    advice = row_of(found, "rental_prices.demand").advice_at_high
    assert advice == "sign 1 commitment"
