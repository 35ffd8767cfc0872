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
from pricing.publish.comparison import Comparison, PublishedState, compare_lists
from tests.pricing.make import A100, T4, offer

DAY = dt.date(2026, 9, 1)
SPOT, RESERVED = PurchaseOption.SPOT, PurchaseOption.RESERVED
GOOD = offer("55.04", vcpus=192.0, memory_gib=2048.0)


def judge(*offers, published=(), force=False, day=DAY, **state) -> Comparison:
    batch = OfferBatch("aws", offers, day)
    return compare_lists(batch, PublishedState(offers=published, **state), day, force=force)


def rejected(*offers, **state) -> list[tuple[str, str]]:
    return [(row.reason, row.detail) for row in judge(*offers, **state).rejected_rows]


def held(*offers, **state) -> list[str]:
    return [part.describe() for part in judge(*offers, **state).held_parts]


def test_a_sound_offer_passes():
    result = judge(GOOD)
    assert (result.offers, result.rejected_rows, result.held_parts) == ((GOOD,), (), ())


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"provider": "gcp"}, "provider 'gcp' instead of 'aws'"),
        ({"region": ""}, "region '': "),
        ({"region": "x" * 65}, "region 'xxx"),
        ({"instance_type": "p5\x00"}, "instance_type 'p5\\x00': "),
        ({"sku": 12}, "sku 12: "),
        ({"price_per_hour": 55.04}, "price_per_hour 55.04: "),
        ({"price_per_hour": Decimal("NaN")}, "price_per_hour Decimal('NaN'): "),
        ({"price_per_hour": Decimal("Infinity")}, "price_per_hour Decimal('Infinity'): "),
        ({"price_per_hour": Decimal(-1)}, "greater than or equal to 0"),
        ({"price_per_hour": Decimal("1e10")}, "less than or equal to"),
        ({"price_per_hour": Decimal("1e400")}, "less than or equal to"),
        ({"upfront": Decimal(5)}, "upfront 5 without a term"),
        ({"currency": "usd"}, "currency 'usd': "),
        ({"purchase_option": "on_demand"}, "purchase_option 'on_demand': "),
        ({"purchase_option": RESERVED}, "reserved without a term"),
        ({"term_months": 600}, "term_months 600: "),
        ({"payment_option": "later"}, "payment_option 'later': "),
        ({"accelerator_count": Fraction(0)}, "is not above 0"),
        ({"accelerator_count": 8}, "accelerator_count 8: "),
        ({"memory_gib": float("nan")}, "memory_gib nan: "),
        ({"as_of": "2026-09-01"}, "as_of '2026-09-01': "),
        ({"as_of": dt.datetime(2026, 9, 1)}, "as_of datetime"),
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


def size(price: str, name: str, count: int, vcpus: float, **more):
    return offer(
        price, count, instance_type=name, vcpus=vcpus, memory_gib=vcpus * 4, accelerator=T4, **more
    )


def spot(price: str, **more):
    return offer(price, purchase_option=SPOT, **more)


@pytest.mark.parametrize(
    ("offers", "reason", "detail"),
    [
        ([GOOD, offer("0", purchase_option=PurchaseOption.CAPACITY_BLOCK)], rows.NO_PRICE, "{}"),
        ([GOOD, offer(accelerator="mystery-9000", region="x")], rows.UNKNOWN_ACCELERATOR,
         "mystery-9000"),
        ([offer(currency="CNY")], rows.NO_EXCHANGE_RATE, "CNY"),
        ([GOOD, spot("55.2", zone="us-east-1a")], rows.SPOT_ABOVE, "{} 55.2 > 55.04"),
        ([size("1.2", "g4dn.4xlarge", 1, 16), size("0.9", "g4dn.12xlarge", 4, 48)],
         rows.BIGGER_CHEAPER, "{} < g4dn.4xlarge"),
        ([offer(region="westus3"), offer(region="westus3", instance_type="p4d.24xlarge"),
          offer("9", region="WestUS3")], rows.REGION_TWICE, "WestUS3 for westus3"),
        ([*(offer("55", region=f"region-{n}") for n in range(5)), offer("55000", region="far")],
         rows.OUT_OF_SCALE, "{} is × 1e+03 of its siblings"),
    ],
)  # fmt: skip
def test_the_last_of_these_offers_is_withheld(offers, reason, detail):
    assert rejected(*offers) == [(reason, detail.format(offers[-1].id))]


