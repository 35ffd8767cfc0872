from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from pricing.ingest.provider import NotRead
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offers import PurchaseOption
from pricing.publish import row_checks as rows
from pricing.publish.batch import OfferBatch
from pricing.publish.batch_checks import PublishedState, check
from tests.pricing.make import A100, H100, T4, offer

DAY = dt.date(2026, 9, 1)
SPOT, RESERVED = PurchaseOption.SPOT, PurchaseOption.RESERVED
GOOD = offer("55.04", vcpus=192.0, memory_gib=2048.0)


def judge(*offers, published=(), force=False, **published_state):
    batch = OfferBatch("aws", offers, DAY)
    return check(batch, PublishedState(offers=published, **published_state), DAY, force=force)


def rejected(*offers, **published_state) -> list[tuple[str, str]]:
    return [(row.reason, row.detail) for row in judge(*offers, **published_state).rejected_rows]


def reasons(*offers, published, **published_state) -> tuple[str, ...]:
    return judge(*offers, published=published, **published_state).reasons


# Rows -------------------------------------------------------------------------------------


def test_a_sound_offer_passes():
    result = judge(GOOD)
    assert (result.offers, result.rejected_rows, result.reasons) == ((GOOD,), (), ())


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"provider": "gcp"}, "provider 'gcp' instead of 'aws'"),
        ({"region": ""}, "region is empty"),
        ({"region": "x" * 65}, "region is longer than 64 characters"),
        ({"instance_type": "p5\x00"}, "instance_type 'p5\\x00' is not text"),
        ({"sku": 12}, "sku 12 is not text"),
        ({"price_per_hour": 55.04}, "price_per_hour 55.04 is not an exact number"),
        ({"price_per_hour": Decimal("NaN")}, "is not an exact number"),
        ({"price_per_hour": Decimal("Infinity")}, "is not an exact number"),
        ({"price_per_hour": Decimal(-1)}, "is outside 0 to"),
        ({"price_per_hour": Decimal("1e10")}, "is outside 0 to"),
        ({"upfront": Decimal(5)}, "upfront 5 without a term"),
        ({"currency": "usd"}, "currency 'usd' is not an ISO 4217 code"),
        ({"purchase_option": "on_demand"}, "purchase_option 'on_demand' is not known"),
        ({"purchase_option": RESERVED}, "reserved without a term"),
        ({"term_months": 600}, "term_months 600 is not 0 to 120"),
        ({"payment_option": "later"}, "payment_option 'later' is not known"),
        ({"accelerator_count": Fraction(0)}, "is not above 0"),
        ({"accelerator_count": 8}, "accelerator_count 8 is not above 0"),
        ({"memory_gib": float("nan")}, "memory_gib nan is not a number of 0 or more"),
        ({"as_of": "2026-09-01"}, "as_of '2026-09-01' is not a date"),
        ({"as_of": dt.datetime(2026, 9, 1)}, "is not a date"),
        ({"as_of": DAY + dt.timedelta(days=1)}, "as_of 2026-09-02 is after 2026-09-01"),
        ({"region": "r" * 64, "zone": "z" * 64, "instance_type": "i" * 128}, "id is longer than"),
    ],
)
def test_what_is_not_in_the_form_of_an_offer_is_withheld(changes, fault):
    ((reason, detail),) = rejected(replace(GOOD, **changes))
    assert reason == rows.NOT_AN_OFFER
    assert fault in detail


@pytest.mark.parametrize(
    "changes", [{"purchase_option": "on_demand"}, {"accelerator_count": 8}, {"region": ["x"]}]
)
def test_a_value_of_the_wrong_kind_does_not_hide_behind_an_equal_one(changes):
    result = judge(GOOD, replace(GOOD, instance_type="other", **changes))
    assert (result.offers, len(result.rejected_rows)) == ((GOOD,), 1)


def test_trap_1_a_price_of_0_is_withheld_and_never_summed():
    capacity_block = offer("0", purchase_option=PurchaseOption.CAPACITY_BLOCK)
    assert rejected(GOOD, capacity_block) == [(rows.NO_PRICE, capacity_block.id)]


def test_an_all_upfront_reservation_costs_0_an_hour_and_passes():
    reserved = offer("0", purchase_option=RESERVED, term_months=12, upfront=Decimal(87600))
    assert rejected(reserved) == []


def test_trap_8_an_unknown_accelerator_is_withheld_by_name():
    assert rejected(GOOD, offer(accelerator="mystery-9000", region="x")) == [
        (rows.UNKNOWN_ACCELERATOR, "mystery-9000")
    ]


def test_a_currency_without_an_exchange_rate_is_withheld():
    assert rejected(offer(currency="CNY")) == [(rows.NO_EXCHANGE_RATE, "CNY")]
    known = ExchangeRates.of([ExchangeRate("CNY", DAY, Decimal(7))])
    assert rejected(offer(currency="CNY"), exchange_rates=known) == []


