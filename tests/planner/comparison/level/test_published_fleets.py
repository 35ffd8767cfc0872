"""Published calculations of whole fleets: colocation, spares, people and what is paid once."""

from __future__ import annotations

import pytest

from planner.costing.analysis.break_even import hours_to_break_even
from tests.planner.comparison.level.published import answer, owned, rented

INFERENCE = "callgideon/model-inference @3999078 (2026-09-19)"
GPUS = [
    # Price and kW of one GPU, USD a kW and month, years, published USD a useful GPU-hour.
    (20_500, 0.8, 180, 3, 1.086),
    (20_500, 0.8, 180, 5, 0.739),
    (46_250, 1.275, 180, 3, 2.305),
    (46_250, 1.275, 180, 5, 1.523),
    (64_375, 1.788, 180, 3, 3.211),
    (64_375, 1.788, 180, 5, 2.123),
    (17_500, 0.813, 180, 3, 0.962),
    (17_500, 0.813, 180, 5, 0.667),
    (20_000, 1.125, 180, 3, 1.154),
    (20_000, 1.125, 180, 5, 0.816),
    (35_625, 1.275, 250, 3, 1.991),
    (48_611, 1.875, 120, 3, 2.398),
    (48_611, 1.875, 250, 3, 2.769),
]
"""A100, H200, B200, RTX PRO 6000, MI300X; then H100 and GB300 at other rents of a kW."""


@pytest.mark.parametrize(("price", "kw", "rent", "years", "published"), GPUS)
def test_a_gpu_in_colocation(
    price: float, kw: float, rent: float, years: int, published: float
) -> None:
    """At 90 % of 8,760 h a year, without residual value (model-inference @3999078, §9)."""
    months, hours = 12 * years, 0.9 * 730
    server = {"unit_price": price, "power_kw": kw, "idle_power_kw": 0}
    total = owned(hours, months, server, colocation_per_kw_month=rent, useful_life_months=months)
    assert total / (hours * months) == pytest.approx(published, rel=0.002)


FLEETS = [
    (4, 780_000, 3_941_864, 4.687, 7.812, 0.63),
    (16, 1_950_000, 14_597_455, 4.34, 7.233, 0.59),
]
"""Nodes of eight B300, staff over three years, total, USD a GPU-hour at full and at 60 % use, and
the total over three years of rent at 7.40 USD."""


@pytest.mark.parametrize(("nodes", "staff", "total", "full", "part", "ratio"), FLEETS)
def test_a_fleet_of_b300(
    nodes: int, staff: float, total: float, full: float, part: float, ratio: float
) -> None:
    """600,000 USD a node, fabric 12 %, spares 3 %, 15.504 kW at 180 USD (fleet cost note §1.4)."""
    server = {"accelerator_count": 8, "unit_price": 600_000, "power_kw": 15.504, "idle_power_kw": 0}
    own = owned(
        8 * nodes * 730, 36, server, network_storage_rate=0.12, spare_rate=0.03,
        colocation_per_kw_month=180, useful_life_months=36,
        other_costs=[{"label": "staff", "amount": staff}],
    )  # fmt: skip
    hours = 8 * nodes * 730 * 36
    assert own == pytest.approx(total, rel=0.001)
    assert own / hours == pytest.approx(full, rel=0.001)
    assert own / (0.6 * hours) == pytest.approx(part, rel=0.001)
    rent = rented(7.40, 8 * nodes * 730, 36)
    assert own / rent == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize(
    ("gpus", "price", "published"),
    [
        (32, 7.40, 6_223_104), (32, 7.94, 6_677_222), (32, 15.0, 12_614_400),
        (128, 7.40, 24_892_416), (128, 7.94, 26_708_890), (128, 15.0, 50_457_600),
    ],
)  # fmt: skip
def test_three_years_of_rented_b300(gpus: int, price: float, published: float) -> None:
    assert rented(price, gpus * 730, 36) == pytest.approx(published, rel=0.001)


def test_a_day_and_a_half_a_week_of_b300() -> None:
    """8 h on five days a week is 24 % of the hours: 1.5 M USD rented, against 3.94 M owned."""
    assert rented(7.40, 0.24 * 32 * 730, 36) == pytest.approx(1_500_000, rel=0.01)


def test_a_node_of_used_h100() -> None:
    """200,000 USD over 36 months and 10.2 kW at 180 USD (fleet cost note §6.5)."""
    server = {"unit_price": 200_000, "power_kw": 10.2, "idle_power_kw": 0}
    total = owned(730, 36, server, colocation_per_kw_month=180, useful_life_months=36)
    assert total / (8 * 730 * 36) == pytest.approx(1.265, rel=0.001)
    assert total / (8 * 730 * 36 * 0.9) == pytest.approx(1.405, rel=0.001)


