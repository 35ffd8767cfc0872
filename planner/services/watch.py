"""The budget watch: after each refresh, watched projects are priced again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.models import (
    ALL_SCOPES,
    Access,
    ActualLine,
    Alert,
    AlertKind,
    BudgetPeriod,
    Job,
    JobState,
    Project,
    SavedComparison,
    WebhookEvent,
)
from planner.services import jobs
from planner.services.audit import record
from planner.services.jobs import Progress
from planner.services.permissions import EDIT, require
from planner.services.projects import currency_of
from planner.services.reprice import Repriced, plan_of, reprice
from planner.services.saved import summary_of
from planner.services.webhooks import emit
from pricing import catalog as catalogs
from pricing.invalid_input import InvalidInput

_EVENTS = {
    AlertKind.PRICE_MOVE: WebhookEvent.PRICE_MOVED,
    AlertKind.NOT_FEASIBLE: WebhookEvent.PRICE_MOVED,
    AlertKind.BUDGET_OVERRUN: WebhookEvent.BUDGET_OVERRUN,
}
_SYSTEM = Access(name="budget watch", scopes=ALL_SCOPES)


def start_watch(**_: object) -> None:
    """Receiver of `revision_published`: one watch, the one that waits where there is one.

    It is put in line again, as it may wait for a process that is gone.
    """
    if not Project.objects.filter(watched=True, archived=False).exists():
        return
    waiting = Job.objects.filter(kind="budget_watch", state=JobState.QUEUED).first()
    if waiting is None:
        jobs.start(_SYSTEM, "budget_watch", {}, None)
    else:
        jobs.start_again(waiting)


def watch_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Prices every watched project again; says how many alerts that gave."""
    projects = list(Project.objects.filter(watched=True, archived=False).select_related("team"))
    alerts = 0
    for index, project in enumerate(projects):
        progress.step(index, len(projects), f"Pricing {project.name}")
        alerts += len(watch_project(project))
    return {"projects": len(projects), "alerts": alerts}


def watch_project(project: Project) -> list[Alert]:
    """Alerts of one project at today's prices; the same prices never alert twice."""
    plan = plan_of(project)
    if plan is None:
        return []
    try:
        repriced = reprice(plan, catalogs.current(), plan.given)
    except InvalidInput as refusal:
        return _raise(project, plan, [(AlertKind.NOT_FEASIBLE, str(refusal), "", "")])
    findings = list(_findings(project, plan, repriced))
    return _raise(project, plan, findings, repriced.prices_moved)


def watch_spending(project: Project) -> list[Alert]:
    """An alert where what was really paid outgrew the budget of a period."""
    if not project.budget:
        return []
    lines = ActualLine.objects.filter(upload__project=project)
    length = _PERIOD_TEXT[BudgetPeriod(project.budget_period)]
    spent: dict[str, Decimal] = defaultdict(Decimal)
    for month, cost in lines.values_list("month", "cost"):
        spent[month[:length]] += Decimal(cost)
    budget = Decimal(project.budget)
    over = {period: paid for period, paid in spent.items() if paid > budget}
    return _raise(project, None, [_overspent(p, paid, budget) for p, paid in sorted(over.items())])


_PERIOD_TEXT = {BudgetPeriod.TOTAL: 0, BudgetPeriod.YEARLY: 4, BudgetPeriod.MONTHLY: 7}
"""Letters of a month (2027-01) that name its budget period."""


def _overspent(period: str, paid: Decimal, budget: Decimal) -> Finding:
    when = f" in {period}" if period else ""
    message = f"What was paid{when} is {paid / budget - 1:.1%} over the budget."
    return AlertKind.BUDGET_OVERRUN, message, f"{budget:f}", f"{paid:f}"


Finding = tuple[AlertKind, str, str, str]
"""Kind, message, amount before, amount after."""


