"""Work outside the request: tasks are sent to Celery where a broker is set, else done here.

What has to be done is a row of the database before anything is sent, so that a message is no more
than a word that it is there: one that is lost is sent again by `look_after`, one that comes twice
finds nothing to do.

Without a broker, a server has a process for each core, started when first needed, and a thread
that looks after everything every few seconds. Any other process, such as a command, leaves the
rows to the server.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import cache, partial
from typing import Any

from django.conf import settings
from django.db import close_old_connections, transaction
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

WORK, SHORT = settings.JOB_QUEUES
_THREADS = {WORK: max(2, os.cpu_count() or 1), SHORT: 4}
"""Tasks of a queue at once. Each thread of `WORK` has a process; short tasks wait for others."""


def submit(task: str, *arguments: str, expires: float | None = None) -> None:
    """Starts `task` of `planner.tasks` once the current transaction is committed; it is dropped on
    a rollback, and where nobody took it after `expires` seconds."""
    if settings.TASKS_INLINE:
        _task(task)(*arguments)
    else:
        transaction.on_commit(partial(_start, task, arguments, expires))


def _task(name: str) -> Any:
    return import_string(f"planner.tasks.{name}")


def _start(name: str, arguments: tuple[str, ...], expires: float | None = None) -> None:
    task = _task(name)
    if settings.CELERY_BROKER_URL:
        from kombu.exceptions import OperationalError

        try:
            task.apply_async(arguments, expires=expires)
        except (OperationalError, OSError) as failure:  # the row waits in the database
            logger.warning("The broker took no message of %s: %s", task.name, failure)
        return
    if _schedule is None:
        return
    deadline = time.monotonic() + (expires or float("inf"))
    with suppress(RuntimeError):  # Nothing more begins in a process that ends.
        queue = WORK if name == "do_next_job" else SHORT
        _executor(queue).submit(_take, name, arguments, queue, deadline)


# Without a broker -------------------------------------------------------------------------

_schedule: threading.Thread | None = None
"""Looks after everything; only where there is one, this is a server."""
_is_stopping = threading.Event()
_own = threading.local()


def start_schedule() -> None:
    """Makes this process a server that does tasks, unless a broker is set."""
    global _schedule
    if not (settings.CELERY_BROKER_URL or (_schedule is not None and _schedule.is_alive())):
        _schedule = threading.Thread(target=_look_after, name="planner-schedule", daemon=True)
        _schedule.start()


def _look_after() -> None:
    while not _is_stopping.wait(settings.LOOK_AFTER_SECONDS):
        _run("look_after", ())


def stop() -> None:
    """Starts nothing more, as the process is to end: what waits is left to another one."""
    _is_stopping.set()
    for queue in _THREADS:
        _executor(queue).shutdown(wait=False, cancel_futures=True)


@cache
def _executor(queue: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS[queue], thread_name_prefix=f"planner-{queue}")


def _take(name: str, arguments: tuple[str, ...], queue: str, deadline: float) -> None:
    """In a thread of the server: does the task, in the thread's process if it is work."""
    if time.monotonic() > deadline:
        return
    if queue != WORK:
        _run(name, arguments)
        return
    try:
        if not hasattr(_own, "process"):
            spawn = multiprocessing.get_context("spawn")
            _own.process = ProcessPoolExecutor(1, spawn, _begin)
        while _own.process.submit(_run, name, arguments).result() and not _is_stopping.is_set():
            pass  # Another job may wait.
    except BrokenProcessPool:
        logger.warning("A process of this server was killed; what it did is begun again.")
        del _own.process


def _begin() -> None:
    """In a new process of a server: it ends with the server, however that ends."""
    import django

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_server, daemon=True).start()
    django.setup()


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    assert server is not None
    server.join()
    os._exit(1)


def _run(name: str, arguments: tuple[str, ...]) -> bool:
    """Does a task; whether it asks to be done again."""
    try:
        close_old_connections()
        return bool(_task(name)(*arguments))
    except Exception:
        logger.exception("The background task %s failed.", name)
        return False
    finally:
        close_old_connections()
