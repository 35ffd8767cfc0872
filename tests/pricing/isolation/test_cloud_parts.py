"""An optional part of Azure or Google Cloud fails: everything else comes, and is the truth."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from pricing.ingest.provider import ProviderUnavailable
from pricing.providers.azure import management
from pricing.providers.azure import provider as azure
from pricing.providers.gcp import client
from pricing.providers.gcp import provider as gcp
from tests.pricing.isolation.after_publication import kept_after
from tests.pricing.providers import azure_tools, gcp_tools
from tests.pricing.servers import azure_truth, gcp_truth
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import FakeServer, Fault, Request
from tests.pricing.servers.gcp import GcpServer
from tests.pricing.servers.gcp_skus import CLOUD_TPU

LONG = os.environ.get("FAULTS") == "1"
WAYS: dict[str, Callable[[], Fault]] = {
    "throttled, asked to wait": lambda: Fault.burst(None, retry_after="7"),
    "throttled": lambda: Fault.error(None, status=429),
    "500": lambda: Fault.error(None),
    "502": lambda: Fault.error(None, status=502),
    "503": lambda: Fault.error(None, status=503),
    "504": lambda: Fault.error(None, status=504),
    "400": lambda: Fault.error(None, status=400),
    "401": lambda: Fault.error(None, status=401),
    "403": lambda: Fault.error(None, status=403),
    "404": lambda: Fault.error(None, status=404),
    "401 half-way": lambda: Fault.error(None, status=401, after=1),
    "500 half-way": lambda: Fault.error(None, after=1),
    "time-out": lambda: Fault.time_out(1.0, times=None),
    "cut early": lambda: Fault.truncated(keep=0.1),
    "cut": lambda: Fault.truncated(keep=0.6),
    "cut late": lambda: Fault.truncated(keep=0.97),
    "lost at once": lambda: Fault.lost(at=0.0),
    "lost half-way": lambda: Fault.lost(at=0.5),
    "empty body": lambda: Fault(rewrite=lambda _body: b""),
    "a web page": lambda: Fault(rewrite=lambda _body: b"<html><body>Health</body></html>"),
    "a list": lambda: Fault(rewrite=lambda _body: b"[1, 2]"),
    "no text": lambda: Fault(rewrite=lambda _body: bytes(range(256))),
}


PARTS: dict[str, tuple[str, Callable[[Request], bool]]] = {
    "resource skus": ("azure", lambda r: r.path.endswith("/skus")),
    "machine types": ("gcp", lambda r: r.path.endswith("/machineTypes")),
    "accelerator types": ("gcp", lambda r: r.path.endswith("/acceleratorTypes")),
    "cloud tpu": ("gcp", lambda r: CLOUD_TPU in r.path),
}
SHORT = (
    ("throttled", "resource skus"),
    ("500 half-way", "machine types"),
    ("time-out", "accelerator types"),
    ("cut", "cloud tpu"),
    ("lost half-way", "machine types"),
    ("a web page", "resource skus"),
    ("403", "cloud tpu"),
)
"""Each kind of fault once and each part; every way with every part is the long form."""
CASES = tuple((way, part) for way in WAYS for part in PARTS) if LONG else SHORT


def kept(cloud: str, server: FakeServer) -> set[str]:
    if isinstance(server, AzureServer):
        rows = azure.fetch(azure_tools.context(server.settings_with_subscription))
        return kept_after(rows, azure_truth.truth(), azure_tools.bare)[0]
    assert isinstance(server, GcpServer)
    rows = gcp.fetch(gcp_tools.context(server.settings_with_project))
    return kept_after(rows, gcp_truth.truth(), gcp_tools.bare)[0]


@pytest.mark.one_in(3)
@pytest.mark.faults
@pytest.mark.parametrize(("way", "part"), CASES)
def test_a_part_that_fails_keeps_its_rows_and_the_rest_is_the_truth(
    monkeypatch: pytest.MonkeyPatch, way: str, part: str
) -> None:
    monkeypatch.setattr(client, "CALL_TIMEOUT_S", 0.4)
    monkeypatch.setattr(management, "CALL_TIMEOUT_S", 0.4)
    cloud, matches = PARTS[part]
    fault = WAYS[way]()
    fault.matches = matches
    with AzureServer() if cloud == "azure" else GcpServer() as server:
        server.faults.append(fault)
        found = kept(cloud, server)
    assert fault.seen
    if part == "cloud tpu" and fault.seen > fault.after:
        slices = client.slices_of_cloud_tpu()
        assert found
        assert all(key.split(":")[2] in slices for key in found)


SEEDS = range(100 if LONG else 2)
MAKERS: tuple[Callable[..., Fault], ...] = (
    lambda times, after, _cut: Fault.burst(times, after=after),
    lambda times, after, _cut: Fault.error(times, after=after),
    lambda times, after, cut: Fault.truncated(times, keep=cut, after=after),
    lambda times, after, cut: Fault.lost(times, at=cut, after=after),
    lambda times, after, _cut: Fault(times=times, after=after, rewrite=lambda _body: b"<html>"),
)


@pytest.mark.one_in(4)
@pytest.mark.faults
@pytest.mark.parametrize("cloud", ["azure", "gcp"])
@pytest.mark.parametrize("seed", SEEDS)
def test_faults_at_random_lose_nothing_in_silence(cloud: str, seed: int) -> None:
    chance = random.Random(seed)
    with AzureServer() if cloud == "azure" else GcpServer() as server:
        for _ in range(chance.randint(1, 4)):
            maker = chance.choice(MAKERS)
            server.faults.append(
                maker(chance.randint(1, 9), chance.randint(0, 16), chance.random())
            )
        try:
            kept(cloud, server)
        except ProviderUnavailable as error:
            assert error.hint  # noqa: PT017 - either outcome is right