@pytest.mark.parametrize(
    "offers",
    [
        [offer("0", purchase_option=RESERVED, term_months=12, upfront=Decimal(87600))],
        *([GOOD, spot(price)] for price in ("55.04", "55.09", "20")),
        [size("4.352", "g4dn.16xlarge", 1, 64), size("3.912", "g4dn.12xlarge", 4, 48)],
        [
            size("1.2", "g4dn.4xlarge", 1, 16),
            size("0.9", "g4ad.12xlarge", 4, 48),
            size("0.9", "g4dn.12xlarge", 4, 48, region="other"),
            size("0.9", "g4dn.12xlarge", 4, 48, purchase_option=SPOT),
        ],
    ],
)
def test_these_offers_pass(offers):
    assert rejected(*offers) == []


def test_a_currency_with_an_exchange_rate_passes():
    known = ExchangeRates.of([ExchangeRate("CNY", DAY, Decimal(7))])
    assert rejected(offer(currency="CNY"), exchange_rates=known) == []


def test_trap_6_two_prices_for_one_offer_leave_it_without_a_price():
    twice = [replace(GOOD, price_per_hour=Decimal(p)) for p in ("55.04", "5.504")]
    result = judge(*twice, offer(region="eu-west-1"))
    assert [row.reason for row in result.rejected_rows] == [rows.TWO_PRICES] * 2
    assert [o.region for o in result.offers] == ["eu-west-1"]


def test_trap_6_the_same_offer_twice_counts_once():
    result = judge(GOOD, replace(GOOD, sku="OTHER"))
    assert result.offers == (GOOD,)
    assert [row.reason for row in result.rejected_rows] == [rows.SAME_TWICE]


def test_the_known_spelling_of_a_region_counts_even_alone():
    assert rejected(offer(region="West US 3"), known_regions=frozenset({"westus3"})) == [
        (rows.REGION_TWICE, "West US 3 for westus3")
    ]


def test_force_lets_through_what_is_improbable_and_nothing_that_is_wrong():
    dear = spot("60")
    result = judge(GOOD, dear, offer("0", region="x"), force=True)
    assert result.offers == (GOOD, dear)
    assert [row.reason for row in result.rejected_rows] == [rows.NO_PRICE]


OPTIONS = (PurchaseOption.ON_DEMAND, RESERVED, SPOT)
MARKET = tuple(
    offer(
        str(price * (0.3 if option is SPOT else 1)), 8, instance_type=f"{family}.48xlarge",
        region=f"region-{n:02}", purchase_option=option, as_of=DAY,
        term_months=12 if option is RESERVED else 0,
    )
    for family, price in (("p5", 55), ("p4d", 32), ("p6", 110))
    for n in range(24)
    for option in OPTIONS
)  # fmt: skip
NEXT = DAY + dt.timedelta(days=1)


def moved(factor: str, is_moved) -> tuple:
    return tuple(
        replace(one, price_per_hour=one.price_per_hour * Decimal(factor)) if is_moved(one) else one
        for one in MARKET
    )


def of_family(one):
    return one.instance_type[:2] == "p5"


PART = "region-03"


@pytest.mark.parametrize(
    ("factor", "is_moved", "parts"),
    [
        ("1", lambda o: True, []),
        ("1.049", lambda o: True, []),
        ("1.06", lambda o: o.purchase_option is RESERVED,
         ["reserved: 72 prices, × 1.06 of what is published"]),
        ("0.868", lambda o: True,
         ["on demand: 72 prices, × 0.868 of what is published",
          "reserved: 72 prices, × 0.868 of what is published",
          "spot: 72 prices, × 0.868 of what is published"]),
        ("0.5", of_family,
         ["on demand of p5: 24 prices, × 0.5 of what is published",
          "reserved of p5: 24 prices, × 0.5 of what is published",
          "spot of p5: 24 prices, × 0.5 of what is published"]),
        ("2", lambda o: o.region == PART and o.purchase_option is not SPOT,
         ["on demand in region-03: 3 prices, × 2 of what is published",
          "reserved in region-03: 3 prices, × 2 of what is published"]),
        ("1.2", lambda o: o.region == PART and of_family(o) and o.purchase_option is RESERVED,
         ["reserved of p5 in region-03: 1 price, × 1.2 of what is published"]),
        ("1.12", lambda o: o.region == PART and of_family(o), []),
        ("0.4", lambda o: o.region == PART and o.purchase_option is SPOT, []),
        ("1000", lambda o: o.purchase_option is RESERVED,
         ["reserved: 72 prices, × 1,000 of what is published"]),
    ],
)  # fmt: skip
def test_a_common_factor_holds_its_parts_and_no_more(factor, is_moved, parts):
    result = judge(*moved(factor, is_moved), published=MARKET)
    assert [part.describe() for part in result.held_parts] == parts
    held_ids = {one.id for part in result.held_parts for one in part.offers}
    before = {one.id: one for one in MARKET}
    came = {one.id: one for one in moved(factor, is_moved)}
    expected = {key: before[key] if key in held_ids else came[key] for key in before}
    assert {one.id: one for one in result.offers} == expected
    assert judge(*moved(factor, is_moved), published=MARKET, force=True).held_parts == ()


