"""Work outside the request: Celery where a broker is set, else a thread of this process."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

from django.conf import settings
from django.db import close_old_connections, transaction
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

TASKS = {
    "run_job": "planner.services.jobs.jobs.run",
    "deliver_webhooks": "planner.services.webhooks.webhooks.deliver_due",
    "refresh_prices": "planner.services.jobs.price_schedule.refresh_if_due",
    "housekeeping": "planner.services.housekeeping.schedule.run_when_due",
}
"""Name of the Celery task in `planner.tasks` → the function that does it."""


def submit(task: str, *arguments: str) -> None:
    """Starts `task` once the current transaction is committed; it is dropped on a rollback."""
    if settings.JOBS_BACKEND == "inline":
        _call(task, *arguments)
    else:
        transaction.on_commit(partial(_start, task, arguments))


def submit_later(seconds: float, task: str) -> None:
    """Starts `task` in `seconds`; a process that ends before then leaves it to the next one."""
    if settings.JOBS_BACKEND == "celery":
        _send(task, (), seconds)
    elif settings.JOBS_BACKEND == "thread":
        _set_timer(seconds, task)


def _start(task: str, arguments: tuple[str, ...]) -> None:
    if settings.JOBS_BACKEND == "celery":
        _send(task, arguments, 0)
    else:
        _executor(task).submit(_in_thread, task, *arguments)


def _send(task: str, arguments: tuple[str, ...], seconds: float) -> None:
    from planner.celery import app

    app.send_task(f"planner.tasks.{task}", arguments, countdown=seconds)


@cache
def _executor(task: str) -> ThreadPoolExecutor:
    """A thread for each task, which does its calls in order. Made late, so after any fork.

    One job at a time, as the solver already uses the cores; deliveries, which wait for the
    servers of others, hold up other deliveries alone.
    """
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"planner-{task}")


_timers: dict[str, tuple[float, threading.Timer]] = {}
_timers_lock = threading.Lock()


def _set_timer(seconds: float, task: str) -> None:
    """One timer a task, the soonest that was asked for: the call puts off itself what is left."""
    due = time.monotonic() + seconds
    with _timers_lock:
        set_for, waiting = _timers.get(task, (0.0, None))
        if waiting is not None and waiting.is_alive():
            if set_for <= due:
                return
            waiting.cancel()
        timer = threading.Timer(seconds, _ring, (task,))
        timer.daemon = True
        _timers[task] = due, timer
        timer.start()


def _ring(task: str) -> None:
    with _timers_lock:
        _timers.pop(task, None)
    _start(task, ())


def _in_thread(task: str, *arguments: str) -> None:
    close_old_connections()
    try:
        _call(task, *arguments)
    except Exception:
        logger.exception("The background task %s%s failed.", task, arguments)
    finally:
        close_old_connections()


def _call(task: str, *arguments: str) -> None:
    function: Callable[..., object] = import_string(TASKS[task])
    function(*arguments)
