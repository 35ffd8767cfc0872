"""`refresh_prices azure gcp` against both clouds on loopback, up to what is published."""

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import call_command

from pricing.market.offers import Offer
from pricing.storage import store
from tests.pricing.servers import azure_truth, gcp_truth
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import Fault
from tests.pricing.servers.gcp import GcpServer

pytestmark = pytest.mark.django_db

KEY = "AIzaVerySecretKeyOfOurs"
NOT_STATED = {
    "source": "", "sku": "", "network_gbps": None, "as_of": None, "vcpus": None, "memory_gib": None,
}  # fmt: skip
TRUTH = {"azure": azure_truth.truth(), "gcp": gcp_truth.truth()}


@pytest.fixture
def azure() -> Iterator[AzureServer]:
    with AzureServer() as running:
        yield running


@pytest.fixture
def gcp() -> Iterator[GcpServer]:
    with GcpServer() as running:
        yield running


@pytest.fixture(autouse=True)
def settings_of_both(azure: AzureServer, gcp: GcpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands read the servers' settings, and do not wait before they ask again."""
    monkeypatch.setattr("pricing.ingest.http.wait_s", lambda _state: 0.0)
    values = azure.settings_with_subscription | gcp.settings_with_project | {"GCP_API_KEY": KEY}
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def refresh(*arguments: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("refresh_prices", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as end:
        return out.getvalue(), int(end.code or 0)
    return out.getvalue(), 0


def published(provider: str) -> dict[str, Offer]:
    revision = store.latest(provider)
    offers = [] if revision is None else store.read_offers(revision)
    return {offer.id: replace(offer, **NOT_STATED) for offer in offers}


def stated(offers: dict[str, Offer]) -> dict[str, Offer]:
    return {key: replace(offer, **NOT_STATED) for key, offer in offers.items()}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("provider", TRUTH)
def test_the_published_catalog_equals_the_known_truth(provider: str) -> None:
    text, status = refresh("azure", "gcp")
    assert status == 0, text
    assert published(provider) == stated(TRUTH[provider])


def test_rows_not_understood_are_told_by_reason_and_count() -> None:
    text, _ = refresh("azure", "gcp")
    assert "left out on purpose: Windows: 3 rows" in text
    assert "not understood: unknown accelerator: 1 row" in text
    assert "Nvidia Z999 512GB GPU" in text
    assert KEY not in text


def test_trap_10_one_clouds_failure_leaves_the_other_and_its_own_last_prices(
    gcp: GcpServer,
) -> None:
    refresh("azure", "gcp")
    before = store.latest("gcp")
    gcp.faults.append(Fault.error(None, status=403))
    text, status = refresh("azure", "gcp")
    assert status == 1
    assert "azure: published revision 2" in text
    assert "gcp: failed" in text
    assert store.latest("gcp") == before
    assert published("gcp") == stated(TRUTH["gcp"])
