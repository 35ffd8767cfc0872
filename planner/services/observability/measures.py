"""What each process counts while it works, for Prometheus."""

from __future__ import annotations

import datetime as dt
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Min
from django.utils import timezone
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
from pricing.freshness import freshness
from pricing.models import QuarantinedPrice, RefreshRun
from pricing.revisions import Freshness, list_unread, newest_revisions

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
    """Jobs and deliveries by state, the age of every part of the prices, refreshes."""

    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        rows = Job.objects.order_by().values_list("kind", "state").annotate(count=Count("pk"))
        yield _gauge("planner_jobs", "Jobs in the database", ("kind", "state"), rows)
        queued = Job.objects.filter(state=JobState.QUEUED)
        oldest = queued.aggregate(first=Min("created_at"))["first"]
        text = "How long the oldest waiting job has waited, 0 where none waits"
        yield _gauge("planner_oldest_queued_job_seconds", text, (), [(_seconds(oldest, now),)])
        yield from _measure_deliveries(now)
        rows = freshness(now.date())
        yield from _measure_prices(rows)
        counts = [(one.provider, len(list_unread(one))) for one in newest_revisions()]
        text = "Parts that the last published refresh left as they were"
        yield _gauge("planner_unread_price_parts", text, ("provider",), counts)
        published = RefreshRun.objects.filter(outcome=RefreshRun.Outcome.PUBLISHED).order_by()
        newest = published.values_list("provider").annotate(newest=Max("started_at"))
        ages = [(provider, _seconds(moment, now)) for provider, moment in newest]
        text = "Time since the last refresh that was published"
        yield _gauge("planner_price_refresh_age_seconds", text, ("provider",), ages)
        outcomes = [(row.provider, row.last_run, 1) for row in rows if row.last_run]
        text = "Outcome of the last refresh"
        yield _gauge("planner_price_refresh_outcome", text, ("provider", "outcome"), outcomes)


def _measure_deliveries(now: dt.datetime) -> Iterator[Metric]:
    deliveries = WebhookDelivery.objects.order_by()
    rows = deliveries.values_list("event", "state").annotate(count=Count("pk"))
    text = "Webhook deliveries in the database"
    yield _gauge("planner_webhook_deliveries", text, ("event", "state"), rows)
    pending = deliveries.filter(state=DeliveryState.PENDING)
    oldest = pending.aggregate(first=Min("created_at"))["first"]
    text = "Age of the oldest delivery that is still pending, 0 where none is"
    yield _gauge("planner_oldest_pending_delivery_seconds", text, (), [(_seconds(oldest, now),)])


def _measure_prices(rows: Sequence[Freshness]) -> Iterator[Metric]:
    """An age that nobody knows is absent, never 0."""
    parts = [(row.provider, part) for row in rows for part in row.parts]
    for name, field, text in (
        ("planner_price_median_age_days", "median_age_days", "Median age of prices sold now"),
        ("planner_price_oldest_age_days", "oldest_age_days", "Age of the oldest price sold now"),
        ("planner_price_count", "count", "Prices of a part that are sold now"),
    ):
        values = [(provider, part.part, getattr(part, field)) for provider, part in parts]
        known = [row for row in values if row[2] is not None]
        yield _gauge(name, text, ("provider", "part"), known)
    batches = [(row.provider, row.quarantined_batches) for row in rows]
    text = "Batches that wait for review"
    yield _gauge("planner_quarantined_batches", text, ("provider",), batches)
    waiting = QuarantinedPrice.objects.filter(state=QuarantinedPrice.State.WAITING).order_by()
    counts = dict(waiting.values_list("provider").annotate(Count("pk")))
    quarantined = [(row.provider, counts.get(row.provider, 0)) for row in rows]
    text = "Single prices that wait for review"
    yield _gauge("planner_quarantined_prices", text, ("provider",), quarantined)


def _seconds(since: dt.datetime | None, now: dt.datetime) -> float:
    return 0.0 if since is None else max((now - since).total_seconds(), 0.0)


def _gauge(
    name: str, text: str, labels: tuple[str, ...], rows: Iterable[tuple[Any, ...]]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=labels)
    for *values, figure in rows:
        family.add_metric([str(value) for value in values], float(figure))
    return family
