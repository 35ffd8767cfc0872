"""Prices are read when the schedule is due, once, whoever finds it so."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from planner.services.jobs import price_refreshes as price_schedule
from pricing.models import RefreshRun
from pricing.publish.refresh import RefreshResult

pytestmark = pytest.mark.django_db
NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[list[str]]:
    """The providers of each refresh that is started."""
    settings.PRICE_REFRESH_SCHEDULE = "15 3 * * *"
    settings.PRICE_REFRESH_JITTER_SECONDS = 0
    calls: list[list[str]] = []

    def refresh(providers: Any) -> list[RefreshResult]:
        calls.append([p.name for p in providers])
        for provider in providers:
            RefreshRun.objects.create(provider=provider.name, outcome="published")
        return [RefreshResult(p.name, "published") for p in providers]

    monkeypatch.setattr(price_schedule, "refresh", refresh)
    monkeypatch.setattr(price_schedule.timezone, "now", lambda: NOON)
    monkeypatch.setattr(RefreshRun._meta.get_field("started_at"), "default", lambda: timezone.now())
    return calls


@pytest.mark.parametrize(
    ("schedule", "due"),
    [
        ("15 3 * * *", dt.datetime(2026, 11, 20, 3, 15, tzinfo=dt.UTC)),
        ("0 * * * *", NOON),
        ("0 6 * * 1", dt.datetime(2026, 11, 16, 6, 0, tzinfo=dt.UTC)),
        ("0 0 1 1 *", dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
    ],
)
def test_when_it_was_last_due(settings: Any, schedule: str, due: dt.datetime) -> None:
    settings.PRICE_REFRESH_SCHEDULE = schedule
    assert price_schedule.last_due_time(NOON) == due


def test_every_provider_is_read_once_each_time_it_is_due(read: list[list[str]]) -> None:
    price_schedule.refresh_if_due()
    price_schedule.refresh_if_due()
    assert read == [["aws", "azure", "gcp"]]


def test_the_server_sets_a_timer_where_no_broker_does(
    read: list[list[str]], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From noon to 03:15 are 15 h 15 min."""
    timers: list[tuple[float, str]] = []
    monkeypatch.setattr(
        price_schedule.background, "submit_later", lambda *timer: timers.append(timer)
    )
    settings.JOBS_BACKEND = "celery"
    price_schedule.start_timer()
    assert timers == []
    settings.JOBS_BACKEND = "thread"
    price_schedule.start_timer()
    assert timers == [(54_900.0, "refresh_prices")]