def test_trap_5_spot_above_on_demand_is_withheld():
    spot = offer("55.2", purchase_option=SPOT, zone="us-east-1a")
    assert rejected(GOOD, spot) == [(rows.SPOT_ABOVE, f"{spot.id} 55.2 > 55.04")]


@pytest.mark.parametrize("price", ["55.04", "55.09", "20"])
def test_spot_up_to_on_demand_passes_whatever_the_rounding(price):
    assert rejected(GOOD, offer(price, purchase_option=SPOT)) == []


def size(price: str, name: str, count: int, vcpus: float, **more):
    return offer(
        price, count, instance_type=name, vcpus=vcpus, memory_gib=vcpus * 4, accelerator=T4, **more
    )


def test_trap_5_a_bigger_size_cheaper_than_a_smaller_is_withheld():
    small, big = size("1.2", "g4dn.4xlarge", 1, 16), size("0.9", "g4dn.12xlarge", 4, 48)
    assert rejected(small, big) == [(rows.BIGGER_CHEAPER, f"{big.id} < g4dn.4xlarge")]


def test_more_accelerators_with_less_memory_may_be_cheaper():
    cpu, gpu = size("4.352", "g4dn.16xlarge", 1, 64), size("3.912", "g4dn.12xlarge", 4, 48)
    assert rejected(cpu, gpu) == []


def test_sizes_of_other_families_regions_or_options_are_not_compared():
    small = size("1.2", "g4dn.4xlarge", 1, 16)
    others = [
        size("0.9", "g4ad.12xlarge", 4, 48),
        size("0.9", "g4dn.12xlarge", 4, 48, region="other"),
        size("0.9", "g4dn.12xlarge", 4, 48, purchase_option=SPOT),
    ]
    assert rejected(small, *others) == []


def test_trap_6_two_prices_for_one_offer_leave_it_without_a_price():
    twice = [replace(GOOD, price_per_hour=Decimal(p)) for p in ("55.04", "5.504")]
    result = judge(*twice, offer(region="eu-west-1"))
    assert [row.reason for row in result.rejected_rows] == [rows.TWO_PRICES] * 2
    assert [o.region for o in result.offers] == ["eu-west-1"]


def test_trap_6_the_same_offer_twice_counts_once():
    result = judge(GOOD, replace(GOOD, sku="OTHER"))
    assert (result.offers, result.reasons) == ((GOOD,), ())
    assert [row.reason for row in result.rejected_rows] == [rows.SAME_TWICE]


def test_trap_6_a_region_in_another_spelling_is_withheld():
    right = [offer(region="westus3"), offer(region="westus3", instance_type="p4d.24xlarge")]
    assert rejected(*right, offer("9", region="WestUS3")) == [
        (rows.REGION_TWICE, "WestUS3 for westus3")
    ]


def test_the_known_spelling_of_a_region_counts_even_alone():
    assert rejected(offer(region="West US 3"), known_regions=frozenset({"westus3"})) == [
        (rows.REGION_TWICE, "West US 3 for westus3")
    ]


def test_force_lets_through_what_is_improbable_and_nothing_that_is_wrong():
    spot = offer("60", purchase_option=SPOT)
    result = judge(GOOD, spot, offer("0", region="x"), force=True)
    assert result.offers == (GOOD, spot)
    assert [row.reason for row in result.rejected_rows] == [rows.NO_PRICE]


# Batches ----------------------------------------------------------------------------------

TEN = tuple(offer(region=f"region-{n}", as_of=DAY) for n in range(10))


def test_what_did_not_change_is_not_held():
    assert reasons(*TEN, published=TEN) == ()


def test_trap_7_a_currency_label_changed_over_the_same_number_holds_the_batch():
    rates = ExchangeRates.of([ExchangeRate("CNY", DAY, Decimal("1.1"))])
    relabelled = [replace(one, currency="CNY") for one in TEN[:2]]
    (reason,) = reasons(*relabelled, *TEN[2:], published=TEN, exchange_rates=rates)
    assert reason.startswith("2 changed currency without converting the number: aws:region-0:")
    one = judge(relabelled[0], *TEN[1:], published=TEN, exchange_rates=rates)
    assert (one.reasons, one.offers) == ((), (*TEN[1:], TEN[0]))
    assert [part.regions for part in one.doubtful_parts] == [("region-0",)]


def test_a_currency_label_over_a_number_that_moved_a_little_is_no_conversion():
    rates = ExchangeRates.of([ExchangeRate("EUR", DAY, Decimal("0.86"))])
    moved = replace(TEN[0], currency="EUR", price_per_hour=TEN[0].price_per_hour * Decimal("1.01"))
    one = judge(moved, *TEN[1:], published=TEN, exchange_rates=rates)
    assert one.offers == (*TEN[1:], TEN[0])
    (part,) = one.doubtful_parts
    assert part.reason.startswith("region-0 changed its currency without converting the numbers")


