import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.common.amounts import from_scaled, is_exact, quantize, to_scaled
from pricing.models import ExchangeRate

ODD = Decimal("12345678.1234567891")
DAY = dt.date(2026, 9, 1)


def keep(*amounts: str) -> None:
    for n, amount in enumerate(amounts):
        ExchangeRate.objects.create(
            currency="EUR", date=DAY + dt.timedelta(days=n), units_per_usd=Decimal(amount)
        )


@pytest.mark.django_db
def test_an_amount_comes_back_unchanged():
    keep("12345678.1234567891", "0.0000000001", "-5", "900000000")
    kept = list(ExchangeRate.objects.order_by("date").values_list("units_per_usd", flat=True))
    assert kept == [ODD, Decimal("1E-10"), Decimal(-5), Decimal(900_000_000)]


@pytest.mark.django_db
def test_amounts_are_sorted_and_compared_as_numbers():
    keep("9", "10.5", "10.25", "12345678.1234567891")
    rows = ExchangeRate.objects.order_by("units_per_usd")
    assert [row.units_per_usd for row in rows][:3] == [
        Decimal(9),
        Decimal("10.25"),
        Decimal("10.5"),
    ]
    assert rows.filter(units_per_usd__gt=Decimal("10.25")).count() == 2
    assert rows.get(units_per_usd=ODD).units_per_usd == ODD


@pytest.mark.django_db
def test_an_amount_that_cannot_be_kept_exactly_is_refused():
    with pytest.raises(ValueError, match="more than 10 decimal places"):
        keep("0.12345678912")
    with pytest.raises(ValueError, match="beyond the largest amount"):
        keep("10000000000")


amounts = st.integers(-(2**63) + 1, 2**63 - 1)


@given(amounts)
def test_every_whole_number_of_units_is_an_amount_and_back(units):
    assert to_scaled(from_scaled(units)) == units
    assert is_exact(from_scaled(units))


@given(st.decimals(-900_000_000, 900_000_000, allow_nan=False, places=14))
def test_an_amount_is_rounded_once_by_less_than_half_a_unit(amount):
    kept = quantize(amount)
    assert abs(kept - amount) <= Decimal("0.5e-10")
    assert quantize(kept) == kept
