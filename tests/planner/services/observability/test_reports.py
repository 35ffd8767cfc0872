"""Sentry: only where a setting asks, and nothing typed leaves the server."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from planner.services.observability import logs as reports


def test_a_missing_package_is_named_with_its_remedy(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SENTRY_DSN = "https://key@example.com/1"
    monkeypatch.setattr(reports, "find_spec", lambda _name: None)
    with pytest.raises(ImproperlyConfigured, match=r"SENTRY_DSN .*gpu-cost-planner\[telemetry\]"):
        reports.start_reports()


def test_an_event_names_the_route_and_holds_nothing_typed() -> None:
    event = {
        "request": {
            "url": "https://planner.example.com/join/inv_secret/?plan=private",
            "query_string": "plan=private",
            "headers": {"Authorization": "Bearer gcp_secret"},
            "cookies": {"sessionid": "secret"},
        }
    }
    assert reports.hide_typed_text(event) == {
        "request": {"url": "https://planner.example.com/join/<str:secret>/"}
    }
    assert reports.hide_typed_text({"message": "in a job"}) == {"message": "in a job"}


def test_sentry_gets_an_error_without_what_was_typed(settings: Any) -> None:
    sentry_sdk = pytest.importorskip("sentry_sdk")
    settings.SENTRY_DSN = "https://key@sentry.invalid/1"
    events: list[Any] = []

    class Transport(sentry_sdk.transport.Transport):  # type: ignore[misc, name-defined]
        def capture_envelope(self, envelope: Any) -> None:
            events.extend(filter(None, (item.get_event() for item in envelope.items)))

    reports.start_sentry(transport=Transport)
    try:
        private = " ".join(("4,711", "EUR"))
        try:
            raise ValueError(f"bad {len(private)}")
        except ValueError as error:
            sentry_sdk.capture_exception(error)
        sentry_sdk.flush()
    finally:
        sentry_sdk.init()
    assert events[0]["exception"]["values"][0]["value"] == "bad 9"
    assert private not in str(events)
