"""The Celery app, used where CELERY_BROKER_URL is set: `celery -A planner.celery worker`."""

from __future__ import annotations

import os
from logging.config import dictConfig
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import setup_logging, worker_process_init, worker_ready
from django.conf import settings

from planner.allocator import map_large_blocks

map_large_blocks()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")

app = Celery("planner", include=["planner.tasks"])
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL or None,
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    timezone="UTC",
    beat_schedule={
        "webhooks": {"task": "planner.tasks.deliver_webhooks", "schedule": 60.0},
        **{
            name: {"task": f"planner.tasks.{task}", "schedule": crontab.from_string(when)}
            for name, task, when in (
                ("prices", "refresh_prices", settings.PRICE_REFRESH_SCHEDULE),
                ("housekeeping", "housekeeping", settings.HOUSEKEEPING_SCHEDULE),
            )
            if when
        },
    },
)


@setup_logging.connect  # type: ignore[untyped-decorator]
def configure_logging(**_: Any) -> None:
    """Level and form are those of the settings, in workers and in the timer."""
    dictConfig(settings.LOGGING)


@worker_ready.connect  # type: ignore[untyped-decorator]
def serve_what_is_counted(**_: Any) -> None:
    """The worker's own measures, for Prometheus."""
    if settings.METRICS_PORT:
        from planner.services.observability.exposition import serve_measures

        serve_measures(settings.METRICS_PORT)


@worker_process_init.connect  # type: ignore[untyped-decorator]
def report_errors_and_traces(**_: Any) -> None:
    """Each process that does jobs reports by itself."""
    from planner.services.observability.reports import start_reports

    start_reports()
