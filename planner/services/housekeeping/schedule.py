"""Housekeeping on `HOUSEKEEPING_SCHEDULE`: by Celery's timer, or by one of the server."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from planner.services.housekeeping.retention import remove_expired
from planner.services.jobs import background
from planner.services.jobs.price_schedule import seconds_to_next

TASK = "housekeeping"


def start_timer() -> None:
    """Where no Celery beat does it, let this process do it when it is due."""
    if settings.HOUSEKEEPING_SCHEDULE and settings.JOBS_BACKEND == "thread":
        wait = seconds_to_next(settings.HOUSEKEEPING_SCHEDULE, timezone.now())
        background.submit_later(wait, TASK)


def run_when_due() -> None:
    """Removes what expired, and waits for the next time. Several processes may do it at once."""
    try:
        remove_expired()
    finally:
        start_timer()
