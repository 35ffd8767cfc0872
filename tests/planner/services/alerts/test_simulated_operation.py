"""Hours of operation with the clock moved: prices of three clouds on loopback are read each hour,
the clouds fail as real ones do, and an operator sees and hears what the documents say.

Four hours in `make test`, thirty in `make faults`.
"""

from __future__ import annotations

import datetime as dt
import gc
import os
import resource
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.core import mail
from prometheus_client.parser import text_string_to_metric_families

from planner.models import Job, JobState
from planner.services.housekeeping import retention as housekeeping
from planner.services.jobs import price_refreshes as price_schedule
from planner.services.observability.measures import render_measures
from pricing.models import QuarantinedBatch, RefreshRun, Revision
from pricing.publish import refresh
from pricing.publish.refresh import RefreshOptions
from tests.planner.workspace import PLAIN, Workspace
from tests.pricing.providers.aws_tools import hide_own_settings
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import small
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import FakeServer, Fault
from tests.pricing.servers.gcp import GcpServer

LONG = os.environ.get("FAULTS") == "1"
HOURS = 30 if LONG else 4
START = dt.datetime(2026, 12, 1, 0, 5, tzinfo=dt.UTC)
EXTRA = {"sleep": lambda _seconds: None, "call_timeout_s": 0.5}
NEVER_GROW = ("price", "listing", "region", "exchangerate", "pastprice")
"""Tables that hourly refreshes of unchanged prices add nothing to."""
MOST_GROWTH_MB = 8
"""Of the memory of the process, over the second half of the hours: by then the eight catalogs that
it holds have all been replaced."""


@dataclass
class Trouble:
    """What goes wrong with one cloud from one hour until before another."""

    cloud: str
    first: int
    end: int
    outcome: str
    fault: Fault | None = None
    cut: bool = False
    """Half of what it sells is gone."""

    def holds(self, hour: int) -> bool:
        return self.first <= hour < self.end


TROUBLES = (
    Trouble("azure", 1, 3, "failed", Fault.error(None)),
    Trouble("gcp", 2, 3, "failed", Fault.truncated()),
    Trouble("aws", 3, 4, "failed", Fault.lost(at=0.0)),
    *(
        (
            Trouble("azure", 6, 9, "quarantined", cut=True),
            Trouble("gcp", 12, 14, "failed", Fault.error(None, status=403)),
            Trouble("aws", 16, 18, "failed", Fault.burst(None)),
        )
        if LONG
        else ()
    ),
)


