"""Old rows go by their age, those that somebody still needs stay."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from planner.models import (
    DeliveryState,
    IdempotencyRecord,
    Invitation,
    Job,
    JobState,
    Role,
    SavedComparison,
    WebhookDelivery,
    WebhookEndpoint,
)
from planner.services.housekeeping import retention
from planner.services.teams import teams
from pricing.models import Price, QuarantinedPart, RefreshRun, Revision
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db
YEARS_AGO = timezone.now() - dt.timedelta(days=800)
YESTERDAY = timezone.now() - dt.timedelta(days=1)


def removed() -> dict[str, int]:
    return {what: count for what, count in retention.remove_expired().items() if count}


def test_jobs_that_ended_long_ago_go_and_those_that_wait_stay(work: Workspace) -> None:
    def job(state: JobState, ended: dt.datetime | None) -> Job:
        return Job.objects.create(
            team=work.team, kind="comparison", state=state, created_at=YEARS_AGO, finished_at=ended
        )

    job(JobState.SUCCEEDED, YEARS_AGO)
    stay = {job(JobState.FAILED, YESTERDAY).pk, job(JobState.QUEUED, None).pk}
    assert removed() == {"jobs": 1}
    assert set(Job.objects.values_list("pk", flat=True)) == stay


def test_deliveries_answers_sessions_and_links_go(work: Workspace) -> None:
    endpoint = WebhookEndpoint.objects.create(team=work.team, url="https://example.com/")
    for state, moment in (("failed", YEARS_AGO), ("pending", YEARS_AGO), ("failed", YESTERDAY)):
        WebhookDelivery.objects.create(
            team=work.team, endpoint=endpoint, payload={}, state=state, created_at=moment
        )
    IdempotencyRecord.objects.create(owner="user:1", key="old", digest="d", created_at=YEARS_AGO)
    IdempotencyRecord.objects.create(owner="user:1", key="new", digest="d")
    for key, moment in (("old", YEARS_AGO), ("new", timezone.now() + dt.timedelta(days=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=moment)
    old, _ = teams.invite(work.access(), work.team, Role.VIEWER)
    Invitation.objects.filter(pk=old.pk).update(expires_at=YEARS_AGO)
    teams.invite(work.access(), work.team, Role.VIEWER)
    assert removed() == {
        "webhook deliveries": 1,
        "idempotency records": 1,
        "sessions": 1,
        "invitations": 1,
    }
    assert WebhookDelivery.objects.filter(state=DeliveryState.PENDING).count() == 1
    assert (IdempotencyRecord.objects.get().key, Session.objects.get().pk) == ("new", "new")


def test_refreshes_go_but_the_last_of_each_provider() -> None:
    for outcome in ("published", "published", "failed", "failed"):
        RefreshRun.objects.create(provider="aws", outcome=outcome, started_at=YEARS_AGO)
    assert removed() == {"refresh runs": 2}
    left = RefreshRun.objects.order_by("pk").values_list("outcome", flat=True)
    assert list(left) == ["published", "failed"]


def test_batches_lose_their_content_once_nobody_can_publish_them() -> None:
    for state, moment in (
        ("waiting", YEARS_AGO),
        ("superseded", YESTERDAY - dt.timedelta(hours=1)),
        ("superseded", timezone.now()),
        ("rejected", YESTERDAY),
        ("rejected", YEARS_AGO),
        ("released", YEARS_AGO),
    ):
        QuarantinedPart.objects.create(
            provider="aws",
            state=state,
            created_at=moment,
            purchase_option="spot",
            reason="spot",
            offer_count=1,
            digest="d",
            payload=b"content",
        )
    assert removed() == {"contents of batches": 3}
    full = (
        QuarantinedPart.objects.exclude(payload=b"").order_by("pk").values_list("state", flat=True)
    )
    assert list(full) == ["waiting", "superseded", "rejected"]


def test_data_stays_whatever_its_age(work: Workspace) -> None:
    saved = work.saved()
    SavedComparison.objects.filter(pk=saved.pk).update(created_at=YEARS_AGO)
    before = (Revision.objects.count(), Price.objects.count())
    assert removed() == {}
    assert SavedComparison.objects.filter(pk=saved.pk).exists()
    assert (Revision.objects.count(), Price.objects.count()) == before


def test_what_fails_leaves_the_others_to_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    RefreshRun.objects.create(provider="aws", outcome="failed", started_at=YEARS_AGO)
    RefreshRun.objects.create(provider="aws", outcome="failed")
    delete = retention._delete

    def fail(rows: Any) -> int:
        if rows.model is Job:
            raise OSError("disk")
        return delete(rows)

    monkeypatch.setattr(retention, "_delete", fail)
    counts = retention.remove_expired()
    assert (counts["jobs"], counts["refresh runs"]) == (None, 1)
    assert RefreshRun.objects.count() == 1
