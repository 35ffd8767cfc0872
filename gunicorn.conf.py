"""What gunicorn reads wherever it is started from this folder."""

limit_request_line = 8190
"""Longest first line of a request, bytes: the address of a page holds a whole plan, and one sent
by a browser without scripts names every empty box too. 8190 is gunicorn's most."""


def post_worker_init(worker: object) -> None:
    """Looks after what a process before this one left undone."""
    from planner.services.timer import start_timer

    start_timer()


def worker_exit(server: object, worker: object) -> None:
    """Leaves what waits to other processes, so that this one ends with its last request."""
    from planner.services.jobs.background import stop

    stop()
