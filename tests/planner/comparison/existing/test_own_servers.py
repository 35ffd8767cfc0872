"""Whether to keep or to sell what is owned, by hand: nothing varies, nothing is discounted."""

import pytest

from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

FULL, MONTHS = 8 * 730, 24
BOX = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
       "unit_price": 200_000, "power_kw": 10, "max_units": 0}  # fmt: skip
RUNNING = 6_000
"""A month of the box: people alone."""


def owning(rent: str, hours: list[int], fetches: float | None, units: int = 1) -> Compared:
    there = {"server": "Box", "units": units, "bought": "2026-01"}
    there |= {} if fetches is None else {"resale_value": fetches}
    own = {"servers": [BOX], "already_owned": [there], "residual_rate": 0.64, "resale_cost_rate": 0,
           "electricity_per_kwh": 0, "colocation_per_kw_month": 0, "support_rate_per_year": 0,
           "insurance_rate_per_year": 0, "staff_fte_per_server": 1,
           "staff_cost_per_year": 12 * RUNNING, "utilisation_ceiling": 1}  # fmt: skip
    flat = ("discount_rate", "cloud_price_trend", "server_price_trend", "staff_cost_trend")
    risk = {"price_sd": 0, "residual_sd": 0, "hours_spread": 0, "demand_growth_sd": 0,
            "slip_months_sd": 0}  # fmt: skip
    return compared(catalog(offer(rent)), hours=hours, horizon_months=MONTHS, on_prem=own,
                    risk=risk, cheaper_if=True,
                    finance={f"{name}_per_year": 0 for name in flat})  # fmt: skip


@pytest.mark.parametrize(
    ("rent", "fetches", "today"),
    [("8.00", None, 0.64 * 200_000), ("8.00", 50_000.0, 50_000), ("8.00", 300_000.0, 300_000)],
)
def test_a_plan_without_them_counts_what_they_fetch_now_and_not_at_the_end(
    rent: str, fetches: float | None, today: float
) -> None:
    answer = owning(rent, [FULL] * MONTHS, fetches).answer
    (one,) = (row for row in answer.cheaper_if if row.field == "on_prem.already_owned")
    rented = MONTHS * 730 * float(rent)
    saved = MONTHS * RUNNING - rented + today - today * 0.64**2
    assert float(one.saving or 0) == pytest.approx(saved, abs=1)
    assert float(one.total) == pytest.approx(rented - today, abs=1)
    assert answer.verdict is not None
    assert answer.verdict.reasons[0] == (
        f"Selling 1 × Box now for {today:,.0f} USD saves {saved:,.0f} USD in present value, if "
        "space and people then cost nothing."
    )


def test_they_are_kept_where_renting_costs_more_than_they_fetch() -> None:
    answer = owning("20.00", [FULL] * MONTHS, 50_000.0).answer
    assert answer.verdict is not None
    more = MONTHS * (730 * 20 - RUNNING) - 50_000 * (1 - 0.64**2)
    assert answer.verdict.reasons[0] == (
        "Keep 1 × Box: sold now for 50,000 USD, the work costs "
        f"{more:,.0f} USD more in present value."
    )
    assert not answer.cheaper_if


def test_of_three_the_two_that_the_work_does_not_need_are_sold() -> None:
    answer = owning("20.00", [FULL] * MONTHS, 50_000.0, units=3).answer
    (one,) = (row for row in answer.cheaper_if if row.field == "on_prem.already_owned.0.units")
    saved = 2 * (MONTHS * RUNNING + 50_000 * (1 - 0.64**2))
    assert (one.value, float(one.saving or 0)) == (1, pytest.approx(saved, abs=1))
    assert answer.verdict is not None
    assert answer.verdict.reasons[0].startswith("Selling 2 × Box now for 100,000 USD saves")


def test_they_are_sold_once_the_work_is_done() -> None:
    answer = owning("20.00", [FULL] * 12 + [0] * 12, 50_000.0).answer
    assert answer.verdict is not None
    better = 12 * RUNNING + 50_000 * (0.64 - 0.64**2)
    assert answer.verdict.reasons[0] == (
        "Sell 1 × Box in January 2028, when the work is done, for 32,000 USD: "
        f"{better:,.0f} USD better in present value than at the plan's end."
    )