def test_a_part_never_compared_follows_those_beside_it():
    published = [one for one in MARKET if one.region != PART and one.purchase_option is not SPOT]
    doubled = moved("2", lambda o: True)
    assert held(*doubled, published=published) == [
        "on demand: 72 prices, × 2 of what is published",
        "reserved: 72 prices, × 2 of what is published",
        "spot: 72 prices, those beside it × 2 of what is published",
    ]
    assert held(*MARKET, published=published) == []


def test_an_empty_database_is_compared_with_what_is_expected_and_else_with_on_demand():
    assert judge(*MARKET).offers == MARKET
    assert len(held(*moved("0.5", of_family), expected=MARKET)) == 3
    far = moved("20", lambda o: o.purchase_option is RESERVED)
    result = judge(*far)
    assert [part.describe() for part in result.held_parts] == [
        "reserved: 72 prices, × 20 of on demand"
    ]
    assert {one.purchase_option for one in result.offers} == {PurchaseOption.ON_DEMAND, SPOT}


def test_prices_that_equal_those_on_demand_count_where_a_part_was_never_compared():
    regular = [offer("10", instance_type=f"p5.{n}xlarge", region=f"r{n}") for n in range(5)]
    signed = [
        replace(one, purchase_option=RESERVED, term_months=12, price_per_hour=Decimal(price))
        for one, price in zip(regular, (10, 10, 10, 10, 17), strict=True)
    ]
    alone = [replace(one, region="r0") for one in (*regular, *signed)]
    assert held(*alone, published=alone[:5]) == []


def test_one_price_of_a_part_beyond_half_holds_the_part():
    sizes = [
        offer(p, n, instance_type=f"p5.{n}xlarge") for p, n in (("7", 1), ("14", 2), ("28", 4))
    ]
    typo = replace(sizes[0], price_per_hour=Decimal(70))
    (part,) = judge(typo, *sizes[1:], published=sizes).held_parts
    assert part.describe() == (
        "on demand of p5 in us-east-1: 3 prices, one of them × 10 of what is published"
    )
    assert [(move.before, move.after, move.ratio) for move in part.moves] == [("7", "70", 10)]


def test_trap_7_a_currency_label_changed_over_the_same_number_waits():
    rates = ExchangeRates.of([ExchangeRate("EUR", DAY, Decimal("0.86"))])
    relabelled = [replace(o, currency="EUR") if of_family(o) else o for o in MARKET]
    assert held(*relabelled, published=MARKET, exchange_rates=rates)[0] == (
        "on demand of p5: 24 prices, × 1.16 of what is published"
    )
    converted = [
        replace(o, currency="EUR", price_per_hour=o.price_per_hour * Decimal("0.86"))
        for o in MARKET
    ]
    assert held(*converted, published=MARKET, exchange_rates=rates) == []


def read_again(published, came, absences=None, day=NEXT, **batch) -> Comparison:
    state = PublishedState(offers=published, absences=absences or {})
    return compare_lists(OfferBatch("aws", tuple(came), day, **batch), state, day)


