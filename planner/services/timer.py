"""The one timer: looks after jobs and deliveries that no process is at.

Celery beat starts it; where there is no broker, each web process has one of its own.
"""

from __future__ import annotations

from planner.services.jobs import background
from planner.services.jobs.background import LOOK_EVERY_SECONDS
from planner.services.jobs.recovery import recover_jobs
from planner.services.webhooks.webhooks import is_any_due

TASK = "look_after"


def start_timer() -> None:
    """Rings for the first time soon after a web process has begun."""
    background.submit_later(LOOK_EVERY_SECONDS / 2, TASK)


def look_after() -> None:
    """Puts lost jobs in line again, and sends what is due; then sets the timer again."""
    try:
        recover_jobs()
        if is_any_due():
            background.submit("deliver_webhooks", expires=LOOK_EVERY_SECONDS)
    finally:
        background.submit_later(LOOK_EVERY_SECONDS, TASK)
