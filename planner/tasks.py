"""The tasks, done by a Celery worker, or by the server itself where no broker is set."""

from __future__ import annotations

from planner.celery import app
from planner.services.jobs import background, jobs
from planner.services.webhooks import webhooks


@app.task  # type: ignore[untyped-decorator]
def do_next_job() -> bool:
    """Whoever did a job asks for the next, so that one message does for all that wait."""
    is_done = jobs.do_next()
    if is_done:
        background.submit("do_next_job")
    return is_done


@app.task  # type: ignore[untyped-decorator]
def look_after() -> None:
    jobs.look_after()


@app.task  # type: ignore[untyped-decorator]
def deliver_webhooks() -> None:
    webhooks.deliver_due()