def test_a_family_gone_is_marked_twice_and_then_no_longer_sold():
    came = [one for one in MARKET if not of_family(one)]
    first = read_again(MARKET, came)
    assert first.absent == (
        "not in the list of 2026-09-02: on demand of p5 (24 prices), reserved of p5 (24 prices),"
        " spot of p5 (24 prices)",
    )
    gone = [one for one in first.offers if of_family(one)]
    assert {(one.sold_now, one.absent_since, one.as_of) for one in gone} == {(True, NEXT, DAY)}
    second = read_again(first.offers, came, first.absences, NEXT + dt.timedelta(days=1))
    assert {one.absent_since for one in second.offers if of_family(one)} == {NEXT}
    third = read_again(second.offers, came, second.absences)
    assert third.absent[0].startswith("no longer sold, missing in 3 lists: on demand of p5 (24")
    assert {(o.sold_now, o.absent_since) for o in third.offers if of_family(o)} == {(False, None)}
    assert third.absences == {}
    back = read_again(second.offers, MARKET, second.absences)
    assert (set(back.offers), back.absences, back.absent) == (set(MARKET), {}, ())


@pytest.mark.parametrize(
    "batch", [{"not_read": (NotRead("no credentials", ("spot",)),)}, {"regions": ("region-00",)}]
)
def test_what_was_not_read_lacks_nothing(batch):
    unread = [one for one in MARKET if one.region != "region-00" and one.purchase_option is SPOT]
    marked = replace(unread[0], absent_since=DAY)
    published = [marked if one is unread[0] else one for one in MARKET]
    absences = {marked.id: (DAY, 1)}
    came = [one for one in MARKET if one.region == "region-00" and one.purchase_option is not SPOT]
    if "regions" not in batch:
        came = [one for one in MARKET if one.purchase_option is not SPOT]
    else:
        came += [o for o in MARKET if o.region == "region-00" and o.purchase_option is SPOT]
    result = read_again(published, came, absences, **batch)
    assert (set(result.offers), result.absences, result.absent) == (set(published), absences, ())


def test_half_a_list_is_published_and_the_other_half_is_marked():
    result = read_again(MARKET, MARKET[::2])
    assert {replace(one, absent_since=None) for one in result.offers} == set(MARKET)
    assert result.taken == len(MARKET) // 2
    assert "and 31 more parts" in result.absent[0]


def test_what_the_list_of_what_is_sold_where_lacks_is_no_longer_sold_unless_it_lost_too_much():
    def unsold(share):
        return [replace(o, sold_now=n % share > 0) for n, o in enumerate(MARKET)]

    few = read_again(MARKET, unsold(10))
    assert sum(not one.sold_now for one in few.offers) == 22
    many = read_again(MARKET, unsold(2))
    assert all(one.sold_now for one in many.offers)
    assert many.absent[0].startswith("not in the list of 2026-09-02: ")


@pytest.mark.parametrize("price", ["NaN", "1e400", "-1"])
def test_a_row_that_cannot_be_right_leaves_what_is_published(price):
    """Three such lists once ended 178 sound prices as missing."""
    state, bad = MARKET, replace(MARKET[0], price_per_hour=Decimal(price))
    for _ in range(4):
        result = read_again(state, (bad, *MARKET[1:]))
        state = result.offers
    kept = next(one for one in state if one.id == bad.id)
    assert (kept.price_per_hour, kept.absent_since) == (MARKET[0].price_per_hour, None)
    assert kept.sold_now
    assert "cannot be right" in result.absent[0]


def test_a_price_of_0_counts_as_absent_and_one_that_contradicts_another_is_gone():
    zero = replace(MARKET[0], price_per_hour=Decimal(0))
    kept = next(o for o in read_again(MARKET, (zero, *MARKET[1:])).offers if o.id == zero.id)
    assert (kept.price_per_hour, kept.absent_since) == (MARKET[0].price_per_hour, NEXT)
    spot = next(one for one in MARKET if one.purchase_option is SPOT)
    dear = [replace(o, price_per_hour=Decimal(200)) if o is spot else o for o in MARKET]
    assert spot.id not in {one.id for one in read_again(MARKET, dear).offers}


def test_a_machine_no_longer_sold_stays_as_it_was():
    old = replace(MARKET[0], region="old", sold_now=False, accelerator=A100)
    assert old in read_again((*MARKET, old), MARKET).offers


def test_zones_of_a_list_take_the_place_of_a_price_without_one():
    spot = offer("10", purchase_option=SPOT)
    zones = [replace(spot, zone=f"us-east-1{z}") for z in "ab"]
    assert set(read_again((spot,), zones).offers) == set(zones)
