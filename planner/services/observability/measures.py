"""What each process counts while it works, for Prometheus."""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client import Counter, Histogram

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
NOTICES = Counter(
    "planner_price_notices_total",
    "Notices on prices to operators, by way and outcome",
    ("way", "outcome"),
)
