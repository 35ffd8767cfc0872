"""What an operator asks of a process: what it counts, for Prometheus, and whether it can serve.

The database and its migrations decide that. Without broker, cache or fresh prices pages are served
all the same, which only who asks strictly is told.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Max, Min, Q
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils import timezone
from health_check.base import HealthCheck
from health_check.checks import Cache, Database
from health_check.exceptions import ServiceUnavailable, ServiceWarning
from health_check.views import HealthCheckView
from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from planner.models import DeliveryState, Job, JobState, WebhookDelivery
from pricing.discovery import all_providers
from pricing.freshness import freshness
from pricing.models import QuarantinedPart, RefreshRun

if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    # Measures open their files in it as they are made.
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)

REQUEST_SECONDS = Histogram(
    "planner_request_seconds",
    "Time to answer a request, by method, route and status",
    ("method", "route", "status"),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
WORK_UNITS = Histogram(
    "planner_work_units",
    "Work of the solver and of simulations in one request or job, units (about microseconds)",
    ("origin",),
    buckets=(1e3, 1e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8),
)
WORK_LIMITED = Counter(
    "planner_work_limited_total",
    "Requests and jobs whose answer was cut short or refused for lack of work or memory",
    ("origin",),
)
JOB_SECONDS = Histogram(
    "planner_job_seconds",
    "Time that a job ran, by kind and how it ended",
    ("kind", "state"),
    buckets=(0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600),
)
DELIVERY_ATTEMPTS = Counter(
    "planner_webhook_attempts_total",
    "Attempts to deliver a webhook, by the state that they left the delivery in",
    ("state",),
)
logger = logging.getLogger(__name__)


def render_measures() -> bytes:
    """What the processes counted, and what the database knows."""
    database = CollectorRegistry(auto_describe=False)
    database.register(DatabaseMeasures())
    return generate_latest(_counted()) + generate_latest(database)


def serve_measures(port: int) -> None:
    """Serves what a worker counted on a port of its own, in a thread."""
    start_http_server(port, registry=_counted())
    logger.info("Measures are served on port %d.", port)


def _counted() -> CollectorRegistry:
    if not settings.PROMETHEUS_MULTIPROC_DIR:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


class DatabaseMeasures(Collector):
    """What waits or stands still: jobs, deliveries, refreshes, parts of the prices."""

    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        rows = Job.objects.order_by().values_list("kind", "state").annotate(count=Count("pk"))
        yield _gauge("planner_jobs", "Jobs in the database", ("kind", "state"), rows)
        for name, text, waiting in (
            (
                "planner_oldest_queued_job_seconds",
                "How long the oldest waiting job has waited, 0 where none waits",
                Job.objects.filter(state=JobState.QUEUED),
            ),
            (
                "planner_oldest_pending_delivery_seconds",
                "Age of the oldest delivery that is still pending, 0 where none is",
                WebhookDelivery.objects.filter(state=DeliveryState.PENDING),
            ),
        ):
            first = waiting.aggregate(first=Min("created_at"))["first"] or now
            yield _gauge(name, text, (), [((now - first).total_seconds(),)])
        published = RefreshRun.objects.exclude(
            ~Q(outcome=RefreshRun.Outcome.PUBLISHED), revision=None
        ).order_by()
        newest = published.values_list("provider").annotate(newest=Max("started_at"))
        ages = [(provider, (now - moment).total_seconds()) for provider, moment in newest]
        text = "Time since the last refresh that was published"
        yield _gauge("planner_price_refresh_age_seconds", text, ("provider",), ages)
        parts = QuarantinedPart.objects.filter(state=QuarantinedPart.State.WAITING).order_by()
        counts = parts.values_list("provider").annotate(count=Count("pk"))
        text = "Parts of the prices that wait for review; absent where none does"
        yield _gauge("planner_quarantined_parts", text, ("provider",), counts)


def _gauge(
    name: str, text: str, labels: tuple[str, ...], rows: Iterable[tuple[Any, ...]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=labels)
    for *values, figure in rows:
        family.add_metric([str(value) for value in values], float(figure))
    return family


# Readiness --------------------------------------------------------------------------------


def answer_readiness(request: HttpRequest) -> HttpResponse:
    """503 where nothing can be served; with `?strict=1` also where something is missing or old."""
    checks: list[type[HealthCheck]] = [Database, Migrations]
    if request.GET.get("strict") == "1":
        checks += [Prices] + [Broker] * bool(settings.CELERY_BROKER_URL)
        checks += [Cache] * bool(settings.CACHE_URL)
    request.GET = QueryDict("format=json")  # whatever the caller accepts
    response: HttpResponse = async_to_sync(_Readiness.as_view(checks=checks))(request)
    return response


class _Readiness(HealthCheckView):  # type: ignore[misc]
    """The state of each check, as JSON to whoever asks. The text of a failure names hosts and
    accounts: the log has it."""

    def render_to_response_json(self, status: int) -> HttpResponse:
        states = {type(one.check).__name__.lower(): _describe(one.error) for one in self.results}
        return JsonResponse(states, status=503 if status >= 500 else status)


def _describe(error: Exception | None) -> str:
    if error is None:
        return "ok"
    return "failed; see the server log" if error.__cause__ else str(error)


class _Look(HealthCheck):  # type: ignore[misc]
    """A check of ours, in the thread of the request, which is connected to the database."""

    async def run(self) -> None:
        await sync_to_async(self.look)()

    def look(self) -> None:
        raise NotImplementedError


class Migrations(_Look):
    def look(self) -> None:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if missing:
            raise ServiceUnavailable(f"{len(missing)} not applied; run `manage.py migrate`")


class Prices(_Look):
    """An empty market, or one with a part that is red. What came with the program and no adapter
    reads grows old whatever an operator does."""

    def look(self) -> None:
        rows = [row for row in freshness(timezone.now().date()) if row.revision is not None]
        if not rows:
            raise ServiceUnavailable("no prices are loaded; run `manage.py load_catalog`")
        old = [
            f"{row.provider} {part.part}"
            for row in rows
            if row.provider in all_providers()
            for part in row.parts
            if getattr(part, "level", "") == "red"
        ]
        if old:
            raise ServiceWarning(f"old: {', '.join(old)}")


class Broker(_Look):
    def look(self) -> None:
        from kombu.connection import Connection

        with Connection(settings.CELERY_BROKER_URL, connect_timeout=2) as broker:  # type: ignore[no-untyped-call]
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=2)
