"""What a revoked token still had done for it."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from planner.models import Access, ApiToken, Job, JobState, Role, Scope
from planner.services.jobs import jobs
from planner.services.teams.tokens import access_for_token
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = pytest.mark.django_db


@pytest.fixture
def work(settings) -> Workspace:
    settings.TASKS_INLINE = False
    market()
    return Workspace("alpha")


def holder(work: Workspace, *, is_service: bool) -> Access:
    access = access_for_token(work.token(Scope.READ, Scope.WRITE, service=is_service))
    assert access is not None
    return access


def started(work: Workspace, access: Access) -> Job:
    return jobs.start(access, "comparison", {"request": REQUEST}, work.team)


def revoke(work: Workspace, access: Access) -> None:
    client = APIClient()
    client.force_login(work.users[Role.OWNER])
    assert client.delete(f"/api/v1/teams/alpha/tokens/{access.token_id}/").status_code == 204
    assert not ApiToken.objects.get(pk=access.token_id).is_active


def test_what_a_revoked_service_token_asked_for_is_stopped(work: Workspace) -> None:
    access, other = (holder(work, is_service=True) for _ in range(2))
    waiting, running, others = started(work, access), started(work, access), started(work, other)
    Job.objects.filter(pk=running.pk).update(state=JobState.RUNNING)
    revoke(work, access)
    for job in (waiting, running, others):
        job.refresh_from_db()
    assert waiting.state == JobState.CANCELLED
    assert (running.state, running.cancel_requested) == (JobState.RUNNING, True)
    assert (others.state, others.cancel_requested) == (JobState.QUEUED, False)


def test_the_jobs_of_a_person_go_on_without_the_token(work: Workspace) -> None:
    access = holder(work, is_service=False)
    job = started(work, access)
    revoke(work, access)
    job.refresh_from_db()
    assert (job.state, job.cancel_requested) == (JobState.QUEUED, False)
