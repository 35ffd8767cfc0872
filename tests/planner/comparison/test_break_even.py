"""When owning pays: hours and share of the life."""

from typing import Any

import pytest

from planner.comparison import compare
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import CATALOG, H100, TODAY, catalog, offer, request_of

SERVER = {
    "server": "custom", "accelerator": H100, "accelerator_count": 8, "unit_price": 400_000,
    "running_cost_per_hour": 5,
}  # fmt: skip


def rows(**on_prem: Any) -> list[dict[str, Any]]:
    found = compared(on_prem={"servers": [SERVER]} | on_prem, break_even="all")
    return found.as_dict()["break_even"]


def against(option: str, **on_prem: Any) -> dict[str, Any]:
    return next(row for row in rows(**on_prem) if row["purchase_option"] == "on_demand")


def test_one_row_for_each_option_and_term() -> None:
    found = [(row["purchase_option"], row["term_months"]) for row in rows()]
    assert found == [("on_demand", 0), ("reserved", 12), ("reserved", 36), ("spot", 0)]


def test_hours_are_price_over_saving() -> None:
    row = against("on_demand")
    assert row["hours"] == pytest.approx(400_000 / (55.04 - 5))
    assert row["months_at_full_use"] == pytest.approx(row["hours"] / 730)


def test_spot_counts_what_a_useful_hour_costs() -> None:
    assert float(against("spot")["rent_per_hour"]) > 22


def test_network_installation_and_residual_count_where_given() -> None:
    plain = against("on_demand")["hours"]
    assert against("on_demand", network_storage_rate=0.1)["hours"] == pytest.approx(1.1 * plain)
    kept = against("on_demand", residual_rate=0.5, resale_cost_rate=0)["hours"]
    assert kept == pytest.approx((1 - 0.25) * plain)  # two years old at the horizon


@pytest.mark.parametrize("horizon", [59, 60, 61, 62, 63, 64])
def test_the_residual_counts_as_long_as_the_plan_credits_it(horizon: int) -> None:
    """Bought at the start it serves from month 3 to 62: resold at the horizon, or at the age of
    63 months."""
    server = {"server": "custom", "accelerator": H100, "accelerator_count": 8,
              "unit_price": 100_000, "running_cost_per_hour": 1}  # fmt: skip
    found = compared(
        catalog(offer("11")),
        hours=5840,
        horizon_months=horizon,
        break_even="all",
        on_prem={"servers": [server], "useful_life_months": 60, "residual_rate": 0.7,
                 "lead_time_months": 3,
                 "network_storage_rate": 0, "install_cost_rate": 0, "resale_cost_rate": 0.1},
    )  # fmt: skip
    term = found.inputs.by_key["server:custom"].term
    age = min(horizon, 63)
    assert term.at_end[0].tolist().index(1.0) == age
    worth = 90_000 * 0.7 ** (age / 12)
    assert found.break_even[0].hours == pytest.approx((100_000 - worth) / 10)


def test_at_the_utilisation_over_life_owning_costs_the_rent() -> None:
    """Independent check: both paid month by month at that utilisation over the whole life."""
    row = against("on_demand", lead_time_months=0, useful_life_months=24, residual_rate=0)
    share = row["utilisation_over_life"]
    assert 0 < share < 1
    hours = 8 * 730 * share
    answer = compare(
        request_of(
            workload={"kind": "accelerator_hours", "accelerator": H100,
                      "hours_per_month": hours, "peak_accelerators": 8},
            on_prem={
                "servers": [SERVER], "lead_time_months": 0, "useful_life_months": 24,
                "residual_rate": 0, "utilisation_ceiling": 1,
            },
            constraints={"purchase_options": ["on_demand"]},
        ),
        CATALOG,
        today=TODAY,
    ).to_json()  # fmt: skip
    cost = {s["key"]: float(s["net_present_cost"]) for s in answer["scenarios"] if s["feasible"]}
    assert cost["on_prem"] == pytest.approx(cost["on_demand"], rel=1e-4)


@pytest.mark.parametrize(("months", "running"), [(6, 5), (11, 0), (24, 0.87)])
def test_at_the_break_even_hours_both_cumulative_costs_agree(months: int, running: float) -> None:
    """A server that is paid back after so many months around the clock: renting and owning have
    cost the same by then, line by line."""
    price = (55.04 - running) * 730 * months
    server = SERVER | {"unit_price": price, "running_cost_per_hour": running}
    free = dict.fromkeys(
        ("network_storage_rate", "install_cost_rate", "spare_rate", "residual_rate"), 0
    )
    found = compared(
        hours=8 * 730,
        horizon_months=months,
        break_even="all",
        on_prem={"servers": [server], "lead_time_months": 0, "utilisation_ceiling": 1} | free,
        finance={"discount_rate_per_year": 0},
    )
    row = found.break_even[0]
    assert row.hours == pytest.approx(730 * months)
    assert row.months_at_full_use == pytest.approx(months)
    rent, own = found.scenarios["on_demand"], found.scenarios["on_prem"]
    assert float(own.total_cost) == pytest.approx(float(rent.total_cost), abs=0.05)


BARE = {
    "network_storage_rate": 0, "install_cost_rate": 0, "spare_rate": 0, "residual_rate": 0,
    "lead_time_months": 0, "useful_life_months": 24,
}  # fmt: skip


def test_a_commitment_is_paid_for_used_or_not() -> None:
    """Bought for less than the commitment's bills it costs less at any use, or up to the use at
    which its running cost takes up the difference; for more than them, never."""

    def found(price: float, running: float) -> tuple[str, float | None]:
        server = SERVER | {"unit_price": price, "running_cost_per_hour": running}
        rows = compared(
            on_prem=BARE | {"servers": [server], "utilisation_ceiling": 1},
            finance={"discount_rate_per_year": 0.0},
            horizon_months=24,
            break_even="all",
        ).answer.break_even
        row = next(one for one in rows if one.term_months == 12)
        rent = float(row.rent_per_hour) * 730 * 24
        assert rent > 400_000
        if row.over_life == "up_to":
            share = (rent - price) / (running * 730 * 24)
            assert row.utilisation_over_life == pytest.approx(share, rel=1e-4)
        return row.over_life, row.utilisation_over_life

    assert found(400_000, 0) == ("always", 0.0)
    assert found(400_000, 20)[0] == "up_to"
    assert found(4_000_000, 0) == ("never", None)


def test_a_rack_of_72_is_no_server_for_the_work_of_eight() -> None:
    def servers(**on_prem: Any) -> set[str]:
        return {row.server for row in compared(hours=5840, on_prem=on_prem).break_even}

    unnamed = servers()
    assert unnamed
    assert not any("nvl72" in slug for slug in unnamed)
    assert servers(servers=[{"server": "gb200-nvl72"}]) == {"gb200-nvl72"}
