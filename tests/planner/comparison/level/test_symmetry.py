"""A server with a cloud machine's price, terms and rules costs what the cloud machine costs."""

import random
from decimal import Decimal
from typing import Any

import pytest

from tests.planner.comparison.level.one_machine import scenarios
from tests.properties import one_in

UPFRONT = {"purchase_option": "reserved", "term_months": 36}
FIGURES = ("total_cost", "within_horizon", "owed_after", "net_present_cost")

Pair = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]
AT_ONCE = (
    UPFRONT | {"usd_per_hour": 0, "upfront_usd": 300_000},
    {"unit_price": 300_000, "power_kw": 0},
)
EVERY_MONTH = (
    UPFRONT | {"usd_per_hour": 5, "upfront_usd": 120_000},
    {"unit_price": 120_000, "power_kw": 1},
)
LEASED = (UPFRONT | {"usd_per_hour": 10}, {"unit_price": 36 * 7300, "power_kw": 0})
BY_THE_HOUR = (
    {"purchase_option": "on_demand", "usd_per_hour": 31.25},
    {"unit_price": 0.01, "running_cost_per_hour": 31.25},
)
LEASE = {"method": "lease", "months": 36, "interest_rate_per_year": 0, "payments": "in_advance"}
LATE = {"cash_timing": "month_end", "payment_terms_days": 45, "fiscal_year_start_month": 4}
SYMMETRIC: dict[str, Pair] = {
    "paid at the start": (*AT_ONCE, {}, {}),
    "paid at the start, discounted": (*AT_ONCE, {}, {"discount_rate_per_year": 0.17}),
    "paid at the start, taxed": (*AT_ONCE, {}, {"tax_rate": 0.25}),
    "paid at the start and every month": (
        *EVERY_MONTH, {"colocation_per_kw_month": 3650}, {"discount_rate_per_year": 0.1},
    ),
    "paid at the start and every month, taxed, late": (
        *EVERY_MONTH, {"colocation_per_kw_month": 3650}, LATE | {"tax_rate": 0.3},
    ),
    "leased": (*LEASED, {"financing": LEASE}, {}),
    "leased, taxed": (*LEASED, {"financing": LEASE}, {"tax_rate": 0.3}),
    "paid by the hour of use": (*BY_THE_HOUR, {}, {}),
    "paid by the hour of use, taxed, at the end of each year": (
        *BY_THE_HOUR, {}, {"tax_rate": 0.3, "cash_timing": "year_end"},
    ),
    "with as many people": (
        *AT_ONCE,
        {"staff_fte_per_server": 0.08, "staff_cost_per_year": 150_000},
        {"cloud_staff_fte_per_accelerator": 0.01, "staff_cost_trend_per_year": 0.05},
    ),
    "with the same share for support": (
        UPFRONT | {"usd_per_hour": 10}, {"unit_price": 36 * 7300, "power_kw": 0},
        {"financing": LEASE, "support_rate_per_year": 0.05 / 3}, {"cloud_support_rate": 0.05},
    ),
    "with prices of bills that move": (
        {"purchase_option": "on_demand", "usd_per_hour": 10},
        {"unit_price": 0.01, "power_kw": 10, "idle_power_kw": 0},
        {"electricity_per_kwh": 1},
        {"cloud_price_trend_per_year": 0.04, "electricity_trend_per_year": 0.04},
    ),
}  # fmt: skip
"""Offer, server, what owning costs and the finance of pairs that are the same on both sides."""


def same(rented: dict[str, Any], own: dict[str, Any], beside: Decimal = Decimal(0)) -> None:
    """Totals, present values and the cash and cost of every fiscal year agree to the cent, but
    for `beside`, which the server costs more."""
    for figure in FIGURES:
        assert Decimal(own[figure]) - Decimal(rented[figure]) in (0, beside), figure
    books = [found["finance"]["fiscal_years"] for found in (rented, own)]
    for rent_year, own_year in zip(*books, strict=True):
        for figure in ("cash", "cost"):
            most = Decimal("0.02") if beside else Decimal(0)
            assert abs(Decimal(own_year[figure]) - Decimal(rent_year[figure])) <= most, figure


def compared(pair: Pair, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    found = scenarios(*pair, **fields)
    by_the_hour = pair[0]["purchase_option"] == "on_demand"
    return found["on_demand" if by_the_hour else "cloud"], found["on_prem"]


def beside(pair: Pair) -> Decimal:
    """No price may be 0."""
    return Decimal("0.01") if pair[1]["unit_price"] == 0.01 else Decimal(0)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", SYMMETRIC)
def test_a_server_with_a_cloud_machine_s_terms_costs_what_it_costs(case: str) -> None:
    pair = SYMMETRIC[case]
    same(*compared(pair), beside(pair))


@pytest.mark.parametrize("case", ["paid at the start", "leased, taxed"])
def test_data_at_one_price_costs_the_same_on_both_sides(case: str) -> None:
    """2 cents a GiB and month, 20.48 USD a TiB, kept where the work is done."""
    data = {"storage_gib": 40_000, "storage_per_gib_month": 0.02}
    rented, own = compared(SYMMETRIC[case], data=data | {"on_prem_storage_per_tib_month": 20.48})
    same(rented, own)
    kept = [line for line in own["lines"] if line["category"] == "storage"]
    assert sum(float(line["amount"]) for line in kept) == 36 * 800


@pytest.mark.one_in(3)
@pytest.mark.parametrize("hours", [1000, 5839, 5841, 9000, [5840, 0, 3000] * 12])
def test_the_same_terms_take_the_same_number_of_machines(hours: Any) -> None:
    """No ceiling on owned hours alone: as many machines on both sides, whatever the demand."""
    same(*compared(SYMMETRIC["paid at the start"], hours=hours))


@pytest.mark.parametrize("seed", one_in(5, range(40)))
def test_random_terms(seed: int) -> None:
    """Any price, rent of a month, term, tax, discount and timing, any demand that is highest at
    first: a commitment that begins later is paid to an end after that of the server."""
    draw = random.Random(seed)
    months = draw.choice([12, 24, 36])
    upfront, monthly = draw.randrange(1_000, 500_000), draw.choice([0, draw.randrange(1, 40) * 730])
    rent = {"purchase_option": draw.choice(["reserved", "savings_plan"]), "term_months": months}
    pair: Pair = (
        rent | {"usd_per_hour": monthly // 730, "upfront_usd": upfront},
        {"unit_price": upfront, "power_kw": 1},
        {"colocation_per_kw_month": monthly},
        {
            "discount_rate_per_year": draw.choice([0, 0.08, 0.15]),
            "tax_rate": draw.choice([0, 0.21, 0.4]),
            "cash_timing": draw.choice(["month_start", "month_middle", "month_end", "year_end"]),
            "payment_terms_days": draw.choice([0, 30, 90]),
            "fiscal_year_start_month": draw.choice([1, 4, 10]),
        },
    )
    hours = [14_000] + [draw.choice([0, 800, 5840, 8000, 14_000]) for _ in range(months - 1)]
    same(*compared(pair, hours=hours, months=months))
