"""Rows of the Retail Prices API one by one: words, numbers, times, and rows gone wrong."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import PurchaseOption
from pricing.providers.azure.price_rows import Price, read_row, resolve_meters
from tests.pricing.servers.azure_truth import NOW, Row, row

NAME, LINUX = "Standard_NC24ads_A100_v4", "NCads A100 v4 Series Linux"


def a100(price: str = "4.775", **changes: Any) -> Row:
    return row(NAME, NAME, LINUX, "westeurope", price, **changes)


def prices(*rows: Row) -> list[Price]:
    read = [one for each in rows for one in read_row(each, NOW)]
    assert not [one for one in read if isinstance(one, SkippedRow)]
    return [one for one in read if isinstance(one, Price)]


@pytest.mark.parametrize(
    ("sku", "meter", "option"),
    [
        ("NC24ads_A100_v4", "NC24ads A100 v4", PurchaseOption.ON_DEMAND),
        ("Standard_NC24ads_A100_v4 Spot", "NC24ads_A100_v4 Spot", PurchaseOption.SPOT),
        ("NC24ads_A100_v4", "NC24ads A100 v4 Spot", PurchaseOption.SPOT),
        ("NC24 Low Priority", "NC24 Low Priority", PurchaseOption.LOW_PRIORITY),
        ("NC24/NC24s Low Priority", "NC24", PurchaseOption.LOW_PRIORITY),
    ],
)
def test_the_words_of_sku_or_meter_name_the_option(
    sku: str, meter: str, option: PurchaseOption
) -> None:
    one = row(NAME, sku, LINUX, "westeurope", "1", meterName=meter)
    assert [price.option for price in prices(one)] == [option]


def test_the_unit_price_stands_in_for_a_plan_without_retail_price() -> None:
    plan = [{"unitPrice": 3.1, "term": "3 Years"}]
    _, one = prices(a100(savingsPlan=plan))
    assert (one.option, one.per_hour, one.term_months) == ("savings_plan", Decimal("3.1"), 36)


def test_a_plan_without_term_or_price_is_counted() -> None:
    read = list(read_row(a100(savingsPlan=[{"term": "1 Year"}, {"retailPrice": 2}]), NOW))
    assert [one.reason for one in read if isinstance(one, SkippedRow)] == [
        "savings plan without a term or price"
    ] * 2


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"effectiveEndDate": "2026-09-09T12:00:01Z"}, True),
        ({"effectiveEndDate": "2026-09-08T00:00:00Z"}, False),
        ({"effectiveEndDate": "9999-12-31T00:00:00Z"}, True),
        ({"effectiveStartDate": "2026-09-11T00:00:00"}, True),
        ({"effectiveStartDate": "2026-09-12T00:00:00Z"}, False),
        ({"effectiveStartDate": "soon"}, True),
    ],
)
def test_a_price_holds_between_its_dates_give_or_take_a_day(
    changes: dict[str, str], kept: bool
) -> None:
    (one,) = read_row(a100(**changes), NOW)
    assert isinstance(one, Price) == kept


def test_of_two_states_of_one_meter_the_newer_counts() -> None:
    both = prices(
        a100("5", effectiveStartDate="2026-08-01T00:00:00Z"),
        a100("4", effectiveStartDate="2026-09-01T00:00:00Z"),
    )
    found = list(resolve_meters(both))
    assert [one.per_hour for one in found if isinstance(one, Price)] == [Decimal(4)]
    assert [one.reason for one in found if isinstance(one, SkippedRow)] == [
        "older state of a price"
    ]


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*a100(), "savingsPlan", "reservationTerm"]), junk))
def test_a_row_gone_wrong_gives_prices_or_reasons_and_never_fails(changes: Row) -> None:
    for one in read_row({**a100(), **changes}, NOW):
        is_price = isinstance(one, SkippedRow) or one.is_unusable
        assert is_price or one.per_hour > 0 or one.upfront > 0
