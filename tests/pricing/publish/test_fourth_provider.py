"""A fourth provider is one new file: no list, no migration, no edit anywhere else."""

import json
import re
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

import pricing.providers
from planner.contract.labels import cloud_title
from pricing import discovery
from pricing.freshness import freshness
from pricing.market.clouds import find_partition
from pricing.publish import refresh

pytestmark = pytest.mark.django_db

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "add-a-provider.md"


def adapter() -> str:
    """The file of the guide, under a name that nobody who follows the guide takes."""
    code = re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert code is not None
    return code[1].replace("stratus", "cirrus").replace("Stratus", "Cirrus")


@pytest.fixture
def cirrus(tmp_path, monkeypatch):
    (tmp_path / "cirrus.py").write_text(adapter())
    monkeypatch.setattr(pricing.providers, "__path__", [*pricing.providers.__path__, str(tmp_path)])
    yield
    sys.modules.pop("pricing.providers.cirrus", None)
    if hasattr(pricing.providers, "cirrus"):
        delattr(pricing.providers, "cirrus")


def test_the_command_knows_and_refreshes_it(cirrus):
    out = StringIO()
    call_command("refresh_prices", "cirrus", "--json", stdout=out)
    (told,) = json.loads(out.getvalue())["providers"]
    assert (told["provider"], told["outcome"], told["offers"]) == ("cirrus", "published", 1)


def test_freshness_shows_it_before_and_after_the_first_refresh(cirrus):
    before = next(entry for entry in freshness() if entry.provider == "cirrus")
    assert (before.title, before.revision, before.level) == ("Cirrus Cloud", None, "red")
    refresh.refresh(discovery.get_providers(["cirrus"]))
    after = next(entry for entry in freshness() if entry.provider == "cirrus")
    assert (after.revision, after.level, after.age_days, after.offers) == (1, "green", 0, 1)


def test_the_http_api_gives_its_offers_and_its_freshness(cirrus, client):
    refresh.refresh(discovery.get_providers(["cirrus"]))
    found = client.get("/api/v1/offers/", {"provider": "cirrus"}).json()
    assert [(o["region"], o["usd_per_hour"]) for o in found["results"]] == [("north-1", "22.4")]
    listed = client.get("/api/v1/freshness/").json()
    told = next(one for one in listed["results"] if one["provider"] == "cirrus")
    assert (told["title"], told["revision"], told["level"]) == ("Cirrus Cloud", 1, "green")


def test_the_pages_call_it_by_its_title_and_by_its_name_once_its_adapter_is_gone(cirrus, client):
    refresh.refresh(discovery.get_providers(["cirrus"]))
    addresses = ("/market/", "/market/changes/")
    for address in addresses:
        assert "Cirrus Cloud" in client.get(address).content.decode(), address
    pricing.providers.__path__.pop()
    for address in addresses:
        shown = client.get(address).content.decode()
        assert "Cirrus" in shown, address
        assert "Cirrus Cloud" not in shown, address


def test_a_file_that_cannot_be_loaded_fails_alone(tmp_path, monkeypatch, cirrus):
    (tmp_path / "cumulus.py").write_text("raise ImportError('no module named cumulus_sdk')")
    results = refresh.refresh(discovery.get_providers(["cumulus", "cirrus"]))
    outcomes = {r.provider: r for r in results}
    assert outcomes["cirrus"].outcome == "published"
    assert "its adapter cannot be loaded" in outcomes["cumulus"].message


def test_its_class_says_what_sentences_call_it_and_which_part_of_the_clouds_it_is(
    tmp_path, cirrus
) -> None:
    assert find_partition("cirrus", "north-1") == "other-clouds"
    market = adapter().replace('title = "Cirrus Cloud"', 'title = "Nimbus"').replace(
        'name = "cirrus"', 'name = "nimbus"\n    partitions = {"": "marketplaces"}'
    )  # fmt: skip
    (tmp_path / "nimbus").mkdir()
    (tmp_path / "nimbus" / "nimbus.py").write_text(market)
    pricing.providers.__path__.append(str(tmp_path / "nimbus"))
    assert find_partition("nimbus", "north-1") == "marketplaces"
    assert cloud_title("nimbus") == "Nimbus"
    assert "nimbus" in discovery.all_providers()
