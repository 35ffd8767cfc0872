"""A fourth provider is one new file: no list, no migration, no edit anywhere else."""

from __future__ import annotations

import json
import re
import sys
from io import StringIO

import pytest
from django.core.management import call_command

import pricing.providers
from pricing import catalog, discovery
from pricing.freshness import freshness
from pricing.publish import refresh

pytestmark = pytest.mark.django_db

ADAPTER = """
from decimal import Decimal
from fractions import Fraction

from pricing.market.offers import Offer, PurchaseOption


class Stratus:
    name = "stratus"
    title = "Stratus Cloud"

    def fetch(self, context):
        for place, price in (("north-1", "2.5"), ("south-1", "3.25")):
            yield Offer(
                provider="stratus", region=place, instance_type="h100.1x",
                accelerator="nvidia-h100-80gb-sxm", accelerator_count=Fraction(1),
                purchase_option=PurchaseOption.ON_DEMAND, price_per_hour=Decimal(price),
                source="stratus price list", as_of=context.retrieved_at.date(),
            )


provider = Stratus()
"""


@pytest.fixture
def stratus(tmp_path, monkeypatch):
    (tmp_path / "stratus.py").write_text(ADAPTER)
    monkeypatch.setattr(pricing.providers, "__path__", [*pricing.providers.__path__, str(tmp_path)])
    yield
    sys.modules.pop("pricing.providers.stratus", None)
    if hasattr(pricing.providers, "stratus"):
        delattr(pricing.providers, "stratus")


def test_it_is_discovered(stratus):
    assert discovery.all_providers()["stratus"].title == "Stratus Cloud"


def test_the_command_knows_and_refreshes_it(stratus):
    out = StringIO()
    call_command("refresh_prices", "stratus", "--json", stdout=out)
    (told,) = json.loads(out.getvalue())["providers"]
    assert (told["provider"], told["outcome"], told["offers"]) == ("stratus", "published", 2)


def test_freshness_shows_it_before_and_after_the_first_refresh(stratus):
    before = next(entry for entry in freshness() if entry.provider == "stratus")
    assert (before.title, before.revision, before.level) == ("Stratus Cloud", None, "red")
    refresh.refresh(discovery.get_providers(["stratus"]))
    after = next(entry for entry in freshness() if entry.provider == "stratus")
    assert (after.revision, after.level, after.age_days, after.offers) == (1, "green", 0, 2)


def test_its_offers_are_in_the_catalog(stratus):
    refresh.refresh(discovery.get_providers(["stratus"]))
    rows = catalog.current().offers.select(providers=["stratus"])
    assert [catalog.current().offers.offer(row).region for row in rows] == ["north-1", "south-1"]


def test_the_http_api_gives_its_offers_and_its_freshness(stratus, client):
    refresh.refresh(discovery.get_providers(["stratus"]))
    found = client.get("/api/v1/offers/", {"provider": "stratus"}).json()
    assert [(o["region"], o["usd_per_hour"]) for o in found["results"]] == [
        ("north-1", "2.5"),
        ("south-1", "3.25"),
    ]
    listed = client.get("/api/v1/freshness/").json()
    told = next(one for one in listed["results"] if one["provider"] == "stratus")
    assert (told["title"], told["revision"], told["level"]) == ("Stratus Cloud", 1, "green")


def test_the_pages_show_its_offers_and_its_age(stratus, client, admin_client):
    before = admin_client.get("/operator/").content.decode()
    assert "Stratus Cloud" in before
    refresh.refresh(discovery.get_providers(["stratus"]))
    market = client.get("/market/", {"provider": "stratus"}).content.decode()
    assert "h100.1x" in market
    assert re.search(r'market/changes/#stratus"\s+title="Stratus Cloud: on demand 0 days"', market)
    operator = admin_client.get("/operator/").content.decode()
    assert "Stratus Cloud" in operator
    assert 'id="stratus"' in client.get("/market/changes/").content.decode()


def test_the_pages_call_it_by_its_title_and_by_its_name_once_its_adapter_is_gone(stratus, client):
    refresh.refresh(discovery.get_providers(["stratus"]))
    addresses = ("/market/", "/market/changes/", "/hardware/")
    for address in addresses:
        assert "Stratus Cloud" in client.get(address).content.decode(), address
    pricing.providers.__path__.pop()
    for address in addresses:
        shown = client.get(address).content.decode()
        assert "Stratus" in shown, address
        assert "Stratus Cloud" not in shown, address


def test_a_file_that_cannot_be_loaded_fails_alone(tmp_path, monkeypatch, stratus):
    (tmp_path / "cumulus.py").write_text("raise ImportError('no module named cumulus_sdk')")
    results = refresh.refresh(discovery.get_providers(["cumulus", "stratus"]))
    outcomes = {r.provider: r for r in results}
    assert outcomes["stratus"].outcome == "published"
    assert "its adapter cannot be loaded" in outcomes["cumulus"].message