def test_more_than_a_fifth_gone_holds_the_batch():
    same_region = tuple(offer(instance_type=f"p5.{n}xlarge") for n in range(10))
    assert reasons(*same_region[:8], published=same_region) == ()
    assert reasons(*same_region[:7], published=same_region) == (
        "it has 7 offers on sale, down from 10 (30% fewer)",
    )


def test_a_lost_region_or_family_holds_the_batch():
    family = offer(instance_type="p4d.24xlarge", accelerator=A100, region="region-0")
    published = (*TEN, family, *(offer(instance_type="p5.1xlarge", region=f"region-{n}")
                                 for n in range(9)))  # fmt: skip
    without = [o for o in published if o.region != "region-9" and o is not family]
    assert reasons(*without, published=published) == (
        "1 family is gone: p4d",
        "1 region is gone: region-9",
    )


def test_what_was_not_read_hides_no_loss():
    """Spot prices that a run without credentials cannot see say nothing about on demand."""
    spot = [replace(o, purchase_option=SPOT, price_per_hour=Decimal(9)) for o in TEN]
    lost = [o for o in TEN if o.region not in ("region-8", "region-9")]
    batch = OfferBatch("aws", lost[:7], DAY, not_read=(NotRead("no credentials", ("spot",)),))
    result = check(batch, PublishedState(offers=(*TEN, *spot)), DAY)
    assert result.reasons == (
        "it has 7 offers on sale, down from 10 (30% fewer)",
        "3 regions are gone: region-7, region-8, region-9",
    )
    assert result.carried_over == 10


def test_a_family_that_other_regions_still_sell_is_not_lost():
    here = tuple(offer(instance_type=f"p5.{n}xlarge", region="region-0") for n in range(10))
    old = offer(instance_type="p4d.24xlarge", accelerator=A100, region="region-0")
    published = (*here, old, replace(old, region="region-1"))
    batch = OfferBatch("aws", here, DAY, regions=("region-0",))
    assert check(batch, PublishedState(offers=published), DAY).reasons == ()


def test_the_first_list_of_a_provider_is_held_against_the_bundled_prices():
    gone = "it has 1 offer on sale, down from 10 (90% fewer)"
    assert gone in reasons(TEN[0], published=TEN, origin="bundled")


def test_an_empty_database_is_held_against_what_is_expected():
    gone = "it has 1 offer on sale, down from 10 (90% fewer)"
    empty = PublishedState(expected=TEN)
    batch = OfferBatch("aws", TEN[:1], DAY)
    assert gone in check(batch, empty, DAY).reasons
    assert check(batch, empty, DAY).offers == TEN[:1]
    assert check(replace(batch, offers=TEN), empty, DAY).reasons == ()
    china = NotRead("China has a price list of its own", (), tuple(o.region for o in TEN[1:]))
    assert check(replace(batch, not_read=(china,)), empty, DAY).reasons == ()


def test_a_batch_older_than_what_is_in_force_is_held():
    found = reasons(*TEN, published=TEN, as_of=dt.date(2026, 9, 2))
    assert found == ("it is dated 2026-09-01, older than the revision in force of 2026-09-02",)


def test_a_batch_from_the_future_is_held():
    result = check(OfferBatch("aws", (GOOD,), DAY), PublishedState(), dt.date(2026, 8, 1))
    assert "which is after today, 2026-08-01; check the clock" in result.reasons[0]


def test_a_batch_of_which_too_much_was_withheld_is_held():
    bad = [replace(o, price_per_hour=Decimal(0)) for o in TEN[:3]]
    assert reasons(*bad, *TEN[3:], published=()) == ("3 of its 10 offers did not pass the checks",)


def test_unknown_accelerators_alone_do_not_hold_a_batch():
    new = [replace(o, accelerator="mystery-9000", instance_type="m1.x") for o in TEN]
    assert reasons(*new, *TEN, published=TEN) == ()


def test_a_machine_no_longer_sold_does_not_count_as_lost():
    old = replace(TEN[0], region="old", sold_now=False, accelerator=H100)
    result = judge(*TEN, published=(*TEN, old))
    assert (result.reasons, result.carried_over) == ((), 1)
    assert old in result.offers


def test_an_offer_that_is_withheld_is_absent_and_keeps_no_older_price():
    ten = (*TEN, *(replace(o, instance_type="p5.1xlarge") for o in TEN))
    result = judge(replace(ten[0], price_per_hour=Decimal(0)), *ten[1:], published=ten)
    assert ten[0].id not in {o.id for o in result.offers}
    assert result.reasons == ()
