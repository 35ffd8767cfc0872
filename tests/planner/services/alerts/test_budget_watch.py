"""The budget watch: new prices, watched projects priced again, alerts told once."""

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import pytest

from planner.models import Alert, AlertKind, AuditEntry, Job, Project, WebhookEvent
from planner.services.actuals import actuals
from planner.services.alerts import alerts as budget_watch
from planner.services.projects import projects
from planner.services.projects.projects import current_plan
from pricing.models import Revision
from pricing.publish.publication import revision_published
from tests.planner.workspace import PLAIN, WORKLOAD, Workspace, market

pytestmark = pytest.mark.django_db
NO_SPOT = {
    "constraints": {"purchase_options": ["on_demand"]},
    "on_prem": {"servers": []},
    "finance": {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0},
}
"""Rent on demand alone, so that a total is hours times price."""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(
        budget_watch, "emit", lambda team, event, title, text: told.append((event, text))
    )
    return told


def project(work: Workspace, **values: Any) -> Project:
    assumptions = {**PLAIN, **NO_SPOT}
    row = work.project(watched=True, assumptions=assumptions, **values)
    work.saved(row)
    return row


def refreshed(price: str, day: int) -> None:
    """New prices, and what follows from their commit."""
    market(price, dt.date(2026, 11, day))
    revision_published.send(Revision, revision=Revision.objects.last())


def alerts() -> list[tuple[str, str, str]]:
    return list(Alert.objects.order_by("created_at").values_list("kind", "before", "after"))


def test_a_move_beyond_the_threshold_is_listed_and_told(work: Workspace, told: list) -> None:
    row = project(work)
    refreshed("60.00", 5)
    assert alerts() == [("price_move", "165120.00", "180000.00")]
    event, text = told[0]
    assert event == WebhookEvent.PRICE_MOVED
    said, advice, link = text.split("\n\n")
    assert said.endswith("Before: 165,120 USD. Now: 180,000 USD.")
    assert advice.startswith("Plan of today: Rent ")
    assert link.endswith(f"/projects/{row.pk}/")
    assert Alert.objects.get().causes == [
        {
            "offer_id": "aws:us-east-1:p5.48xlarge:on_demand",
            "before": "55.04",
            "after": "60",
            "currency": "USD",
        }
    ]


def test_the_same_prices_are_told_once(work: Workspace, told: list) -> None:
    row = project(work)
    refreshed("60.00", 5)
    budget_watch.watch_project(row)
    refreshed("60.00", 6)
    assert len(alerts()) == len(told) == 1


def test_the_next_move_is_measured_from_the_last_alert(work: Workspace, told: list) -> None:
    project(work)
    for day, price in ((5, "60.00"), (6, "61.00"), (7, "70.00")):
        refreshed(price, day)
    assert alerts() == [
        ("price_move", "165120.00", "180000.00"),
        ("price_move", "180000.00", "210000.00"),
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("budget", "period"), [("170000", "total"), ("28000", "monthly"), ("340000", "yearly")]
)
def test_outgrowing_the_budget_is_told(
    work: Workspace, told: list, budget: str, period: str
) -> None:
    row = project(work, budget=budget, budget_period=period, watch_threshold=9.0)
    plan = current_plan(row)
    assert plan is not None
    assert Decimal(plan.summary["total_cost"]) < (budget_watch.budget_over_horizon(row, plan) or 0)
    refreshed("60.00", 5)
    assert [kind for kind, _, _ in alerts()] == [AlertKind.BUDGET_OVERRUN]
    assert told[0][0] == WebhookEvent.BUDGET_OVERRUN


