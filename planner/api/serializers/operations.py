"""Jobs, alerts, webhooks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from planner.api.serializers.fields import ModelField, ObjectField, name_field
from planner.contract.answer.changes import AlertCause
from planner.models import Alert, Job, WebhookDelivery, WebhookEndpoint, WebhookEvent
from planner.services.jobs.kinds import kinds_in_queue_of
from planner.services.jobs.limits import place_in_line
from planner.services.portfolio.visibility import visible_alert
from pricing.api.rest import StrictSerializer

SUBSCRIBABLE = tuple(value for value in WebhookEvent.values if value != WebhookEvent.TEST)


class JobSerializer(serializers.ModelSerializer[Job]):
    """Poll it until `state` is succeeded, failed or cancelled; `result` or `error` says more."""

    team: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, allow_null=True
    )
    result = ObjectField(read_only=True, allow_null=True)
    error = ObjectField(read_only=True, allow_null=True)
    place_in_line = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields: tuple[str, ...] = (
            "id",
            "team",
            "kind",
            "state",
            "done",
            "total",
            "message",
            "cancel_requested",
            "error",
            "created_at",
            "started_at",
            "finished_at",
            "place_in_line",
            "result",
        )

    def get_place_in_line(self, job: Job) -> int | None:
        """1 for the job that is next; null for one that no longer waits."""
        return place_in_line(job, kinds_in_queue_of(job.kind))


class JobRowSerializer(JobSerializer):
    """A job as lists show it, without its result and its place in line."""

    result = None  # type: ignore[assignment]
    place_in_line = None  # type: ignore[assignment]

    class Meta(JobSerializer.Meta):
        fields = JobSerializer.Meta.fields[:-2]


class RefreshSerializer(StrictSerializer):
    providers = serializers.ListField(
        child=serializers.CharField(max_length=60), max_length=20, required=False
    )
    """All providers when absent."""


class AlertSerializer(serializers.ModelSerializer[Alert]):
    acknowledged_by = serializers.CharField(
        source="acknowledged_by.username", default=None, allow_null=True, read_only=True
    )
    causes = ModelField(AlertCause, many=True)
    """Empty, as both amounts are, of a joint plan that one does not see all of."""
    revisions = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = Alert
        fields = (
            "id",
            "project",
            "saved_comparison",
            "saved_portfolio",
            "kind",
            "message",
            "currency",
            "before",
            "after",
            "causes",
            "revisions",
            "created_at",
            "acknowledged_at",
            "acknowledged_by",
        )

    def to_representation(self, instance: Alert) -> dict[str, Any]:
        return super().to_representation(visible_alert(self.context["view"].access, instance))


class WebhookSerializer(serializers.ModelSerializer[WebhookEndpoint]):
    events = serializers.ListField(child=serializers.ChoiceField(SUBSCRIBABLE), read_only=True)
    secret = serializers.SerializerMethodField()
    """Given once, by the answer that creates or rotates it."""

    class Meta:
        model = WebhookEndpoint
        fields = (
            "id",
            "url",
            "description",
            "events",
            "active",
            "secret",
            "created_at",
            "updated_at",
            "version",
        )

    def get_secret(self, endpoint: WebhookEndpoint) -> str | None:
        return None


class WebhookChangesSerializer(StrictSerializer):
    url = serializers.CharField(max_length=500, required=False)
    description = name_field(required=False, allow_blank=True)
    events = serializers.ListField(
        child=serializers.ChoiceField(SUBSCRIBABLE), min_length=1, max_length=10, required=False
    )
    active = serializers.BooleanField(required=False)


class NewWebhookSerializer(WebhookChangesSerializer):
    url = serializers.CharField(max_length=500)
    events = serializers.ListField(
        child=serializers.ChoiceField(SUBSCRIBABLE), min_length=1, max_length=10
    )


class DeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    payload = ObjectField(read_only=True)

    class Meta:
        model = WebhookDelivery
        fields = (
            "id",
            "endpoint",
            "event",
            "payload",
            "state",
            "attempts",
            "next_attempt_at",
            "response_status",
            "error",
            "created_at",
            "delivered_at",
        )
