import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from django.utils import timezone

from pricing.ingest.provider import SkippedRow
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.offers import PurchaseOption
from pricing.market.snapshot import Region
from pricing.models import RefreshRun
from pricing.publish import history, publication
from pricing.publish.batch import OfferBatch
from pricing.storage import reference
from tests.pricing.make import A100, H100, T4, offer

pytestmark = pytest.mark.django_db

DAY = dt.date(2026, 9, 1)
TODAY = dt.date(2026, 11, 20)
FIELDS = {
    *("id", "provider", "region", "zone", "instance_type", "accelerator", "accelerator_count"),
    *("accelerator_memory_gib", "vcpus", "memory_gib", "purchase_option", "term_months"),
    *(
        "payment_option",
        "usd_per_hour",
        "recurring_usd_per_hour",
        "usd_per_accelerator_hour",
        "upfront_usd",
        "currency",
    ),
    *("native_price", "sku", "sold_now", "absent_since", "as_of", "source", "revision"),
}
OFFERS = (
    offer("55.04", vcpus=192.0, memory_gib=2048.0, sku="ABC"),
    offer("20.48", instance_type="p4de.24xlarge", accelerator=A100),
    offer("16.40", purchase_option=PurchaseOption.SPOT, zone="us-east-1a"),
    offer("0.526", 1, instance_type="g4dn.xlarge", accelerator=T4, region="eu-west-1"),
    offer("0.1", 1, instance_type="old", accelerator=T4, region="eu-west-1", sold_now=False),
)


@pytest.fixture(autouse=True)
def market():
    reference.replace_regions(
        {
            ("aws", "us-east-1"): Region("north-america", "US", "Ashburn", 38.9, -77.4, 380.0, "x"),
            ("aws", "eu-west-1"): Region("europe", "IE", "Dublin"),
        }
    )
    reference.replace_exchange_rates(
        [
            ExchangeRate("CNY", dt.date(2026, 8, 1), Decimal("7.2"), "fed"),
            ExchangeRate("CNY", dt.date(2026, 9, 1), Decimal(8), "fed"),
        ]
    )
    publish(*OFFERS)


def publish(*offers, provider="aws", as_of=DAY, **more):
    batch = OfferBatch(provider, offers, as_of, **more)
    return publication.publish(batch, force=True, today=TODAY)


@pytest.fixture
def get(client):
    def ask(path: str, status: int = 200, **headers):
        response = client.get(f"/api/v1/{path}", headers=headers)
        assert response.status_code == status, response.content
        return response.json() if response.content else response

    return ask


def types(answer) -> list[str]:
    return [row["instance_type"] for row in answer["results"]]


def test_an_offer_has_exactly_the_fields_of_the_contract(get):
    answer = get("offers/?instance_type=p5.48xlarge&purchase_option=on_demand")
    (row,) = answer["results"]
    assert set(row) == FIELDS
    assert row == {
        "id": "aws:us-east-1:p5.48xlarge:on_demand",
        "provider": "aws",
        "region": "us-east-1",
        "zone": "",
        "instance_type": "p5.48xlarge",
        "accelerator": H100,
        "accelerator_count": 8.0,
        "accelerator_memory_gib": 80.0,
        "vcpus": 192.0,
        "memory_gib": 2048.0,
        "purchase_option": "on_demand",
        "term_months": 0,
        "payment_option": "",
        "usd_per_hour": "55.04",
        "recurring_usd_per_hour": "55.04",
        "usd_per_accelerator_hour": "6.88",
        "upfront_usd": "0",
        "currency": "USD",
        "native_price": "55.04",
        "sku": "ABC",
        "sold_now": True,
        "absent_since": None,
        "as_of": "2026-09-01",
        "source": "test",
        "revision": 1,
    }


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["old", "g4dn.xlarge", "p5.48xlarge", "p4de.24xlarge", "p5.48xlarge"]),
        ("sold_now=true&region=eu-west-1", ["g4dn.xlarge"]),
        ("sold_now=false", ["old"]),
        ("accelerator=nvidia-t4&sold_now=true", ["g4dn.xlarge"]),
        ("accelerator=T4,A100-80GB-SXM&sold_now=true", ["g4dn.xlarge", "p4de.24xlarge"]),
        ("accelerator=T4&accelerator=a100-80gb-sxm&sold_now=true",
         ["g4dn.xlarge", "p4de.24xlarge"]),
        ("geography=europe", ["old", "g4dn.xlarge"]),
        ("purchase_option=spot", ["p5.48xlarge"]),
        ("min_accelerators=8&purchase_option=on_demand", ["p4de.24xlarge", "p5.48xlarge"]),
        ("accelerator_count=1&sold_now=true", ["g4dn.xlarge"]),
        ("min_accelerator_memory_gib=40&purchase_option=on_demand",
         ["p4de.24xlarge", "p5.48xlarge"]),
        ("provider=aws&instance_type=p4de.24xlarge", ["p4de.24xlarge"]),
    ],
)  # fmt: skip
def test_each_filter_limits_the_offers_and_the_cheapest_comes_first(get, query, expected):
    assert types(get(f"offers/?{query}")) == expected


