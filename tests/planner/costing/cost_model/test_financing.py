"""Loans, hire purchase and leases against a balance kept by hand, payment by payment."""

import datetime as dt
import random
from typing import Any

import numpy as np
import pytest

from planner.costing.cost_model.ownership import Financing, build_financing_charges
from planner.costing.cost_model.terms import Calendar, PaidWhen

START = dt.date(2027, 1, 1)


def contract(seed: int) -> tuple[Financing, float, float, int]:
    """A contract, its yearly rate, the price and the month of the purchase."""
    draw = random.Random(seed)
    financing = Financing(
        draw.choice(["loan", "hire_purchase", "lease"]),
        draw.randint(1, 48),
        draw.choice([0.0, 0.1, 0.25]),
        draw.choice([0.0, 0.2, 0.4]),
        draw.random() < 0.5,
        draw.choice(["full", "within"]),
    )
    return financing, draw.choice([0.0, 0.05, 0.1411]), draw.uniform(1e3, 9e5), draw.randint(0, 9)


def by_moment(charges: list[Any], start: int) -> dict[float, float]:
    """Moment in months → what is paid then, of a unit started in month `start`."""
    paid: dict[float, float] = {}
    for charge in charges:
        late = 1.0 if charge.paid is PaidWhen.MONTH_END else 0.0
        for month in np.flatnonzero(charge.due[start]):
            paid[month + late] = paid.get(month + late, 0.0) + float(charge.due[start, month])
    return paid


def build(financing: Financing, rate: float, price: float, lead: int = 2, months: int = 24) -> Any:
    calendar = Calendar(START, months, beyond_months=60 if financing.term_end == "full" else 0)
    prices = price * np.ones(months)
    return calendar, list(build_financing_charges(financing, rate, "box", prices, lead, calendar))


SEEDS = [range(first, first + 50) for first in range(0, 300, 50)]
"""Many contracts in a test: each by itself would take less time than a test does."""


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_the_balance_of_every_contract_ends_at_nothing(seeds: range) -> None:
    for seed in seeds:
        ends_at_nothing(seed)


def ends_at_nothing(seed: int) -> None:
    """Each payment bears the interest of the month; what is left in the end is the balloon, which
    a borrower pays and a lessor keeps, or the balance that is settled when the horizon ends."""
    financing, rate, price, start = contract(seed)
    calendar, charges = build(financing, rate, price)
    paid = by_moment(charges, start)
    first = start + (2 if financing.is_lease else 0)
    ends = min(first + financing.months, 999 if financing.term_end == "full" else calendar.months)
    drawn = price * (1 - financing.deposit_rate)
    if not financing.is_lease:
        assert paid.get(start, 0.0) < 0 or drawn < 0.01
        paid[start] += drawn  # the loan drawn is what the balance begins with
    elif financing.deposit_rate:
        share = (ends - first) / financing.months
        paid[first] -= financing.deposit_rate * price * share
    balance = drawn
    for month in range(first, ends + 1):
        if month > first:
            balance *= 1 + rate / 12
        balance -= paid.pop(float(month), paid.pop(month, 0.0))
    is_cut = ends < first + financing.months
    if financing.is_lease:
        if not is_cut:
            assert balance == pytest.approx(financing.balloon_rate * price, abs=0.05)
    else:
        assert balance == pytest.approx(0.0, abs=0.05)
    assert sum(abs(amount) for amount in paid.values()) < 0.05


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_cents_sum_to_what_is_drawn_and_to_the_interest(seeds: range) -> None:
    for seed in seeds:
        sum_to_what_is_drawn_and_to_the_interest(seed)


def sum_to_what_is_drawn_and_to_the_interest(seed: int) -> None:
    financing, rate, price, start = contract(seed)
    _, charges = build(financing, rate, price)
    for charge in charges:
        cents = charge.due[start] * 100
        assert np.abs(cents - np.rint(cents)).max() < 1e-4
        if charge.written_off is not None:
            written = charge.written_off[start].sum()
            assert written == pytest.approx(charge.due[start].sum(), abs=1e-6)
    loan = sum(c.due[start].sum() for c in charges if c.category == "loan")
    assert loan == pytest.approx(0.0, abs=1e-6)


def test_a_published_instalment() -> None:
    """70 M USD at 15 % over 36 months: 2,426,573 USD a month (USD.AI loan script)."""
    _, charges = build(Financing("loan", 36, deposit_rate=0.3), 0.15, 100e6)
    paid = by_moment(charges, 0)
    assert paid[1.0] == pytest.approx(2_426_573, rel=1e-6)
    assert paid[36.0] == pytest.approx(paid[1.0], abs=0.02)


def test_in_advance_is_a_month_of_interest_less() -> None:
    late, early = (Financing("lease", 24, in_advance=ahead) for ahead in (False, True))
    rents = [by_moment(build(one, 0.12, 1e5)[1], 0) for one in (late, early)]
    assert rents[0][3.0] == pytest.approx(rents[1][2.0] * 1.01, abs=0.02)
    assert min(rents[0]) == 3.0
    assert min(rents[1]) == 2.0


def test_interest_is_a_cost_of_the_month_that_it_accrues_in() -> None:
    """In advance the interest of a month is paid with the next month's instalment."""
    _, charges = build(Financing("loan", 3, in_advance=True), 0.12, 3000.0)
    (interest,) = [c for c in charges if c.category == "interest"]
    assert interest.due[0, 0] == 0
    assert interest.written_off is not None
    np.testing.assert_allclose(interest.written_off[0, :2], interest.due[0, 1:3])
