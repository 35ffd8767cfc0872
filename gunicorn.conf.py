"""What gunicorn reads wherever it is started from this folder."""

import os
from pathlib import Path
from typing import Any

limit_request_line = 8190
"""Longest first line of a request, bytes: the address of a page holds a whole plan, and one sent
by a browser without scripts names every empty box too. 8190 is gunicorn's most."""


forwarder_headers = ""
"""None may say where the site lies or which path is meant: SCRIPT_NAME of a visitor, which a proxy
other than nginx may pass on, would be answered with 500, or with another page."""

worker_class = "planner.web_server.BalancedWorker"
"""Threads, and new connections to the worker that has the fewest."""
SWITCH_INTERVAL_SECONDS = 0.0005
"""After how long a thread that computes lets another one go on. With Python's 5 ms a short request
beside a long one waits ten times as long, each time it comes back from the database."""

COLLECT_AFTER = (50_000, 20, 50)
"""After how many new objects, and how many rounds of each generation, Python looks for garbage in
cycles. An answer makes tens of thousands of objects that end by themselves; walking the catalog
for them each time would hold up whoever waits."""


def post_worker_init(worker: object) -> None:
    """Loads all pages, and looks after what a process before this one left undone."""
    import gc
    import sys

    from planner.services.timer import start_timer
    from planner.web.common.front_end import load_pages

    load_pages()
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    gc.set_threshold(*COLLECT_AFTER)
    start_timer()


def worker_exit(server: object, worker: object) -> None:
    """Leaves what waits to other processes, so that this one ends with its last request."""
    from planner.services.jobs.background import stop

    stop()


if os.environ.get("LOG_FORMAT") == "json":
    logconfig_dict = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "planner.services.observability.logs.JsonFormatter"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            "gunicorn.error": {"handlers": ["console"], "propagate": False},
            # Its lines hold whole addresses, with secrets of invitations and plans; the planner
            # logs each request itself, by its route.
            "gunicorn.access": {"handlers": [], "propagate": False},
        },
    }


def on_starting(_server: Any) -> None:
    """What processes of an earlier start counted is not theirs to go on from."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    for file in Path(folder).glob("*.db") if folder else ():
        file.unlink()


def child_exit(_server: Any, worker: Any) -> None:
    """A worker that ended is no longer counted among those alive."""
    if hasattr(worker, "leave"):
        worker.leave()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)