def test_a_fraction_of_an_accelerator_is_found_by_its_count(get):
    publish(*OFFERS, offer("0.1", Fraction(1, 6), instance_type="sixth", accelerator=T4))
    assert types(get("offers/?accelerator_count=0.1667")) == ["sixth"]


def test_trap_7_a_price_in_another_currency_keeps_its_own_beside_the_converted_one(get):
    publish(offer("64", provider="azure", currency="CNY"), provider="azure")
    (row,) = get("offers/?provider=azure")["results"]
    assert (row["currency"], row["native_price"]) == ("CNY", "64")
    assert (row["usd_per_hour"], row["usd_per_accelerator_hour"]) == ("8", "1")


def test_an_upfront_payment_is_given_apart_and_spread_in_the_accelerator_hour(get):
    reserved = offer(
        "0",
        purchase_option=PurchaseOption.RESERVED,
        term_months=12,
        payment_option="all_upfront",
        upfront=Decimal(87600),
    )
    publish(*OFFERS, reserved)
    (row,) = get("offers/?purchase_option=reserved")["results"]
    assert (row["recurring_usd_per_hour"], row["upfront_usd"]) == ("0", "87600")
    assert row["usd_per_hour"] == "10"
    assert row["usd_per_accelerator_hour"] == "1.25"


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ("colour=red", "colour", "unknown field; allowed are accelerator, "),
        ("provider=azur", "provider", "'azur' is not in the catalog"),
        ("region=us-east-9", "region", "did you mean us-east-1"),
        ("geography=atlantis", "geography", "it holds europe, north-america"),
        ("accelerator=H999", "accelerator", "'H999' is not a known accelerator"),
        ("purchase_option=gift", "purchase_option", "allowed are on_demand, spot"),
        ("instance_type=p5.48xlarg", "instance_type", "did you mean p5.48xlarge"),
        ("min_accelerators=many", "min_accelerators", "'many' is not a number"),
        ("min_accelerators=nan", "min_accelerators", "'nan' is not a number"),
        ("sold_now=perhaps", "sold_now", "allowed are true, false"),
        ("as_of=yesterday", "as_of", "'yesterday' is not a date"),
        ("as_of=1999-01-01", "as_of", "the first known day is 2026-09-01"),
        (
            "as_of=2999-12-31",
            "as_of",
            "2999-12-31 is in the future, of which nothing is known; the",
        ),
        ("ordering=colour", "ordering", "allowed are usd_per_accelerator_hour, usd_per_hour"),
        ("page_size=0", "page_size", "is not 1 to 500"),
        ("cursor=nonsense", "cursor", "is not one of ours"),
        ("region=", "region", "is empty"),
        ("region=%00", "region", "holds a NUL"),
    ],
)
def test_a_bad_query_is_refused_naming_field_value_and_what_is_allowed(get, query, field, said):
    problem = get(f"offers/?{query}", status=400)
    assert problem["status"] == 400
    assert problem["errors"][0]["field"] == field
    assert said in problem["errors"][0]["message"]


def test_pages_follow_each_other_without_gap_or_repeat(get):
    whole = [row["id"] for row in get("offers/")["results"]]
    seen, path = [], "offers/?page_size=2"
    while path:
        answer = get(path)
        seen += [row["id"] for row in answer["results"]]
        path = answer["next"] and answer["next"].split("/api/v1/")[1]
    assert seen == whole
    assert answer["count"] == 5


def test_pages_fit_together_while_another_revision_is_published(get):
    whole = [row["id"] for row in get("offers/")["results"]]
    first = get("offers/?page_size=3")
    publish(*(replace(o, price_per_hour=100 - o.price_per_hour) for o in OFFERS))
    second = get(first["next"].split("/api/v1/")[1])
    assert [r["id"] for r in (*first["results"], *second["results"])] == whole
    assert {row["revision"] for row in second["results"]} == {1}


