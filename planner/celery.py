"""The Celery app, used where CELERY_BROKER_URL is set: `celery -A planner.celery worker`."""

from __future__ import annotations

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")

app = Celery("planner", include=["planner.tasks"])
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL or None,
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    beat_schedule={
        "webhooks": {"task": "planner.tasks.deliver_webhooks", "schedule": 60.0},
    },
)
