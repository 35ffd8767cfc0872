"""Alerts: raised once for what holds, closed when it holds no longer, sent to webhooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.contract.answer.common import write_decimal
from planner.contract.answer.comparison import AlertCause, OfferUsed, PriceMove
from planner.models import (
    ALL_SCOPES,
    Access,
    Alert,
    AlertKind,
    AuditEntry,
    Project,
    SavedComparison,
    SavedPortfolio,
    WebhookEvent,
)
from planner.services.teams.access import EDIT, record, require
from planner.services.webhooks.webhooks import emit
from pricing import catalog as catalogs

_EVENTS = {
    AlertKind.PRICE_MOVE: WebhookEvent.PRICE_MOVED,
    AlertKind.NOT_FEASIBLE: WebhookEvent.PRICE_MOVED,
    AlertKind.BUDGET_OVERRUN: WebhookEvent.BUDGET_OVERRUN,
}
_ENDED = "alert.ended"
"""In the audit log: what an alert said holds no longer, so that its return is told anew."""
PAID = "What was paid"
"""How a message on what was paid begins."""
NO_ROOM = " no longer fits"
"""In a message on a project of a portfolio, after its name."""
WATCHER = Access(name="budget watch", scopes=ALL_SCOPES)


@dataclass(frozen=True)
class Finding:
    """What an alert says."""

    kind: AlertKind
    message: str
    before: str = ""
    """Amount that was expected, as text."""
    after: str = ""
    """Amount now; empty where no plan is feasible any more."""


@dataclass(frozen=True)
class AlertSubject:
    """What alerts are about: a project with or without its plan, or a portfolio."""

    team_id: int
    currency: str
    project: Project | None = None
    plan: SavedComparison | None = None
    portfolio: SavedPortfolio | None = None

    @property
    def is_priced(self) -> bool:
        """Whether it follows from prices, and not from what was paid."""
        return self.plan is not None or self.portfolio is not None

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of its alerts that name it."""
        return {
            "project": self.project,
            "saved_comparison": self.plan,
            "saved_portfolio": self.portfolio,
        }


def last_total(subject: AlertSubject) -> Decimal | None:
    """What the last price alert said: a move is measured from there."""
    moves = Alert.objects.filter(**subject.columns, kind=AlertKind.PRICE_MOVE)
    last = moves.order_by("-created_at").values_list("after", flat=True).first()
    return Decimal(last) if last else None


def find_move(
    what: str, total: Decimal | None, last: Decimal | None, after: Decimal, threshold: float
) -> Iterator[Finding]:
    """A total that moved beyond the threshold since the last alert of it, else since it was
    saved."""
    baseline = last or total
    if baseline and abs(move := float(after / baseline - 1)) > threshold:
        message = f"The {what} moved by {move:+.1%} at today's prices."
        yield Finding(AlertKind.PRICE_MOVE, message, write_decimal(baseline), write_decimal(after))


def list_causes(offers: Mapping[str, OfferUsed], moves: Iterable[PriceMove]) -> list[AlertCause]:
    """The prices that moved, each with the currency that its provider asks for."""
    currencies = {name: offer.native_currency or "USD" for name, offer in offers.items()}
    return [AlertCause(**dict(row), currency=currencies.get(row.offer_id, "USD")) for row in moves]


@transaction.atomic
def create_alerts(
    subject: AlertSubject, findings: Sequence[Finding], causes: Sequence[AlertCause] = ()
) -> list[Alert]:
    """Alerts of what is new among the findings; what is not among them any more is closed."""
    revisions = (
        {r.provider: r.number for r in catalogs.revisions_in_force()} if subject.is_priced else {}
    )
    alerts = Alert.objects.filter(**subject.columns).defer("causes")
    last = {_topic(one.kind, one.message): one for one in alerts.order_by("created_at")}
    entries = AuditEntry.objects.filter(team=subject.team_id, action=_ENDED)
    ended = set(
        entries.filter(object_id__in=[str(one.pk) for one in last.values()]).values_list(
            "object_id", flat=True
        )
    )
    active_alerts = {topic: one for topic, one in last.items() if str(one.pk) not in ended}
    _close_resolved(active_alerts, findings)
    return [
        _alert(subject, finding, causes, revisions)
        for finding in findings
        if not _is_already_alerted(active_alerts, finding, revisions, subject)
    ]


def _topic(kind: str, message: str) -> tuple[str, str]:
    """What an alert is about: its kind and, of what was paid, the period; of a portfolio, the
    project that does not fit."""
    if message.startswith(PAID):
        return kind, message.partition(" is ")[0]
    name, no_room, _ = message.rpartition(NO_ROOM)
    return kind, name if no_room else ""


def _close_resolved(
    active_alerts: dict[tuple[str, str], Alert], findings: Sequence[Finding]
) -> None:
    """Writes down what holds no longer; a plan without a price says nothing of its budget."""
    topics = {_topic(finding.kind, finding.message) for finding in findings}
    if (AlertKind.NOT_FEASIBLE, "") in topics:
        return
    for topic, alert in active_alerts.items():
        if topic not in topics and alert.kind != AlertKind.PRICE_MOVE:
            record(WATCHER, _ENDED, alert)


def _is_already_alerted(
    active_alerts: dict[tuple[str, str], Alert],
    finding: Finding,
    revisions: dict[str, int],
    subject: AlertSubject,
) -> bool:
    """Whether this was said and has held since: of the same prices, or of the same amount."""
    last = active_alerts.get(_topic(finding.kind, finding.message))
    if last is None:
        return False
    if not subject.is_priced:
        now = (finding.message, finding.after, subject.currency)
        return (last.message, last.after, last.currency) == now
    return last.revisions == revisions or last.after == finding.after


def _alert(
    subject: AlertSubject,
    finding: Finding,
    causes: Sequence[AlertCause],
    revisions: dict[str, int],
) -> Alert:
    alert = Alert.objects.create(
        team_id=subject.team_id,
        **subject.columns,
        kind=finding.kind,
        message=finding.message[:500],
        currency=subject.currency,
        before=finding.before,
        after=finding.after,
        revisions=revisions,
        causes=[cause.model_dump(mode="json") for cause in causes],
    )
    event = WebhookEvent.PORTFOLIO_MOVED if subject.portfolio else _EVENTS[finding.kind]
    emit(
        subject.team_id,
        event,
        {
            "alert": str(alert.pk),
            "kind": alert.kind,
            **_name_subject(alert),
            "message": alert.message,
            "currency": alert.currency,
            "before": alert.before,
            "after": alert.after,
            "causes": alert.causes,
        },
    )
    return alert


def _name_subject(alert: Alert) -> dict[str, Any]:
    if alert.saved_portfolio is not None:
        saved = alert.saved_portfolio
        return {"saved_portfolio": str(saved.pk), "saved_portfolio_name": saved.name}
    assert alert.project is not None
    return {
        "project": str(alert.project_id),
        "project_name": alert.project.name,
        "saved_comparison": str(alert.saved_comparison_id) if alert.saved_comparison_id else None,
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
