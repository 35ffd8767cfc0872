"""Work outside the request: Celery where a broker is set, else a thread of this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

from django.conf import settings
from django.db import close_old_connections, transaction
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

TASKS = {
    "run_job": "planner.services.jobs.run",
    "deliver_webhooks": "planner.services.webhooks.deliver_due",
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
        timer = threading.Timer(seconds, _in_thread, (task,))
        timer.daemon = True
        timer.start()


def _start(task: str, arguments: tuple[str, ...]) -> None:
    if settings.JOBS_BACKEND == "celery":
        _send(task, arguments, 0)
    else:
        _executor().submit(_in_thread, task, *arguments)


def _send(task: str, arguments: tuple[str, ...], seconds: float) -> None:
    from planner.celery import app

    app.send_task(f"planner.tasks.{task}", arguments, countdown=seconds)


@cache
def _executor() -> ThreadPoolExecutor:
    """One at a time: the solver already uses the cores. Made late, so after any fork."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="planner-job")


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
