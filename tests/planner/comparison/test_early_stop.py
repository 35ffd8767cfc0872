"""What is owed if the work of a plan ends early: by hand."""

import pytest

from planner.costing.advice.early_stop import stop_after
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

SERVERS = {"servers": [{"server": "hgx-h100-8"}], "lead_time_months": 0}
RENTED = catalog(offer("98.00"), offer("30.00", "reserved", term_months=12))


def owed(one: Compared, months: int) -> tuple[float, float]:
    assert one.advised is not None
    stop = stop_after(one.advised, one.inputs, months)
    return float(stop.owed), float(stop.resale)


def test_a_contract_is_owed_to_its_end_and_none_that_would_begin_later() -> None:
    """A year at 30 USD an hour, renewed after twelve months."""
    one = compared(RENTED, hours=8 * 730, on_prem={"servers": []})
    assert one.advised is not None
    (started,) = one.advised.units_started.values()
    assert started.nonzero()[0].tolist() == [0, 12]
    month = 30.0 * 730
    assert owed(one, 3) == pytest.approx((9 * month, 0.0))
    assert owed(one, 12) == (0.0, 0.0)
    assert owed(one, 13) == pytest.approx((11 * month, 0.0))


def test_a_server_fetches_the_value_of_its_age_and_owes_nothing() -> None:
    one = compared(catalog(offer("98.00")), hours=8 * 730, on_prem=SERVERS)
    server, of_all = one.inputs.servers.by_key["server:hgx-h100-8"], one.inputs.assumptions
    value = server.unit_price * of_all["residual_rate"] * (1.0 - of_all["resale_cost_rate"])
    assert owed(one, 12) == pytest.approx((0.0, value), rel=1e-6)
    rows = one.answer.stops
    assert [row.months for row in rows] == list(range(3, 24, 3))
    assert [row.resale for row in rows] == sorted((row.resale for row in rows), reverse=True)


def test_a_loan_is_owed_with_its_interest() -> None:
    loan = {"method": "loan", "months": 24}
    one = compared(catalog(offer("98.00")), hours=8 * 730, on_prem={**SERVERS, "financing": loan})
    assert one.advised is not None
    lines = [
        line for line in one.advised.lines
        if line.category.value in ("loan", "interest") and line.amount > 0
    ]  # fmt: skip
    later = sum(float(line.amount) for line in lines if line.month >= 12)
    assert later > 100_000
    assert owed(one, 12)[0] == pytest.approx(later)
