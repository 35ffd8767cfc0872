"""What happened and what is happening: audit log, idempotent answers, jobs."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from planner.models.project import Project, SavedComparison
from planner.models.team import NAME_LENGTH, Access, Role, Team, TeamOwned, TeamQuerySet, Versioned


class AppendOnlyQuerySet(TeamQuerySet):
    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError("The audit log is append-only.")

    def delete(self) -> NoReturn:
        raise TypeError("The audit log is append-only.")

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("The audit log is append-only.")

    def bulk_create(self, objs: Any, **options: Any) -> Any:  # type: ignore[override]
        """New entries are welcome; those that would overwrite what is there are not."""
        if options.get("update_conflicts"):
            raise TypeError("The audit log is append-only.")
        return super().bulk_create(objs, **options)


class AuditEntry(TeamOwned):
    """Who changed what from what to what. Written once, never changed.

    An entry of no team is of the whole server: prices released, rejected, refreshed.
    """

    team = models.ForeignKey(  # type: ignore[assignment]
        Team, null=True, on_delete=models.PROTECT, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)
    actor = models.CharField(max_length=NAME_LENGTH)
    """User name, or the token's name; kept as text so that it outlives the account."""
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64)
    object_name = models.CharField(max_length=NAME_LENGTH, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)

    objects = AppendOnlyQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        ordering = ("-at", "id")
        indexes = (models.Index(fields=("team", "-at"), name="audit_by_team"),)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor} {self.action}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("The audit log is append-only.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("The audit log is append-only.")


class IdempotencyRecord(models.Model):
    """The answer to a creation, given again to the same key and body."""

    owner = models.CharField(max_length=60)
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    """Hash of method, path and body."""
    status = models.PositiveSmallIntegerField(null=True)
    """None while the first request is still being answered."""
    body = models.JSONField(null=True)
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("owner", "key"), name="one_answer_per_key"),)

    def __str__(self) -> str:
        return f"{self.owner} {self.key}"


class JobState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


PRIVATE_JOBS = ("portfolio",)
"""Kinds whose result shows what each project pays."""


class JobQuerySet(TeamQuerySet):
    def for_access(self, access: Access) -> Self:
        """The team's jobs, portfolios only to who asked for them and to approvers; those of no
        team (price refreshes) are seen by operators."""
        teams = access.team_ids
        decides = [team for team in teams if access.has_role(team, Role.APPROVER)]
        of_others = ~Q(owner=access.person) & ~Q(team_id__in=decides)
        mine = Q(team_id__in=teams, parent=None) & ~(Q(kind__in=PRIVATE_JOBS) & of_others)
        return self.filter(mine | Q(team=None) if access.is_operator else mine)


