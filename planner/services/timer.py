"""The one timer: looks after jobs and deliveries that no process is at.

Celery beat starts it; where there is no broker, each web process has one of its own.
"""

from __future__ import annotations

from django.conf import settings

from planner.services.jobs import background
from planner.services.jobs.jobs import recover_jobs

TASK = "look_after"


def start_timer() -> None:
    """Rings for the first time soon after a web process has begun."""
    background.submit_later(settings.TIMER_SECONDS / 2, TASK)


def look_after() -> None:
    """Puts lost jobs in line again, and sends what is due; then sets the timer again."""
    try:
        recover_jobs()
        background.submit("deliver_webhooks", expires=settings.TIMER_SECONDS)
    finally:
        background.submit_later(settings.TIMER_SECONDS, TASK)
