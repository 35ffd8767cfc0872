"""The budget watch: after each refresh, watched projects are priced again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.contract.answer.changes import AlertCause
from planner.contract.answer.common import write_decimal
from planner.contract.answer.comparison import OfferUsed
from planner.contract.answer.summary import summarize_answer
from planner.models import (
    ALL_SCOPES,
    Access,
    ActualLine,
    Alert,
    AlertKind,
    AuditEntry,
    BudgetPeriod,
    Job,
    JobState,
    Project,
    SavedComparison,
    WebhookEvent,
)
from planner.services.jobs import jobs
from planner.services.jobs.jobs import Progress
from planner.services.jobs.recovery import start_again
from planner.services.projects.projects import project_currency
from planner.services.projects.reprice import Repriced, current_plan, reprice
from planner.services.teams.audit import record
from planner.services.teams.permissions import EDIT, require
from planner.services.webhooks.webhooks import emit
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput

_EVENTS = {
    AlertKind.PRICE_MOVE: WebhookEvent.PRICE_MOVED,
    AlertKind.NOT_FEASIBLE: WebhookEvent.PRICE_MOVED,
    AlertKind.BUDGET_OVERRUN: WebhookEvent.BUDGET_OVERRUN,
}
_ENDED = "alert.ended"
"""In the audit log: what an alert said holds no longer, so that its return is told anew."""
_PAID = "What was paid"
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
        start_again(waiting)


def watch_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Prices every watched project again; says how many alerts that gave."""
    projects = list(Project.objects.filter(watched=True, archived=False).select_related("team"))
    alerts = 0
    for index, project in enumerate(projects):
        progress.step(index, len(projects), f"Pricing {project.name}")
        alerts += len(watch_project(project))
    return {"projects": len(projects), "alerts": alerts}


def watch_project(project: Project) -> list[Alert]:
    """Alerts of one project at today's prices; the same prices never alert twice.

    The plan is priced in the currency of its own answer, whatever its project's is by now.
    """
    plan = current_plan(project)
    if plan is None:
        return []
    request = {**plan.given, "currency": plan.read_summary().currency}
    try:
        repriced = reprice(plan, catalogs.current(), request)
    except InvalidInput as refusal:
        return _create_alerts(project, plan, [(AlertKind.NOT_FEASIBLE, str(refusal), "", "")])
    findings = list(_find_problems(project, plan, repriced))
    return _create_alerts(project, plan, findings, _causes(plan, repriced))


def _causes(plan: SavedComparison, repriced: Repriced) -> list[AlertCause]:
    """The prices that moved, each with the currency that its provider asks for."""
    offers = plan.read_answer().offers
    return [
        AlertCause(**dict(row), currency=_native_currency(offers.get(row.offer_id)))
        for row in repriced.prices_moved
    ]


def _native_currency(offer: OfferUsed | None) -> str:
    return (offer and offer.native_currency) or "USD"


def watch_spending(project: Project) -> list[Alert]:
    """An alert where what was really paid outgrew the budget of a period, watched or not.

    Only what was paid in the currency of the budget is held against it.
    """
    if not project.budget:
        return []
    budget = Decimal(project.budget)
    spent = {period: paid.quantize(_CENT) for period, paid in _spent_by_period(project).items()}
    over = sorted((period, paid) for period, paid in spent.items() if paid > budget)
    return _create_alerts(
        project, None, [_overspent(period, paid, budget) for period, paid in over]
    )


def _spent_by_period(project: Project) -> dict[str, Decimal]:
    """What was paid in each period of the project's budget."""
    lines = ActualLine.objects.filter(
        upload__project=project, upload__currency=project_currency(project)
    )
    length = _PERIOD_TEXT[BudgetPeriod(project.budget_period)]
    spent: dict[str, Decimal] = defaultdict(Decimal)
    for month, cost in lines.values_list("month", "cost"):
        spent[month[:length]] += Decimal(cost)
    return spent


_CENT = Decimal("0.01")
_PERIOD_TEXT = {BudgetPeriod.TOTAL: 0, BudgetPeriod.YEARLY: 4, BudgetPeriod.MONTHLY: 7}
"""Letters of a month (2027-01) that name its budget period."""


def _overspent(period: str, paid: Decimal, budget: Decimal) -> Finding:
    when = f" in {period}" if period else ""
    message = f"{_PAID}{when} is {paid / budget - 1:.1%} over the budget."
    return AlertKind.BUDGET_OVERRUN, message, f"{budget.quantize(_CENT):f}", f"{paid:f}"