@pytest.mark.parametrize(
    ("price", "rent", "hours", "months", "tolerance"),
    [
        (285_000, 8 * 3.20, 11_133, 15.3, 0.005),
        (370_000, 8 * 4.40, None, 14.4, 0.005),
        (50_000, 8 * 0.86, None, 10, 0.02),
    ],
)
def test_hardware_alone_against_rent(
    price: float, rent: float, hours: float | None, months: float, tolerance: float
) -> None:
    """8x H100 at Hyperstack's price, 8x H200 at the median of 34 providers, 8x L40S (2025-2026)."""
    server = {"accelerator_count": 8, "unit_price": price, "running_cost_per_hour": 0}
    (row,) = answer(rent, 100, 12, 8, server)["break_even"]
    assert row["months_at_full_use"] == pytest.approx(months, rel=tolerance)
    if hours is not None:
        assert row["hours"] == pytest.approx(hours, rel=0.001)


def test_hardware_and_colocation_in_months_of_720_hours() -> None:
    """17.2 months of 720 h with 1,836 USD of colocation a month (model-inference §7.3)."""
    assert hours_to_break_even(285_000, 25.6 * 720, 1836) == pytest.approx(17.2, rel=0.005)


def test_h200_in_colocation() -> None:
    """370,000 USD and 2,500 to 5,000 USD of colocation a month: 19.6 USD an hour (2026-09)."""
    server = {"unit_price": 370_000, "power_kw": 1, "idle_power_kw": 0}
    total = owned(730, 36, server, colocation_per_kw_month=3750, useful_life_months=36)
    assert total / (36 * 730) == pytest.approx(19.6, rel=0.03)


def test_spot_against_on_demand() -> None:
    """p6-b300 at 17.802 and 5.591 USD a GPU-hour (fleet cost note §6.4)."""
    assert rented(8 * 17.802, 1, 1) - rented(8 * 5.591, 1, 1) == pytest.approx(97.69, abs=0.01)


RIG = [
    {"label": "electricity and internet", "amount": 960},
    {"label": "spare parts, insurance and software", "amount": 1_000},
    *({"label": "half a person", "amount": 12_000, "month": month} for month in range(1, 6)),
]
LATER = [
    {"label": "year 2", "amount": 2_000, "month": 12},
    {"label": "year 3", "amount": 4_000, "month": 24},
]


@pytest.mark.parametrize(
    ("months", "costs", "total"), [(12, RIG, 95_060), (36, RIG + LATER, 101_060)]
)
def test_a_mixed_rig(months: int, costs: list[dict[str, object]], total: float) -> None:
    """Parts of 33,100 USD, half a person in months 2 to 6 (paulplee/answers, 2025-12-29). The
    document opens with 26,000 USD, which its parts do not sum to."""
    server = {"unit_price": 33_100, "power_kw": 0}
    own = owned(730, months, server, useful_life_months=months, other_costs=costs)
    assert own == pytest.approx(total, rel=0.001)
    if months == 36:
        assert own / months == pytest.approx(2807, rel=0.001)


def test_a_loaded_dgx_b200() -> None:
    """485,000 USD with software, fabrics and services (Jaybc25/cdw-ai-factory-tco @4591c30)."""
    besides = [
        {"label": "software", "amount": 142_800},
        {"label": "fabrics", "amount": 54_323 + 23_443 + 14_227},
        {"label": "services", "amount": 25_000},
    ]
    own = owned(730, 1, {"unit_price": 485_000, "power_kw": 0}, other_costs=besides)
    assert own == pytest.approx(744_793, rel=0.0001)


def test_a_cluster_of_128_nodes() -> None:
    """Nodes of 310,000 USD with 50,000 for facility and operations, 48 switches, cables (public
    sheet, August 2024). Its row of 512 nodes does not follow from the same inputs."""
    besides = [
        {"label": "facility and operations", "amount": 128 * 50_000},
        {"label": "switches", "amount": 48 * 36_000},
        {"label": "cables", "amount": 2_621_440},
    ]
    own = owned(128 * 730, 1, {"unit_price": 310_000, "power_kw": 0}, other_costs=besides)
    assert own == pytest.approx(50_429_440, rel=0.0001)


def test_two_points_of_discount() -> None:
    """On 5 million USD a year over three years (thenegotiationexperts.com, 2026)."""
    rate = 5e6 / 8760
    saved = rented(rate, 730, 36) - rented(0.98 * rate, 730, 36)
    assert saved == pytest.approx(300_000, rel=0.001)


def test_power_of_newer_nodes() -> None:
    """10 nodes of MI300X (7.05 kW) against MI355X (2.2 kW) at 0.10 USD/kWh; cooling is not
    stated, a factor of 1.29 fits (metrum.ai, 2026-03)."""
    old, new = (
        owned(
            10 * 730, 36, {"unit_price": 1, "power_kw": kw, "idle_power_kw": 0},
            electricity_per_kwh=0.10, pue=1.29, useful_life_months=36,
        )
        for kw in (7.05, 2.2)
    )  # fmt: skip
    assert old - new == pytest.approx(164_000, rel=0.03)


def test_rent_of_3333_gpus() -> None:
    """2.50 USD an hour around the clock for three years (USD.AI script)."""
    assert rented(2.50 * 100e6 / 30_000, 730, 36) == pytest.approx(219e6, rel=0.0001)
