"""What a run is told whose time limit leaves no room for another try."""

from __future__ import annotations

import datetime as dt
import time

import pytest

from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import FetchContext, ProviderUnavailable

NOW = dt.datetime(2026, 9, 10, 12, tzinfo=dt.UTC)
KEY = "AIzaVerySecretKey"


def test_a_network_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that cannot be reached is no slow network."""
    monkeypatch.setattr("pricing.ingest.http.wait_s", lambda state: 20.0)
    context = FetchContext({"GCP_API_KEY": KEY}, NOW, deadline=time.monotonic() + 10)
    with (
        ProviderHttpClient("gcp", context) as http,
        pytest.raises(ProviderUnavailable, match=r"ConnectError .*; the next try would") as caught,
    ):
        http.get_json("a.json", f"http://127.0.0.1:9/x?key={KEY}")
    assert "check the network" in str(caught.value)
    assert KEY not in str(caught.value)
