"""The kinds of jobs: what does each, where it waits, and what may happen to it."""

from __future__ import annotations

import logging
from typing import NamedTuple

from django.utils.module_loading import import_string

from planner.models import Job
from planner.services.jobs.background import COMPARISONS, PRICES

logger = logging.getLogger(__name__)


class Kind(NamedTuple):
    """A kind of job; functions by their path, as they stand above this module."""

    work: str
    """`f(job, progress) -> result`."""
    queue: str = COMPARISONS
    may_be_repeated: bool = True
    """Whether an attempt that was cut off may be made again: it is pure, writes all or nothing,
    or writes what is there once only."""
    clean_up: str = ""
    """`f(job)`: takes away what the job leaves behind, however it ended."""


KINDS = {
    "comparison": Kind("planner.services.projects.comparisons.comparison_job"),
    "comparison_batch": Kind("planner.services.projects.comparisons.batch_job"),
    "portfolio": Kind("planner.services.portfolio.portfolios.portfolio_job"),
    "saved_portfolio": Kind(
        "planner.services.portfolio.portfolios.save_job", may_be_repeated=False
    ),
    "portfolio_reprice": Kind("planner.services.portfolio.repricing.reprice_job"),
    "project_reprice": Kind("planner.services.projects.reprice.project_job"),
    "price_refresh": Kind(
        "planner.services.jobs.price_refreshes.refresh_job", PRICES, may_be_repeated=False
    ),
    "actuals_upload": Kind(
        "planner.services.actuals.uploads.upload_job",
        clean_up="planner.services.actuals.uploads.remove_file",
    ),
    "budget_watch": Kind("planner.services.alerts.budget_watch.watch_job"),
}


def queue_of(kind: str) -> str:
    return KINDS[kind].queue


def kinds_in_queue_of(kind: str) -> tuple[str, ...]:
    """The kinds that wait in the same line."""
    return tuple(name for name, other in KINDS.items() if other.queue == queue_of(kind))


def clean_up_after(job: Job) -> None:
    """Takes away what a job that is over left behind; a failure of that is logged."""
    if path := KINDS[job.kind].clean_up:
        try:
            import_string(path)(job)
        except OSError:
            logger.exception("Job %s (%s) left something behind.", job.pk, job.kind)