def _findings(project: Project, plan: SavedComparison, repriced: Repriced) -> Iterator[Finding]:
    before, after = plan.summary["total_cost"], summary_of(repriced.answer)["total_cost"]
    if after is None:
        yield AlertKind.NOT_FEASIBLE, "No plan is feasible at today's prices.", before or "", ""
        return
    baseline = _last_total(plan) or before
    if baseline and (move := _move(baseline, after)) and abs(move) > project.watch_threshold:
        message = f"The cheapest plan moved by {move:+.1%} at today's prices."
        yield AlertKind.PRICE_MOVE, message, baseline, after
    budget = budget_over_horizon(project, plan)
    if budget is not None and Decimal(after) > budget:
        over = Decimal(after) / budget - 1
        message = f"The cheapest plan is {over:.1%} over the budget."
        yield AlertKind.BUDGET_OVERRUN, message, f"{budget:f}", after


def _move(before: str, after: str) -> float:
    return float(Decimal(after) / Decimal(before) - 1) if Decimal(before) else 0.0


def _last_total(plan: SavedComparison) -> str:
    """What the last price alert said: a move is measured from there."""
    moves = Alert.objects.filter(saved_comparison=plan, kind=AlertKind.PRICE_MOVE)
    return moves.order_by("-created_at").values_list("after", flat=True).first() or ""


def budget_over_horizon(project: Project, plan: SavedComparison) -> Decimal | None:
    """The project's budget for all months of the plan, in the plan's currency."""
    if not project.budget:
        return None
    months = int(plan.request.get("horizon_months", 36))
    shares = {
        BudgetPeriod.TOTAL: Decimal(1),
        BudgetPeriod.YEARLY: Decimal(months) / 12,
        BudgetPeriod.MONTHLY: Decimal(months),
    }
    return Decimal(project.budget) * shares[BudgetPeriod(project.budget_period)]


@transaction.atomic
def _raise(
    project: Project,
    plan: SavedComparison | None,
    findings: list[Finding],
    causes: list[dict[str, Any]] | None = None,
) -> list[Alert]:
    revisions = {r.provider: r.number for r in catalogs.revisions_in_force()} if plan else {}
    return [
        _alert(project, plan, finding, causes or [], revisions)
        for finding in findings
        if not _is_known(project, plan, finding, revisions)
    ]


def _is_known(
    project: Project, plan: SavedComparison | None, finding: Finding, revisions: dict[str, int]
) -> bool:
    """Whether this was said already: of the same prices, or of the same amount."""
    kind, message, _, after = finding
    said = Alert.objects.filter(project=project, saved_comparison=plan, kind=kind)
    if plan is None:
        return said.filter(message=message, after=after).exists()
    last = said.order_by("-created_at").first()
    return last is not None and (last.revisions == revisions or last.after == after)


def _alert(
    project: Project,
    plan: SavedComparison | None,
    finding: Finding,
    causes: list[dict[str, Any]],
    revisions: dict[str, int],
) -> Alert:
    kind, message, before, after = finding
    alert = Alert.objects.create(
        team_id=project.team_id,
        project=project,
        saved_comparison=plan,
        kind=kind,
        message=message[:500],
        currency=plan.summary["currency"] if plan else currency_of(project),
        before=before,
        after=after,
        revisions=revisions,
        causes=causes,
    )
    emit(project.team_id, _EVENTS[kind], _payload(alert, project))
    return alert


def _payload(alert: Alert, project: Project) -> dict[str, Any]:
    return {
        "alert": str(alert.pk),
        "kind": alert.kind,
        "project": str(project.pk),
        "project_name": project.name,
        "saved_comparison": str(alert.saved_comparison_id) if alert.saved_comparison_id else None,
        "message": alert.message,
        "currency": alert.currency,
        "before": alert.before,
        "after": alert.after,
        "causes": alert.causes,
    }


def acknowledge(access: Access, alert: Alert) -> Alert:
    """Marks an alert as seen; who did it first stays."""
    require(access, alert.team_id, EDIT)
    if alert.acknowledged_at is None:
        alert.acknowledged_at = timezone.now()
        alert.acknowledged_by_id = access.user_id
        alert.save(update_fields=["acknowledged_at", "acknowledged_by"])
        record(access, "alert.acknowledged", alert)
    return alert
