"""Exchange rates, regions and conditional reads."""

import pytest

from tests.pricing.api.test_views import get, market  # noqa: F401 (fixtures)

pytestmark = pytest.mark.django_db


def test_exchange_rates_are_dated_and_sourced(get):  # noqa: F811
    rows = get("exchange-rates/?currency=CNY")["results"]
    assert [row["units_per_usd"] for row in rows] == ["7.2", "8"]
    (row,) = get("exchange-rates/?currency=CNY&on=2026-08-20")["results"]
    assert (row["units_per_usd"], row["date"], row["source"]) == ("7.2", "2026-08-01", "fed")
    problem = get("exchange-rates/?currency=XXX", status=400)
    assert "no exchange rate for 'XXX'" in problem["errors"][0]["message"]


def test_regions_say_where_they_are_and_how_clean(get):  # noqa: F811
    (row,) = get("regions/?geography=north-america")["results"]
    assert (row["region"], row["city"], row["g_co2e_per_kwh"]) == ("us-east-1", "Ashburn", 380.0)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "path",
    [
        "accelerators",
        "freshness",
        "catalog",
        "coverage",
        "exchange-rates",
        "regions",
        "revisions/aws/1",
    ],
)
def test_every_read_can_be_conditional(client, path):
    first = client.get(f"/api/v1/{path}/")
    again = client.get(f"/api/v1/{path}/", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
