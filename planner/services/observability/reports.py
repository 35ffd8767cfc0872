"""Traces to an OpenTelemetry collector and errors to Sentry, each where its setting names one.

Both come with the extra `telemetry`; nothing of either is imported without its setting.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest

from planner.services.observability.routes import name_route

SERVICE = "gpu-cost-planner"
_ADDRESSES = {"http.url", "http.target", "url.full", "url.path", "url.query"}
"""Attributes of OpenTelemetry's conventions, former and present, that hold what was typed."""


def start_reports() -> None:
    """Called once by each process that serves requests or jobs."""
    if settings.SENTRY_DSN:
        _require("sentry_sdk", "SENTRY_DSN")
        start_sentry()
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        _require("opentelemetry.instrumentation.django", "OTEL_EXPORTER_OTLP_ENDPOINT")
        start_traces()


def _require(module: str, setting: str) -> None:
    try:
        is_here = find_spec(module) is not None
    except ModuleNotFoundError:
        is_here = False
    if not is_here:
        raise ImproperlyConfigured(
            f"{setting} is set, but {module} is not installed; install it with "
            "pip install 'gpu-cost-planner[telemetry]', or unset it."
        )


def start_sentry(**options: Any) -> None:
    """Errors, without who asked and without what was typed."""
    import sentry_sdk

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        include_local_variables=False,
        max_breadcrumbs=0,
        max_request_body_size="never",
        before_send=hide_typed_text,
        **options,
    )


def hide_typed_text(event: Any, _hint: object = None) -> Any:
    """The event with the route in place of its address, whose path may hold an invitation's
    secret and whose query a whole plan."""
    request = event.get("request")
    if request:
        parts = urlsplit(request.get("url", ""))
        request["url"] = urlunsplit((parts.scheme, parts.netloc, name_route(parts.path), "", ""))
        for name in ("query_string", "data", "cookies", "headers", "env"):
            request.pop(name, None)
    return event


def start_traces() -> None:
    """A span for each request, sent in batches; the endpoint, headers and sampling are read from
    OpenTelemetry's own variables."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.django import DjangoInstrumentor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    DjangoInstrumentor().instrument(request_hook=hide_address)


def hide_address(span: Any, request: HttpRequest) -> None:
    """The route in place of path and query on a request's span."""
    route = name_route(request.path)
    for name in _ADDRESSES & set(span.attributes or ()):
        span.set_attribute(name, "" if name == "url.query" else route)