Finding = tuple[AlertKind, str, str, str]
"""Kind, message, amount before, amount after."""


def _find_problems(
    project: Project, plan: SavedComparison, repriced: Repriced
) -> Iterator[Finding]:
    then, after = plan.read_summary(), summarize_answer(repriced.answer).total_cost
    if after is None:
        before = "" if then.total_cost is None else write_decimal(then.total_cost)
        yield AlertKind.NOT_FEASIBLE, "No plan is feasible at today's prices.", before, ""
        return
    baseline = _last_total(plan) or then.total_cost
    if baseline and (move := float(after / baseline - 1)) and abs(move) > project.watch_threshold:
        message = f"The cheapest plan moved by {move:+.1%} at today's prices."
        yield AlertKind.PRICE_MOVE, message, write_decimal(baseline), write_decimal(after)
    is_comparable = then.currency == project_currency(project)
    budget = budget_over_horizon(project, plan) if is_comparable else None
    if budget is not None and after > budget:
        message = f"The cheapest plan is {after / budget - 1:.1%} over the budget."
        rounded = write_decimal(budget.quantize(_CENT))
        yield AlertKind.BUDGET_OVERRUN, message, rounded, write_decimal(after)


def _last_total(plan: SavedComparison) -> Decimal | None:
    """What the last price alert said: a move is measured from there."""
    moves = Alert.objects.filter(saved_comparison=plan, kind=AlertKind.PRICE_MOVE)
    last = moves.order_by("-created_at").values_list("after", flat=True).first()
    return Decimal(last) if last else None


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
def _create_alerts(
    project: Project,
    plan: SavedComparison | None,
    findings: list[Finding],
    causes: Sequence[AlertCause] = (),
) -> list[Alert]:
    revisions = {r.provider: r.number for r in catalogs.revisions_in_force()} if plan else {}
    active_alerts = _active_alerts(project, plan)
    _close_resolved(active_alerts, findings)
    return [
        _alert(project, plan, finding, causes, revisions)
        for finding in findings
        if not _is_already_alerted(active_alerts, finding, revisions, project)
    ]


def _subject(kind: str, message: str) -> tuple[str, str]:
    """What an alert is about: its kind and, of what was paid, the period."""
    return kind, message.partition(" is ")[0] if message.startswith(_PAID) else ""


def _active_alerts(project: Project, plan: SavedComparison | None) -> dict[tuple[str, str], Alert]:
    """The last alert on each subject, less those of which it is written down that they ended."""
    alerts = Alert.objects.filter(project=project, saved_comparison=plan).defer("causes")
    last = {_subject(one.kind, one.message): one for one in alerts.order_by("created_at")}
    entries = AuditEntry.objects.filter(team=project.team_id, action=_ENDED)
    ended = set(
        entries.filter(object_id__in=[str(one.pk) for one in last.values()]).values_list(
            "object_id", flat=True
        )
    )
    return {subject: one for subject, one in last.items() if str(one.pk) not in ended}


def _close_resolved(active_alerts: dict[tuple[str, str], Alert], findings: list[Finding]) -> None:
    """Writes down what holds no longer; a plan without a price says nothing of its budget."""
    subjects = {_subject(kind, message) for kind, message, *_ in findings}
    if any(kind == AlertKind.NOT_FEASIBLE for kind, _ in subjects):
        return
    for subject, alert in active_alerts.items():
        if subject not in subjects and alert.kind != AlertKind.PRICE_MOVE:
            record(_SYSTEM, _ENDED, alert)


def _is_already_alerted(
    active_alerts: dict[tuple[str, str], Alert],
    finding: Finding,
    revisions: dict[str, int],
    project: Project,
) -> bool:
    """Whether this was said and has held since: of the same prices, or of the same amount."""
    kind, message, _, after = finding
    last = active_alerts.get(_subject(kind, message))
    if last is None:
        return False
    if last.saved_comparison_id is None:
        now = (message, after, project_currency(project))
        return (last.message, last.after, last.currency) == now
    return last.revisions == revisions or last.after == after


def _alert(
    project: Project,
    plan: SavedComparison | None,
    finding: Finding,
    causes: Sequence[AlertCause],
    revisions: dict[str, int],
) -> Alert:
    kind, message, before, after = finding
    alert = Alert.objects.create(
        team_id=project.team_id,
        project=project,
        saved_comparison=plan,
        kind=kind,
        message=message[:500],
        currency=plan.read_summary().currency if plan else project_currency(project),
        before=before,
        after=after,
        revisions=revisions,
        causes=[cause.model_dump(mode="json") for cause in causes],
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