def test_a_plan_that_is_no_longer_possible_is_told(
    work: Workspace, told: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = project(work)
    row.team.custom_offers = []
    plan = current_plan(row)
    assert plan is not None
    plan.given["constraints"]["regions"] = ["us-gone-1"]
    plan.save()
    budget_watch.watch_project(row)
    assert [kind for kind, _, _ in alerts()] == [AlertKind.NOT_FEASIBLE]


def test_what_is_no_longer_possible_a_second_time_is_told_again(
    work: Workspace, told: list
) -> None:
    market("40.00", dt.date(2026, 11, 2))
    limited = {**NO_SPOT, "constraints": {**NO_SPOT["constraints"], "monthly_budget": 25_000}}
    assumptions = {**PLAIN, **limited}
    row = work.project(watched=True, watch_threshold=9.0, assumptions=assumptions)
    work.saved(row)
    for day, price, known in (
        (3, "56.00", 1),
        (4, "57.00", 1),
        (5, "40.32", 1),
        (6, "40.33", 1),
        (7, "56.45", 2),
        (8, "57.45", 2),
    ):
        refreshed(price, day)
        assert [kind for kind, _, _ in alerts()] == ["not_feasible"] * known, price
    assert Alert.objects.exclude(ended_at=None).count() == 1


def test_a_budget_in_another_currency_is_not_held_against_the_plan(
    work: Workspace, told: list
) -> None:
    row = project(work, budget="170000", watch_threshold=9.0)
    changed = {**row.assumptions, "currency": "JPY", "exchange_rates": {"JPY": 150}}
    projects.change_project(work.access(), row, {"assumptions": changed})
    refreshed("60.00", 5)
    assert alerts() == []


@pytest.mark.parametrize("change", [{"watched": False}, {"archived": True}])
def test_only_watched_projects_are_priced(work: Workspace, told: list, change: dict) -> None:
    row = project(work)
    Project.objects.filter(pk=row.pk).update(**change)
    refreshed("99.00", 5)
    assert alerts() == []
    assert not Job.objects.exists()


def test_a_watch_that_waits_is_not_doubled(work: Workspace, settings) -> None:
    project(work)
    settings.TASKS_INLINE = False
    refreshed("60.00", 5)
    refreshed("61.00", 6)
    assert Job.objects.count() == 1


def test_an_alert_is_acknowledged_once(work: Workspace, told: list) -> None:
    project(work)
    refreshed("60.00", 5)
    alert = Alert.objects.get()
    first = budget_watch.acknowledge(work.access(), alert).acknowledged_at
    assert budget_watch.acknowledge(work.access(), alert).acknowledged_at == first
    assert AuditEntry.objects.filter(action="alert.acknowledged").count() == 1


@pytest.mark.parametrize(
    ("period", "budget", "says"),
    [
        ("total", "80", "What was paid is 25.0% over the budget."),
        ("monthly", "59", "What was paid in 2027-02 is 1.7% over the budget."),
        ("yearly", "50", "What was paid in 2027 is 100.0% over the budget."),
    ],
)
def test_spending_beyond_the_budget_is_told_once(
    work: Workspace, told: list, period: str, budget: str, says: str
) -> None:
    row = work.project(budget=budget, budget_period=period)
    text = b"month,cost\n2026-12,0\n2027-01,40\n2027-02,60\n"
    actuals.load_actuals(work.access(), row, io.BytesIO(text))
    assert [alert.message for alert in Alert.objects.all()] == [says]
    assert told[0][0] == WebhookEvent.BUDGET_OVERRUN
    budget_watch.watch_spending(row)
    assert len(told) == 1


def paid(work: Workspace, row: Project, text: str) -> Any:
    return actuals.load_actuals(work.access(), row, io.BytesIO(f"month,cost\n{text}".encode()))


def test_spending_counts_what_was_paid_in_the_currency_of_the_budget(
    work: Workspace, told: list
) -> None:
    row = work.project(budget="100")
    paid(work, row, "2027-01,90\n")
    changed = {**row.assumptions, "currency": "JPY", "exchange_rates": {"JPY": 150}}
    projects.change_project(work.access(), row, {"assumptions": changed})
    row.refresh_from_db()
    paid(work, row, "2027-01,60\n")
    assert alerts() == []
    paid(work, row, "2027-02,50\n")
    assert alerts() == [("budget_overrun", "100.00", "110.00")]
    assert "Now: 110 JPY." in told[0][1]


def test_spending_that_is_again_too_much_is_told_again(work: Workspace, told: list) -> None:
    row = work.project(budget="100", budget_period="monthly")
    paid(work, row, "2027-01,150\n")
    much = paid(work, row, "2027-02,120\n")
    actuals.delete_upload(work.access(), much)
    paid(work, row, "2027-02,20\n")
    assert len(told) == 2
    paid(work, row, "2027-02,100\n")
    paid(work, row, "2027-03,1\n")
    messages = [text.partition(" Before: ")[0] for _, text in told]
    assert messages == [
        "What was paid in 2027-01 is 50.0% over the budget.",
        "What was paid in 2027-02 is 20.0% over the budget.",
        "What was paid in 2027-02 is 20.0% over the budget.",
    ]


def test_a_price_that_the_plan_waits_for_is_told_once_with_the_plan_of_today(
    work: Workspace, told: list
) -> None:
    market_rent = {
        "label": "Market",
        "provider": "market",
        "accelerator": "H100 SXM",
        "accelerator_count": 8,
        "purchase_option": "on_demand",
        "usd_per_hour": 22.0,
    }
    asked = {
        "horizon_months": 48,
        "use_catalog": False,
        "custom_offers": [market_rent],
        "on_prem": {"servers": [{"server": "hgx-h100-8"}], "utilisation_ceiling": 1},
        "finance": NO_SPOT["finance"],
    }
    row = work.project(
        watched=True,
        watch_threshold=9.0,
        workload={**WORKLOAD, "hours_per_month": 5840},
        assumptions={**PLAIN, **asked},
    )
    plan = work.saved(row)
    policy = plan.read_plan().policy
    assert policy is not None
    assert policy.triggers[0].price_of == "H100 rent"
    assert budget_watch.watch_project(row) == []

    def at(usd_per_hour: float) -> list[Alert]:
        plan.given["custom_offers"] = [{**market_rent, "usd_per_hour": usd_per_hour}]
        plan.save()
        return budget_watch.watch_project(row)

    (alert,) = at(32.0)
    assert alert.kind == AlertKind.TRIGGER_CROSSED
    assert (alert.before, alert.after) == ("2.75", "4.00")
    assert alert.message.startswith("H100 rent is 4.00 USD, above 3.")
    assert "buy 1 × HGX H100 server" in alert.message
    assert "Plan of today: " in alert.message
    assert [event for event, _ in told] == [WebhookEvent.PRICE_MOVED]
    assert at(32.0) == []
    assert at(22.0) == []
    alert.refresh_from_db()
    assert alert.ended_at is not None
