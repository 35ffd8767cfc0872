"""The watch of joint plans: the approved plan priced again, told once, seen by whoever may."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from planner.models import (
    Alert,
    AlertKind,
    AuditEntry,
    Job,
    Role,
    SavedPortfolio,
    State,
    WebhookEvent,
)
from planner.services.alerts import alerts
from planner.services.jobs import jobs
from planner.services.portfolio import portfolios
from planner.services.portfolio.portfolios import visible_alert, visible_repricing
from pricing.models import Revision
from pricing.publish.publication import revision_published
from tests.planner.workspace import WORKLOAD, Workspace, market

pytestmark = pytest.mark.django_db
ON_DEMAND = {"purchase_options": ["on_demand"]}
PAIR: dict[str, Any] = {
    "start": "2027-01",
    "horizon_months": 6,
    "projects": [
        {"name": "speech", "workload": WORKLOAD, "constraints": ON_DEMAND},
        {"name": "vision", "workload": WORKLOAD, "constraints": ON_DEMAND, "priority": 9},
    ],
    "on_prem": {"servers": []},
    "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0},
}
"""Two projects of 500 node-hours a month on demand: a total is hours times price."""


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    events: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(alerts, "emit", lambda team, event, load: events.append((event, load)))
    return events


def approved(work: Workspace, **request: Any) -> SavedPortfolio:
    saved = work.portfolio(request={**PAIR, **request})
    return portfolios.approve_portfolio(work.access(), saved)


def refreshed(price: str, day: int) -> None:
    market(price, dt.date(2026, 11, day))
    revision_published.send(Revision, revision=Revision.objects.last())


def amounts() -> list[tuple[str, str, str]]:
    return list(Alert.objects.order_by("created_at").values_list("kind", "before", "after"))


def test_a_move_of_the_total_alerts_once_and_reprices_the_shares(
    work: Workspace, events: list
) -> None:
    saved = approved(work)
    refreshed("60.00", 5)
    refreshed("60.00", 6)
    assert amounts() == [("price_move", "330240.00", "360000.00")]
    ((event, payload),) = events
    assert event == WebhookEvent.PORTFOLIO_MOVED
    assert payload["saved_portfolio"] == str(saved.pk)
    assert [(cause["before"], cause["after"]) for cause in payload["causes"]] == [("55.04", "60")]
    saved.refresh_from_db()
    repricing = visible_repricing(work.access(), saved)
    assert repricing is not None
    shares = {one.project: one for one in repricing.changes if one.figure == "share"}
    total = next(one.after for one in repricing.changes if one.figure == "net_present_cost")
    assert sum(one.after for one in shares.values()) == total
    assert shares["vision"].after > shares["vision"].before
    assert Job.objects.first().result == {"projects": 0, "portfolios": 1, "alerts": 0}


@pytest.mark.parametrize(
    "change",
    [{"watched": False}, {"watch_threshold": 0.1}, {"state": State.DRAFT}],
)
def test_only_a_watched_plan_that_is_approved_alerts_beyond_its_threshold(
    work: Workspace, events: list, change: dict
) -> None:
    saved = approved(work)
    SavedPortfolio.objects.filter(pk=saved.pk).update(**change)
    refreshed("60.00", 5)
    assert (amounts(), events) == ([], [])


@pytest.mark.sweep
def test_a_project_that_fits_no_longer_is_named_until_it_fits_again(
    work: Workspace, events: list
) -> None:
    approved(work, limits={"total_budget": 340_000})
    refreshed("60.00", 5)
    refreshed("61.00", 6)
    assert amounts() == [(AlertKind.NOT_FEASIBLE, "", "")]
    assert Alert.objects.get().message.startswith("vision no longer fits the budgets and quotas")
    refreshed("55.04", 7)
    assert AuditEntry.objects.filter(action="alert.ended").count() == len(events) == 1


def test_totals_are_for_those_who_see_all_of_the_plan(work: Workspace, events: list) -> None:
    saved = approved(work)
    SavedPortfolio.objects.filter(pk=saved.pk).update(
        owners={"speech": work.access(Role.EDITOR).person, "vision": ""}
    )
    refreshed("60.00", 5)
    for role, sees in ((Role.VIEWER, False), (Role.EDITOR, False), (Role.APPROVER, True)):
        shown = visible_alert(work.access(role), Alert.objects.get())
        assert [bool(part) for part in (shown.before, shown.after, shown.causes)] == [sees] * 3
    saved.refresh_from_db()
    own = visible_repricing(work.access(Role.EDITOR), saved)
    assert own is not None
    assert {one.project for one in own.changes} == {"speech"}


def test_a_job_reprices_a_plan_and_its_result_holds_no_amount(work: Workspace) -> None:
    saved = work.portfolio(request=PAIR)
    version = saved.version
    market("60.00")
    job = jobs.start(
        work.access(), "portfolio_reprice", {"saved_portfolio": str(saved.pk)}, work.team
    )
    assert job.result == {"saved_portfolio": str(saved.pk)}
    saved.refresh_from_db()
    repricing = visible_repricing(work.access(), saved)
    assert repricing is not None
    total = next(one for one in repricing.changes if one.figure == "total_cost")
    assert (total.before, total.after) == (Decimal("330240.00"), Decimal("360000.00"))
    assert saved.version == version