@dataclass
class Clouds:
    servers: dict[str, FakeServer]
    whole: list[Any] = field(default_factory=list)

    def set_troubles(self, hour: int) -> dict[str, str]:
        """Faults of this hour; the outcome that each cloud is to have."""
        outcomes = dict.fromkeys(self.servers, "published")
        for server in self.servers.values():
            server.faults.clear()
        azure = self.servers["azure"]
        self.whole = self.whole or list(azure.rows)  # type: ignore[attr-defined]
        azure.rows = list(self.whole)  # type: ignore[attr-defined]
        for trouble in TROUBLES:
            if trouble.holds(hour):
                outcomes[trouble.cloud] = trouble.outcome
                if trouble.fault:
                    self.servers[trouble.cloud].faults.append(trouble.fault)
                if trouble.cut:
                    azure.rows = self.whole[: len(self.whole) // 2]  # type: ignore[attr-defined]
        return outcomes


@pytest.fixture
def clouds(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Clouds]:
    hide_own_settings(monkeypatch)
    settings.PRICE_REFRESH_SCHEDULE = "5 * * * *"
    settings.PRICE_REFRESH_JITTER_SECONDS = 0
    settings.PRICE_NOTICE_EMAILS = ["operator@example.com"]
    settings.JOBS_BACKEND = "inline"

    def refresh_at_once(providers: Any) -> Any:
        return refresh.refresh(providers, RefreshOptions(extra=dict(EXTRA)))

    monkeypatch.setattr(price_schedule, "refresh", refresh_at_once)
    with ExitStack() as stack:
        aws = stack.enter_context(FakeAws(small()))
        azure = stack.enter_context(AzureServer())
        gcp = stack.enter_context(GcpServer())
        variables = {
            "AWS_PRICE_LIST_URL": aws.url,
            **azure.settings_with_subscription,
            **gcp.settings_with_project,
            "GCP_API_KEY": "key",
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield Clouds({"aws": aws, "azure": azure, "gcp": gcp})


def read_measures() -> dict[tuple[str, ...], float]:
    """Name, and the values of the labels in the order of their names → figure."""
    families = text_string_to_metric_families(render_measures().decode())
    return {
        (sample.name, *(text for _, text in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def count_rows() -> dict[str, int]:
    return {
        str(model._meta.model_name): model._default_manager.count()
        for app in ("pricing", "planner")
        for model in apps.get_app_config(app).get_models()
    }


def expect_letters(hour: int) -> int:
    """One as each trouble begins, another after each day of it; those of an hour are one letter."""
    return int(any((hour - t.first) % 24 == 0 for t in TROUBLES if t.holds(hour)))


@pytest.mark.sweep
@pytest.mark.faults
@pytest.mark.django_db(transaction=True)
def test_hours_of_operation_are_seen_heard_and_leave_nothing_behind(clouds: Clouds) -> None:
    rows: list[dict[str, int]] = []
    memory: list[float] = []
    last_published: dict[str, int] = {}
    for hour in range(HOURS):
        with time_machine.travel(START + dt.timedelta(hours=hour)):
            outcomes = clouds.set_troubles(hour)
            letters = len(mail.outbox)
            price_schedule.refresh_if_due()
            price_schedule.refresh_if_due()  # rung twice, read once
            runs = RefreshRun.objects.order_by("-id")[: len(outcomes)]
            assert {run.provider: run.outcome for run in runs} == outcomes, hour
            last_published |= {cloud: hour for cloud, o in outcomes.items() if o == "published"}
            check_measures(hour, outcomes, last_published)
            assert len(mail.outbox) - letters == expect_letters(hour), hour
            if hour == 0:
                watch_a_project()
            if hour % 24 == 2:
                housekeeping.run_when_due()
            rows.append(count_rows())
            if LONG:
                memory.append(measure_memory(clouds))
    check_growth(rows, memory)
    check_letters()


def check_measures(hour: int, outcomes: dict[str, str], last_published: dict[str, int]) -> None:
    measures = read_measures()
    for cloud, outcome in outcomes.items():
        assert measures["planner_price_refresh_outcome", outcome, cloud] == 1, hour
        age = 3600 * (hour - last_published[cloud])
        seconds = measures["planner_price_refresh_age_seconds", cloud]
        assert seconds == pytest.approx(age, abs=600), (hour, cloud)
        held = 1 if outcome == "quarantined" else 0
        assert measures["planner_quarantined_batches", cloud] == held, (hour, cloud)
    assert measures["planner_price_median_age_days", "on_demand", "gcp"] == 0
    assert measures["planner_oldest_queued_job_seconds",] == 0


def watch_a_project() -> None:
    """From here on each revision prices a project again."""
    workload = {"kind": "accelerator_hours", "accelerator": "A100", "hours_per_month": 100}
    Workspace("alpha").project(workload=workload, assumptions=PLAIN, watched=True)


def measure_memory(clouds: Clouds) -> float:
    """Of this process, MB, without what the clouds keep of their requests; the tests let garbage
    lie longer than a server does."""
    for server in clouds.servers.values():
        server.requests.clear()
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def check_growth(rows: list[dict[str, int]], memory: list[float]) -> None:
    """A published refresh adds a revision, every one a record; prices that stay add nothing."""
    for name in NEVER_GROW:
        assert rows[-1][name] == rows[0][name], name
    failed = sum(t.end - t.first for t in TROUBLES)
    assert RefreshRun.objects.count() == 3 * HOURS
    assert Revision.objects.count() == 3 * HOURS - failed
    assert QuarantinedBatch.objects.count() == len(
        [t for t in TROUBLES if t.outcome == "quarantined"]
    )
    watches = Job.objects.filter(kind="budget_watch")
    assert watches.exclude(state=JobState.SUCCEEDED).count() == 0
    assert watches.count() == Revision.objects.count() - rows[0]["revision"]
    assert rows[-1]["alert"] == rows[-1]["webhookdelivery"] == 0
    assert not list(Path("/tmp").glob(f"planner-{os.getpid()}-*"))
    if LONG:
        print({name: (rows[0][name], count) for name, count in rows[-1].items()}, memory)
        assert memory[-1] - memory[HOURS // 2] < MOST_GROWTH_MB, memory


def check_letters() -> None:
    subjects = [letter.subject for letter in mail.outbox]
    assert subjects[:3] == [
        "[GPU cost planner] Prices of Azure could not be refreshed",
        "[GPU cost planner] Prices of Google Cloud could not be refreshed",
        "[GPU cost planner] Prices of AWS could not be refreshed",
    ]
    if LONG:
        assert subjects[3] == "[GPU cost planner] Prices of Azure are quarantined for review"
    assert all(letter.to == ["operator@example.com"] for letter in mail.outbox)
    assert all("/operator/" in letter.body for letter in mail.outbox)
