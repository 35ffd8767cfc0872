"""Refreshes of the prices on `PRICE_REFRESH_SCHEDULE`: by Celery beat, or by a timer of the server.

However many processes find it due, the prices are read once: whoever comes second finds a run of
this time, or a provider that is being refreshed, and leaves it.
"""

from __future__ import annotations

import datetime as dt
import logging
import random
import time

from celery.schedules import crontab
from django.conf import settings
from django.utils import timezone

from planner.services.jobs import background
from pricing import discovery
from pricing.models import RefreshRun
from pricing.publish.refresh import refresh

logger = logging.getLogger(__name__)
TASK = "refresh_prices"


def start_timer() -> None:
    """Where no Celery beat does it, let this process refresh the prices when they are due."""
    if settings.PRICE_REFRESH_SCHEDULE and settings.JOBS_BACKEND == "thread":
        wait = seconds_to_next(settings.PRICE_REFRESH_SCHEDULE, timezone.now())
        background.submit_later(wait, TASK)


def refresh_if_due() -> None:
    """Refresh every provider that has had no run since the schedule was last due."""
    if not settings.PRICE_REFRESH_SCHEDULE:
        return
    time.sleep(random.uniform(0, settings.PRICE_REFRESH_JITTER_SECONDS))  # noqa: S311 - no secret
    try:
        due_since = last_due_time(timezone.now())
        started = RefreshRun.objects.filter(started_at__gte=due_since)
        done = set(started.values_list("provider", flat=True))
        due = [p for name, p in sorted(discovery.default_providers().items()) if name not in done]
        results = refresh(due) if due else []
        for result in results:
            logger.info("Prices of %s: %s. %s", result.provider, result.outcome, result.message)
    finally:
        start_timer()


def last_due_time(now: dt.datetime) -> dt.datetime:
    """When the schedule was last due, at or before `now`; a year ago where it was not since."""
    schedule = crontab.from_string(settings.PRICE_REFRESH_SCHEDULE)
    last = earlier = now - dt.timedelta(days=366)
    for span in (dt.timedelta(hours=2), dt.timedelta(days=8), dt.timedelta(days=366)):
        moment = now - span
        while (step := _until_next(schedule, moment)) is not None and moment + step <= now:
            moment += step
            last = moment
        if last > earlier:
            break
    return last


def _until_next(schedule: crontab, moment: dt.datetime) -> dt.timedelta | None:
    schedule.nowfun = lambda: moment
    remaining: dt.timedelta = schedule.remaining_estimate(moment)
    return remaining if remaining > dt.timedelta(0) else None


def seconds_to_next(schedule: str, now: dt.datetime) -> float:
    """Seconds until a schedule is due next."""
    step = _until_next(crontab.from_string(schedule), now)
    return 60.0 if step is None else step.total_seconds()
