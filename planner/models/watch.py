"""Alerts of the budget watch and the webhooks that carry them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from planner.models.portfolio import SavedPortfolio
from planner.models.project import Project, SavedComparison, State
from planner.models.team import NAME_LENGTH, TeamOwned, Versioned


class AlertKind(models.TextChoices):
    PRICE_MOVE = "price_move"
    BUDGET_OVERRUN = "budget_overrun"
    NOT_FEASIBLE = "not_feasible"


class Alert(TeamOwned):
    """A watched project or joint plan whose cost moved or that fits no longer, or a project that
    outgrew its budget."""

    project = models.ForeignKey(Project, null=True, on_delete=models.CASCADE, related_name="alerts")
    """Null where it is about a joint plan."""
    saved_comparison = models.ForeignKey(SavedComparison, null=True, on_delete=models.CASCADE)
    saved_portfolio = models.ForeignKey(
        SavedPortfolio, null=True, on_delete=models.CASCADE, related_name="alerts"
    )
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
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ("-created_at", "id")
        constraints = (
            models.CheckConstraint(
                condition=models.Q(project=None) ^ models.Q(saved_portfolio=None),
                name="alert_of_project_or_portfolio",
            ),
        )

    def __str__(self) -> str:
        return self.message


def watched_projects() -> models.QuerySet[Project]:
    """Projects whose plan is priced again after each refresh."""
    return Project.objects.filter(watched=True, archived=False)


def watched_portfolios() -> models.QuerySet[SavedPortfolio]:
    """Approved joint plans that are priced again after each refresh."""
    return SavedPortfolio.objects.filter(watched=True, state=State.APPROVED)


class WebhookEvent(models.TextChoices):
    APPROVED = "saved_comparison.approved"
    PRICE_MOVED = "project.price_moved"
    BUDGET_OVERRUN = "project.budget_overrun"
    PORTFOLIO_MOVED = "portfolio.price_moved"
    TEST = "test"


class WebhookEndpoint(TeamOwned, Versioned):
    """Where a team wants its events sent, and the secret that signs them."""

    url = models.URLField(max_length=500)
    description = models.CharField(max_length=NAME_LENGTH, blank=True)
    events = models.JSONField(default=list)
    active = models.BooleanField(default=True)
    secret = models.CharField(max_length=80, db_default="", editable=False)
    """Shown once, when it is made; kept as it is, since each delivery is signed with it."""
    secret_version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return self.url


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
    response_status = models.PositiveSmallIntegerField(null=True)
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
