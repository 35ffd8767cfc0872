import datetime as dt
from decimal import Decimal
from fractions import Fraction

import pytest

from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offer_table import OfferTable
from pricing.market.offers import PurchaseOption
from pricing.market.snapshot import Catalog, Region
from tests.pricing.make import A100, H100, T4, datasheet, offer

OFFERS = [
    offer("55.04"),
    offer("20.48", instance_type="p4de.24xlarge", accelerator=A100),
    offer("0.526", 1, instance_type="g4dn.xlarge", accelerator=T4, region="eu-west-1"),
    offer("16.40", purchase_option=PurchaseOption.SPOT),
    offer("0.90", 1, instance_type="old", accelerator=T4, sold_now=False),
]
TABLE = OfferTable.from_offers(
    OFFERS, geographies={("aws", "eu-west-1"): "europe"}, datasheet=datasheet
)


def picked(**wanted: object) -> list[int]:
    return TABLE.select(**wanted).tolist()


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        ({"accelerators": [H100]}, [0, 3]),
        ({"accelerators": [H100, T4]}, [0, 2, 3]),
        ({"accelerators": ["nothing"]}, []),
        ({"regions": ["eu-west-1"]}, [2]),
        ({"geographies": ["europe"]}, [2]),
        ({"providers": ["gcp"]}, []),
        ({"purchase_options": ["spot"]}, [3]),
        ({"instance_types": ["p4de.24xlarge"]}, [1]),
        ({"min_accelerator_memory_gib": 80}, [0, 1, 3]),
        ({"min_accelerators_per_node": 8}, [0, 1, 3]),
        ({"accelerator_count": 1}, [2]),
        ({"interconnect": "nvlink 3"}, [1]),
        ({"interconnect": "infiniband"}, []),
        ({"sold_now": None, "accelerators": [T4]}, [2, 4]),
        ({"sold_now": False}, [4]),
    ],
)
def test_each_condition_limits_the_rows(wanted, rows):
    assert picked(**wanted) == rows


def test_the_cheapest_come_first_and_ties_keep_their_order():
    table = OfferTable.from_offers(
        [offer("8"), offer("4"), offer("8"), offer("2")], datasheet=datasheet
    )
    rows = table.select()
    assert table.cheapest(rows).tolist() == [3, 1, 0, 2]
    assert table.cheapest(rows, 3).tolist() == [3, 1, 0]


def test_a_row_gives_back_the_exact_offer():
    assert TABLE.offer(2) is OFFERS[2]
    assert TABLE.find(OFFERS[3].id) is OFFERS[3]
    assert TABLE.find("aws:nowhere") is None


def test_an_upfront_payment_is_spread_over_730_hours_a_month():
    reserved = offer(
        "0", upfront=Decimal(87600), term_months=12, purchase_option=PurchaseOption.RESERVED
    )
    table = OfferTable.from_offers([reserved], datasheet=datasheet)
    assert table.usd_per_hour.tolist() == [0.0]
    assert table.effective_usd_per_hour.tolist() == [10.0]
    assert table.usd_per_accelerator_hour.tolist() == [1.25]


def test_trap_4_a_sixth_of_a_card_is_a_sixth_of_its_memory_and_six_times_its_price():
    table = OfferTable.from_offers(
        [offer("0.5", Fraction(1, 6), accelerator=T4)], datasheet=datasheet
    )
    assert table.accelerator_memory_gib[0] == pytest.approx(16 / 6)
    assert table.usd_per_accelerator_hour[0] == pytest.approx(3.0)


def test_trap_7_a_price_in_another_currency_is_converted_and_the_offer_keeps_its_own():
    rates = ExchangeRates.of([ExchangeRate("CNY", dt.date(2026, 6, 1), Decimal(8))])
    table = OfferTable.from_offers([offer("64", currency="CNY")], rates, datasheet=datasheet)
    assert table.usd_per_hour.tolist() == [8.0]
    assert table.offer(0).price_per_hour == Decimal(64)
    assert table.offer(0).currency == "CNY"


def test_a_rate_is_never_taken_from_after_the_day_asked_for():
    rates = ExchangeRates.of([ExchangeRate("EUR", dt.date(2026, 6, 1), Decimal("0.9"))])
    with pytest.raises(InvalidInput, match="the first known is of 2026-06-01"):
        rates.find("EUR", dt.date(2026, 5, 31))


def test_trap_9_the_age_of_a_provider_is_that_of_its_oldest_price_sold_now():
    catalog = Catalog.of(
        [
            offer(as_of=dt.date(2026, 9, 1)),
            offer(as_of=dt.date(2026, 8, 1), region="eu-west-1"),
            offer(as_of=dt.date(2017, 1, 1), region="old", sold_now=False),
            offer(as_of=None, region="undated"),
        ],
        datasheet=datasheet,
    )
    (info,) = catalog.revisions
    assert (info.as_of, info.oldest_price_as_of) == (dt.date(2026, 9, 1), dt.date(2026, 8, 1))
    assert info.undated_prices == 1
    assert info.age_days(dt.date(2026, 8, 11)) == 10


def test_a_geography_comes_from_the_region():
    catalog = Catalog.of(
        OFFERS,
        regions={("aws", "eu-west-1"): Region("europe", "IE", "Dublin")},
        datasheet=datasheet,
    )
    assert catalog.offers.select(geographies=["europe"]).tolist() == [2]
    assert catalog.region("aws", "eu-west-1").city == "Dublin"
    assert catalog.region("aws", "us-east-1") is None


def test_an_unknown_region_is_refused_with_the_nearest_names():
    catalog = Catalog.of(OFFERS, datasheet=datasheet)
    catalog.check_names("regions", ["eu-west-1"], "region")
    with pytest.raises(InvalidInput, match=r"'eu-west-9' is not in the catalog; did you mean eu-w"):
        catalog.check_names("regions", ["eu-west-9"], "region")
