"""The Celery app, used where CELERY_BROKER_URL is set: `celery -A planner.celery worker`."""

from __future__ import annotations

import os
import sys
from logging.config import dictConfig
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_ready
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
try:
    WORK, SHORT = settings.JOB_QUEUES  # all settings are read here
except ImproperlyConfigured as refusal:
    sys.exit(f"The settings cannot be used: {refusal}")


app = Celery("planner", include=["planner.tasks"])
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL or None,
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_connection_timeout=2,
    broker_transport_options={"socket_connect_timeout": 2, "socket_timeout": 30},
    # A request waits no longer for a broker that is down: what it asked for is in the database.
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0.1},
    # A worker takes from both, one that is started with `-Q short` from that one alone.
    task_queues={WORK: {}, SHORT: {}},
    task_default_queue=SHORT,
    task_routes={"planner.tasks.do_next_job": {"queue": WORK}},
    timezone="UTC",
    beat_schedule={
        "look_after": {
            "task": "planner.tasks.look_after",
            "schedule": settings.LOOK_AFTER_SECONDS,
            # A message that nobody took ends when the next one comes.
            "options": {"expires": settings.LOOK_AFTER_SECONDS},
        }
    },
)


@setup_logging.connect  # type: ignore[untyped-decorator]
def configure_logging(**_: Any) -> None:
    """Level and form are those of the settings, in workers and in beat."""
    dictConfig(settings.LOGGING)


@worker_ready.connect  # type: ignore[untyped-decorator]
def serve_what_is_counted(**_: Any) -> None:
    """The worker's own measures, for Prometheus."""
    if settings.METRICS_PORT:
        from planner.services.observability.measures import serve_measures

        serve_measures(settings.METRICS_PORT)