def test_a_cursor_of_other_filters_is_refused(get):
    cursor = get("offers/?page_size=2")["next"].split("cursor=")[1].split("&")[0]
    problem = get(f"offers/?page_size=2&sold_now=true&cursor={cursor}", status=400)
    assert "belongs to other filters" in problem["errors"][0]["message"]


@pytest.mark.parametrize(
    ("path", "field"), [("offers", "as_of"), ("coverage", "as_of"), ("exchange-rates", "on")]
)
def test_a_day_to_come_is_refused_and_the_latest_named(get, path, field):
    today = timezone.now().date()
    get(f"{path}/?{field}={today}")
    problem = get(f"{path}/?{field}={today + dt.timedelta(days=1)}", status=400)
    assert problem["errors"][0]["field"] == field
    assert f"the latest day is {today}, today in UTC" in problem["errors"][0]["message"]


def test_an_answer_that_is_still_current_is_not_sent_again(client):
    first = client.get("/api/v1/offers/")
    again = client.get("/api/v1/offers/", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    publish(*OFFERS[:4])
    changed = client.get("/api/v1/offers/", headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


def test_a_page_of_offers_costs_one_query_once_the_catalog_is_known(
    client, django_assert_num_queries
):
    client.get("/api/v1/offers/")
    with django_assert_num_queries(1):
        client.get("/api/v1/offers/?sold_now=true")


def test_price_history_shows_each_change_with_its_date(get):
    history.replace_past_prices("aws", [replace(OFFERS[0], price_per_hour=Decimal("98.32"),
                                   as_of=dt.date(2024, 1, 1), source="old list")])  # fmt: skip
    answer = get(f"price-history/?offer_id={OFFERS[0].id}")
    assert [(r["date"], r["price_per_hour"], r["revision"]) for r in answer["results"]] == [
        ("2024-01-01", "98.32", None),
        ("2026-09-01", "55.04", 1),
    ]
    assert answer["results"][0]["source"] == "old list"


def test_the_history_of_an_unknown_offer_is_not_found(get):
    get("price-history/?offer_id=aws:x:y:on_demand", status=404)


def test_a_history_without_an_offer_is_refused(get):
    assert get("price-history/", status=400)["errors"][0]["field"] == "offer_id"


def test_accelerators_carry_their_datasheet(get):
    rows = {row["slug"]: row for row in get("accelerators/")["results"]}
    assert rows[H100]["memory_gib"] == 80.0
    assert get("accelerators/?vendor=Google")["results"][0]["vendor"] == "Google"


def test_an_accelerator_that_is_not_known_is_refused_with_the_closest(get):
    problem = get("accelerators/H999/", status=400)
    assert "is not a known accelerator" in problem["errors"][0]["message"]


def test_revisions_tell_what_changed_and_what_was_not_understood(get):
    publish(*OFFERS[1:], skipped=(SkippedRow("unknown accelerator", "X9"),))
    newest, oldest = get("revisions/?provider=aws")["results"]
    assert (newest["number"], newest["gone"], oldest["added"]) == (2, 1, 5)
    assert newest["skipped"] == {"unknown accelerator": {"count": 1, "examples": {"X9": 1}}}
    assert get("revisions/aws/1/")["digest"] == oldest["digest"]
    get("revisions/aws/9/", status=404)


def test_refresh_runs_can_be_filtered_by_outcome(get):
    RefreshRun.objects.create(provider="aws", outcome="failed", message="no network")
    RefreshRun.objects.create(provider="gcp", outcome="published")
    (row,) = get("refresh-runs/?outcome=failed")["results"]
    assert (row["provider"], row["message"], row["revision"]) == ("aws", "no network", None)
    assert get("refresh-runs/?outcome=odd", status=400)["errors"][0]["field"] == "outcome"


def test_freshness_has_every_provider_with_its_age_and_level(get):
    rows = {row["provider"]: row for row in get("freshness/")["results"]}
    assert rows["aws"]["offers"] == 5
    assert rows["gcp"]["level"] == "red"
    assert rows["gcp"]["revision"] is None


def test_coverage_tells_missing_prices_from_what_is_not_sold(get):
    rows = get("coverage/?provider=aws&accelerator=H100-80GB-SXM")["results"]
    states = {row["purchase_option"]: row["state"] for row in rows}
    assert (states["on_demand"], states["savings_plan"]) == ("priced", "sold_price_unknown")
    (row,) = get("coverage/?provider=aws&accelerator=H100-80GB-SXM&purchase_option=committed_use")[
        "results"
    ]
    assert (row["state"], row["count"], row["oldest"]) == ("not_sold", 0, None)
    assert get("coverage/?ordering=price", status=400)["errors"][0]["field"] == "ordering"
