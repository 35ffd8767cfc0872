"""What Prometheus is told of jobs, deliveries and prices; what nobody knows is absent."""

import datetime as dt

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from planner.models import Job, JobState, WebhookDelivery, WebhookEndpoint
from planner.services.observability.logs import use_request_id
from planner.services.observability.measures import render_measures
from planner.services.webhooks import webhooks
from pricing.models import QuarantinedPart, RefreshRun
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db
Labels = frozenset[tuple[str, str]]


def measures(begin: str = "planner_") -> dict[tuple[str, Labels], float]:
    """Those whose names begin so; the requests of other tests are thousands of lines more."""
    lines = render_measures().decode().splitlines(keepends=True)
    of_these = "".join(line for line in lines if line.startswith(begin))
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(of_these)
        for sample in family.samples
    }


def of(name: str, **labels: str) -> float | None:
    return measures(name).get((name, frozenset(labels.items())))


def test_jobs_by_kind_and_state_and_the_oldest_that_waits() -> None:
    work = Workspace("alpha")
    hour = dt.timedelta(hours=1)
    for state in (JobState.QUEUED, JobState.QUEUED, JobState.FAILED):
        Job.objects.create(
            team=work.team, kind="comparison", state=state, created_at=timezone.now() - hour
        )
    assert of("planner_jobs", kind="comparison", state="queued") == 2
    assert of("planner_jobs", kind="comparison", state="failed") == 1
    assert of("planner_oldest_queued_job_seconds") == pytest.approx(3600, abs=60)


def test_parts_that_wait_and_how_long_ago_prices_were_published() -> None:
    RefreshRun.objects.create(
        provider="aws", outcome="published", started_at=timezone.now() - dt.timedelta(days=2)
    )
    RefreshRun.objects.create(provider="aws", outcome="quarantined")
    QuarantinedPart.objects.create(
        provider="aws", purchase_option="spot", reason="", offer_count=1, digest="d", payload=b""
    )
    assert of("planner_quarantined_parts", provider="aws") == 1
    seconds = of("planner_price_refresh_age_seconds", provider="aws")
    assert seconds == pytest.approx(2 * 86_400, abs=60)


def test_deliveries_carry_the_request_id_and_are_counted(monkeypatch, settings) -> None:
    settings.TASKS_INLINE = False  # nothing is delivered but by the call below
    monkeypatch.setattr(webhooks.background, "submit", lambda *_: None)
    monkeypatch.setattr(webhooks, "send", lambda *_: None)
    work = Workspace("alpha")
    endpoint = WebhookEndpoint.objects.create(team=work.team, url="jsons://example.com/hook")
    before = of("planner_webhook_attempts_total", state="delivered") or 0
    with use_request_id("from-a-page"):
        webhooks.send_test(work.access(), endpoint)
    assert WebhookDelivery.objects.get().request_id == "from-a-page"
    assert (of("planner_oldest_pending_delivery_seconds") or 0) > 0
    assert webhooks.deliver_due() == 1
    assert of("planner_oldest_pending_delivery_seconds") == 0
    assert of("planner_webhook_attempts_total", state="delivered") == before + 1
