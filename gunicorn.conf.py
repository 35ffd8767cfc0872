"""What gunicorn reads wherever it is started from this folder."""

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
try:
    logconfig_dict = settings.LOGGING | {
        "loggers": settings.LOGGING["loggers"]
        | {
            "gunicorn.error": {"handlers": ["console"], "propagate": False},
            # Its lines hold whole addresses, with secrets of invitations and plans; the planner
            # logs each request itself, by its route.
            "gunicorn.access": {"handlers": [], "propagate": False},
        }
    }
except ImproperlyConfigured as refusal:
    sys.exit(f"The settings cannot be used: {refusal}")

worker_class = "gthread"
SWITCH_INTERVAL_SECONDS = 0.0005
"""After how long a thread that computes lets another one go on. With Python's 5 ms a short request
beside a long one waits ten times as long, each time it comes back from the database."""

limit_request_line = 8190
"""Longest first line of a request, bytes: the address of a page holds a whole plan, and one sent
by a browser without scripts names every empty box too. 8190 is gunicorn's most."""

control_socket_disable = True
"""Nobody commands it but by signals; its socket would lie in the home of whoever started it."""

forwarder_headers = ""
"""None may say where the site lies or which path is meant: SCRIPT_NAME of a visitor, which a proxy
other than nginx may pass on, would be answered with 500, or with another page."""


def post_worker_init(worker: object) -> None:
    """Loads all pages, and looks after what a process before this one left undone."""
    from planner.services.jobs.background import start_schedule
    from planner.web.common.front_end import load_pages

    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    load_pages()
    start_schedule()


def worker_exit(server: object, worker: object) -> None:
    """Leaves what waits to other processes, so that this one ends with its last request."""
    from planner.services.jobs.background import stop

    stop()


def on_starting(_server: Any) -> None:
    """What processes of an earlier start counted is not theirs to go on from."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    for file in Path(folder).glob("*.db") if folder else ():
        file.unlink()


def child_exit(_server: Any, worker: Any) -> None:
    """A worker that ended is no longer counted among those alive."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)
