"""Jobs, alerts, webhooks."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.answers import show_result, table_of
from planner.api.serializers.teams import ObjectField, name_field, optional_field
from planner.contract.answer.comparison import AlertCause
from planner.models import Alert, Job, WebhookDelivery, WebhookEndpoint, WebhookEvent
from planner.services.jobs.jobs import kinds_in_queue_of, place_in_line
from planner.services.portfolio.portfolios import visible_alert
from pricing.api.rest import StrictSerializer

SUBSCRIBABLE = tuple(value for value in WebhookEvent.values if value != WebhookEvent.TEST)


class JobSerializer(serializers.ModelSerializer[Job]):
    """Poll it until `state` is succeeded, failed or cancelled; `result` or `error` says more."""

    team = optional_field("team.slug")
    result = serializers.SerializerMethodField()
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

    @extend_schema_field({"type": ["object", "null"], "additionalProperties": {}})
    def get_result(self, job: Job) -> Any:
        return show_result(job.kind, job.result, getattr(self.context.get("view"), "include", ()))

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
    acknowledged_by = optional_field("acknowledged_by.username")
    causes = table_of(AlertCause)
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


class NewWebhookSerializer(StrictSerializer):
    url = serializers.CharField(max_length=500)
    description = name_field(required=False, allow_blank=True)
    events = serializers.ListField(
        child=serializers.ChoiceField(SUBSCRIBABLE), min_length=1, max_length=10
    )
    active = serializers.BooleanField(required=False)


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


POLL_AFTER_SECONDS = 1


def accepted(job: Job) -> Response:
    where = reverse("api:job-detail", kwargs={"pk": job.pk})
    headers = {"Location": where, "Retry-After": str(POLL_AFTER_SECONDS)}
    return Response(JobSerializer(job).data, status=HTTPStatus.ACCEPTED, headers=headers)


def wants_job(request: Request) -> bool:
    """Whether the caller would rather poll a job: `Prefer: respond-async` (RFC 7240)."""
    preferences = str(request.META.get("HTTP_PREFER", "")).lower().replace(";", ",").split(",")
    return "respond-async" in [preference.strip() for preference in preferences]
