"""Jobs of a team, started and waiting, for tests of what becomes of them."""

from __future__ import annotations

from planner.models import Job
from planner.services.jobs import jobs
from tests.planner.workspace import REQUEST, Workspace


def queued(work: Workspace, **values: object) -> Job:
    return Job.objects.create(
        team=work.team, kind="comparison", arguments={"request": REQUEST}, **values
    )


def start(work: Workspace, **options: object) -> Job:
    return jobs.start(work.access(), "comparison", {"request": REQUEST}, work.team, **options)
