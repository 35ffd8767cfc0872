"""What is done every few seconds, by Celery beat or by each server where no broker is set."""

from __future__ import annotations

import datetime as dt
import random

from celery.schedules import crontab
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.models import Schedule
from planner.services.jobs import background, jobs

SCHEDULES: dict[str, tuple[str, dict[str, list[str]]]] = {
    "price_refresh": ("PRICE_REFRESH_SCHEDULE", {"providers": []}),
    "housekeeping": ("HOUSEKEEPING_SCHEDULE", {}),
}
"""Kind of job → the setting that says when one is started, and its arguments."""


def look_after() -> None:
    """Puts lost jobs in line again, sends what is due, starts the jobs whose time has come."""
    jobs.recover_jobs()
    background.submit("deliver_webhooks", expires=settings.LOOK_AFTER_SECONDS)
    for kind, (setting, arguments) in SCHEDULES.items():
        with transaction.atomic():
            if take_turn(kind, getattr(settings, setting)):
                jobs.start(jobs.SERVER, kind, arguments, None)


def take_turn(name: str, cron: str) -> bool:
    """Whether a schedule is due and the caller is the first to see it. One whose time passed while
    nothing ran is due at once; a new one waits for its first time."""
    if not cron:
        return False
    now = timezone.now()
    row, _ = Schedule.objects.get_or_create(name=name, defaults={"started_at": now})
    schedule = crontab.from_string(cron)
    schedule.nowfun = timezone.now
    # Servers elsewhere have the same schedule: each asks the providers at a second of its own.
    jitter = random.Random(settings.SECRET_KEY).uniform(0, settings.PRICE_REFRESH_JITTER_SECONDS)  # noqa: S311
    if schedule.remaining_estimate(row.started_at) + dt.timedelta(seconds=jitter) > dt.timedelta():
        return False
    same = Schedule.objects.filter(name=name, started_at=row.started_at)
    return bool(same.update(started_at=now))
