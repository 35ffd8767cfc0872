"""What gunicorn reads wherever it is started from this folder."""

limit_request_line = 8190
"""Longest first line of a request, bytes: the address of a page holds a whole plan, and one sent
by a browser without scripts names every empty box too. 8190 is gunicorn's most."""


SWITCH_INTERVAL_SECONDS = 0.0005
"""After how long a thread that computes lets another one go on. With Python's 5 ms a short request
beside a long one waits ten times as long, each time it comes back from the database."""


def post_worker_init(worker: object) -> None:
    """Looks after what a process before this one left undone."""
    import sys

    from planner.services.timer import start_timer

    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    start_timer()


def worker_exit(server: object, worker: object) -> None:
    """Leaves what waits to other processes, so that this one ends with its last request."""
    from planner.services.jobs.background import stop

    stop()
