"""Work outside the request: Celery where a broker is set, else threads of this process.

What has to be done is in the database before anything is sent, so that a message is no more than
a word that it is there: one that is lost is sent again by the timer, one that comes twice finds
nothing to do. Mail alone is in no table; without the broker this process sends it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import NamedTuple

from django.conf import settings
from django.core.mail import send_mail
from django.db import close_old_connections, transaction
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

COMPARISONS, PRICES, WEBHOOKS, MAIL, TIMER = settings.JOB_QUEUES
_THREADS = {WEBHOOKS: 4}
"""Threads of a queue where no broker is. One job at a time, as the solver already uses the cores;
deliveries wait for the servers of others."""


class Task(NamedTuple):
    """A task of `planner.tasks`: the function that does it, and the queue it waits in."""

    function: str
    queue: str
    is_in_database: bool = True
    """Whether the timer finds what is left to do; else it is lost with its message."""


TASKS = {
    "run_job": Task("planner.services.jobs.jobs.run", COMPARISONS),
    "look_after": Task("planner.services.timer.look_after", TIMER),
    "deliver_webhooks": Task("planner.services.webhooks.webhooks.deliver_due", WEBHOOKS),
    "refresh_prices": Task("planner.services.jobs.price_refreshes.refresh_if_due", PRICES),
    "housekeeping": Task("planner.services.housekeeping.retention.run_when_due", TIMER),
    "send_mail": Task("planner.services.jobs.background.send", MAIL, is_in_database=False),
}


def submit(task: str, *arguments: str, queue: str = "", expires: float | None = None) -> None:
    """Starts `task` once the current transaction is committed; it is dropped on a rollback.

    A message that nobody took after `expires` seconds is dropped too.
    """
    if settings.JOBS_BACKEND == "inline":
        _call(task, *arguments)
    else:
        where = queue or TASKS[task].queue
        transaction.on_commit(partial(_start, task, arguments, where, expires))


def submit_later(seconds: float, task: str) -> None:
    """Starts `task` in `seconds`; a process that ends before then leaves it to the next one.

    With Celery the one timer is beat, which asks for it anyway.
    """
    if settings.JOBS_BACKEND == "thread":
        _set_timer(seconds, task)


def _start(task: str, arguments: tuple[str, ...], queue: str, expires: float | None = None) -> None:
    is_sent = settings.JOBS_BACKEND == "celery" and _send(task, arguments, queue, expires)
    is_kept = settings.JOBS_BACKEND == "celery" and TASKS[task].is_in_database
    if not is_sent and not is_kept:
        _in_executor(task, arguments, queue)


def _send(task: str, arguments: tuple[str, ...], queue: str, expires: float | None) -> bool:
    """Whether the broker has the message; what it is about stays in the database if not."""
    from kombu.exceptions import OperationalError

    from planner.celery import app

    try:
        app.send_task(f"planner.tasks.{task}", arguments, queue=queue, expires=expires)
    except (OperationalError, OSError) as failure:
        logger.warning("The broker took no message (%s): %s waits for the timer.", failure, task)
        return False
    return True


_is_stopping = threading.Event()


def stop() -> None:
    """Starts nothing more, as the process is to end: what waits is left to another one."""
    _is_stopping.set()
    with _timers_lock:
        for _, timer in _timers.values():
            timer.cancel()
    for queue in settings.JOB_QUEUES:
        _executor(queue).shutdown(wait=False, cancel_futures=True)


def _in_executor(task: str, arguments: tuple[str, ...], queue: str) -> None:
    if _is_stopping.is_set():
        return
    try:
        _executor(queue).submit(_in_thread, task, *arguments)
    except RuntimeError:  # A command that is at its end finishes its work, but starts no more.
        if TASKS[task].is_in_database:
            logger.info("This process is at its end: %s waits for the timer of another one.", task)
        else:
            _in_thread(task, *arguments)


@cache
def _executor(queue: str) -> ThreadPoolExecutor:
    """The threads of a queue, which begin its calls in order. Made late, so after any fork."""
    return ThreadPoolExecutor(_THREADS.get(queue, 1), thread_name_prefix=f"planner-{queue}")


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
        timer = threading.Timer(seconds, _fire, (task,))
        timer.daemon = True
        _timers[task] = due, timer
        timer.start()


def _fire(task: str) -> None:
    with _timers_lock:
        _timers.pop(task, None)
    _in_executor(task, (), TASKS[task].queue)


def _in_thread(task: str, *arguments: str) -> None:
    close_old_connections()
    try:
        _call(task, *arguments)
    except Exception:
        shown = arguments if TASKS[task].is_in_database else ()
        logger.exception("The background task %s%s failed.", task, shown)
    finally:
        close_old_connections()


def _call(task: str, *arguments: str) -> None:
    function: Callable[..., object] = import_string(TASKS[task].function)
    function(*arguments)


def queue_mail(subject: str, message: str, recipients: Iterable[str]) -> None:
    """Sends one mail to all recipients once the current transaction is committed."""
    submit("send_mail", " ".join(subject.split()), message, *recipients)


def send(subject: str, message: str, *recipients: str) -> None:
    send_mail(subject, message, from_email=None, recipient_list=recipients)
