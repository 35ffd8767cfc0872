"""Sentry and OpenTelemetry: only where a setting asks, and nothing typed leaves the server."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from planner.services.observability import logs as reports


@pytest.mark.parametrize("setting", ["SENTRY_DSN", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_a_missing_package_is_named_with_its_remedy(
    settings: Any, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    setattr(settings, setting, "https://key@example.com/1")
    monkeypatch.setattr(reports, "find_spec", lambda _name: None)
    with pytest.raises(ImproperlyConfigured, match=rf"{setting} .*gpu-cost-planner\[telemetry\]"):
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


@pytest.mark.django_db
def test_a_request_becomes_a_span_without_its_address(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opentelemetry.instrumentation.django")
    exporters = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    from opentelemetry import trace
    from opentelemetry.instrumentation.django import DjangoInstrumentor
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:9"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.1")
    spans = exporters.InMemorySpanExporter()
    reports.start_traces()
    try:
        trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(spans))  # type: ignore[attr-defined]
        Client().get("/join/inv_secret/?plan=private")
    finally:
        DjangoInstrumentor().uninstrument()
        trace.get_tracer_provider().shutdown()  # type: ignore[attr-defined]
    (span,) = spans.get_finished_spans()
    assert span.attributes["http.url"] == "/join/<str:secret>/"
    assert not re.search("inv_secret|private", span.to_json())