class Job(TeamOwned):
    """Work that outlives its request: polled for progress, may be cancelled."""

    team = models.ForeignKey(  # type: ignore[assignment]
        Team, null=True, on_delete=models.CASCADE, related_name="+"
    )
    kind = models.CharField(max_length=40)
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True)
    message = models.CharField(max_length=200, blank=True)
    result = models.JSONField(null=True)
    error = models.JSONField(null=True)
    """Problem details of what made it fail."""
    cancel_requested = models.BooleanField(default=False)
    request_id = models.CharField(max_length=64, default="", db_default="", blank=True)
    """Of the request that asked for it, to find both in the log."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    owner = models.CharField(max_length=80, blank=True, db_default="")
    """Whom it counts for: a person or a token; "" for the server itself."""
    attempts = models.PositiveSmallIntegerField(db_default=0)
    """How often a process began it. What an earlier attempt still writes is not taken."""
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="parts")
    """The sweep whose requests, some of them, this job compares."""
    part = models.PositiveIntegerField(db_default=0)
    """Which part; by it sweeps take turns, behind all other jobs."""
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    """When a running job last noted its progress, or a waiting one was put in line again."""
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        ordering = ("-created_at", "id")
        indexes = (
            models.Index(
                fields=("state", "part", "created_at"),
                condition=Q(state__in=(JobState.QUEUED, JobState.RUNNING)),
                name="open_jobs",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"

    @property
    def is_over(self) -> bool:
        return self.state not in (JobState.QUEUED, JobState.RUNNING)


class SweepRow(models.Model):
    """What came of one request of a sweep; written once."""

    sweep = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="rows")
    index = models.PositiveIntegerField()
    row = models.JSONField(null=True)
    """The figures of its answer; null where it was refused."""
    errors = models.JSONField(null=True)

    class Meta:
        ordering = ("index",)
        constraints = (models.UniqueConstraint(fields=("sweep", "index"), name="one_row_each"),)

    def __str__(self) -> str:
        return f"{self.sweep_id} {self.index}"


class Schedule(models.Model):
    """When a schedule last began: whoever moves it first does what is due, once."""

    name = models.CharField(max_length=40, primary_key=True)
    started_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} {self.started_at}"


class AlertKind(models.TextChoices):
    PRICE_MOVE = "price_move"
    BUDGET_OVERRUN = "budget_overrun"
    NOT_FEASIBLE = "not_feasible"
    TRIGGER_CROSSED = "trigger_crossed"


class Alert(TeamOwned):
    """A watched project whose plan moved or fits no longer, or that outgrew its budget."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alerts")
    saved_comparison = models.ForeignKey(SavedComparison, null=True, on_delete=models.CASCADE)
    """The plan; null where the alert is about what was paid."""
    kind = models.CharField(max_length=20, choices=AlertKind.choices)
    message = models.CharField(max_length=500)
    currency = models.CharField(max_length=3)
    before = models.CharField(max_length=40, blank=True)
    """Decimal text: the total, or the budget, that was expected."""
    after = models.CharField(max_length=40, blank=True)
    """Decimal text: the total now; empty where no plan is feasible any more."""
    revisions = models.JSONField(default=dict)
    causes = models.JSONField(default=list)
    """The offers whose price moved: [{offer_id, currency, before, after}]."""
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    """When it held no longer: should it hold again, it is told anew."""
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return self.message


def watched_projects() -> models.QuerySet[Project]:
    """Projects whose plan is priced again after each refresh."""
    return Project.objects.filter(watched=True, archived=False)


class WebhookEvent(models.TextChoices):
    APPROVED = "saved_comparison.approved"
    PRICE_MOVED = "project.price_moved"
    BUDGET_OVERRUN = "project.budget_overrun"
    PRICES_HELD = "prices.held"
    TEST = "test"


class WebhookEndpoint(TeamOwned, Versioned):
    """Where a team wants messages on its events, as a URL of Apprise."""

    url = models.CharField(max_length=500, editable=False)
    """Holds a secret: it is shown nowhere once it is stored."""
    service = models.CharField(max_length=60, default="JSON", db_default="JSON")
    """What it reaches, such as Slack."""
    description = models.CharField(max_length=NAME_LENGTH, blank=True)
    events = models.JSONField(default=list)

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return self.description or self.service


class DeliveryState(models.TextChoices):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class WebhookDelivery(TeamOwned):
    """One event for one endpoint, with what became of it."""

    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries"
    )
    event = models.CharField(max_length=40, choices=WebhookEvent.choices)
    payload = models.JSONField()
    state = models.CharField(
        max_length=10, choices=DeliveryState.choices, default=DeliveryState.PENDING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    delivered_at = models.DateTimeField(null=True)
    request_id = models.CharField(max_length=64, default="", db_default="", blank=True)
    """Of the request that asked for it, to find both in the log."""

    class Meta:
        ordering = ("-created_at", "id")
        indexes = (models.Index(fields=("state", "next_attempt_at"), name="delivery_due"),)

    def __str__(self) -> str:
        return f"{self.event} {self.state}"
