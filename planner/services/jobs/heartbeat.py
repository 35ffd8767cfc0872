"""A running job says every few seconds that its process is there, whatever it computes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection
from django.utils import timezone

from planner.models import Job, JobState

logger = logging.getLogger(__name__)
EVERY_SECONDS = 10.0


@contextmanager
def keep_alive(job: Job) -> Iterator[None]:
    """Notes in the database, from a thread of its own, that the job goes on."""
    is_over = threading.Event()
    thread = threading.Thread(target=_note_regularly, args=(job, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _note_regularly(job: Job, is_over: threading.Event) -> None:
    rows = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts)
    while not is_over.wait(EVERY_SECONDS):
        try:
            rows.update(heartbeat_at=timezone.now())
        except Error as failure:
            logger.warning("Job %s could not say that it goes on: %s", job.pk, failure)
        finally:
            connection.close()
