"""What a Celery worker does: the tasks that `planner.services.jobs.background` sends by name."""

from __future__ import annotations

from planner.celery import app
from planner.services import timer
from planner.services.housekeeping import retention as schedule
from planner.services.jobs import background as mail
from planner.services.jobs import jobs
from planner.services.jobs import price_refreshes as price_schedule
from planner.services.webhooks import webhooks


@app.task(name="planner.tasks.run_job")  # type: ignore[untyped-decorator]
def run_job(job_id: str) -> None:
    jobs.run(job_id)


@app.task(name="planner.tasks.deliver_webhooks")  # type: ignore[untyped-decorator]
def deliver_webhooks() -> None:
    webhooks.deliver_due()


@app.task(name="planner.tasks.refresh_prices")  # type: ignore[untyped-decorator]
def refresh_prices() -> None:
    price_schedule.refresh_if_due()


@app.task(name="planner.tasks.look_after")  # type: ignore[untyped-decorator]
def look_after() -> None:
    timer.look_after()


@app.task(
    name="planner.tasks.send_mail",
    acks_late=False,
    autoretry_for=(OSError,),
    retry_backoff=10,
    max_retries=5,
)  # type: ignore[untyped-decorator]
def send_mail(subject: str, message: str, *recipients: str) -> None:
    """Sent once, and again only where the mail server did not take it."""
    mail.send(subject, message, *recipients)


@app.task(name="planner.tasks.housekeeping")  # type: ignore[untyped-decorator]
def housekeeping() -> None:
    schedule.run_when_due()
