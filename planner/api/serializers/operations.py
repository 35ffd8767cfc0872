"""Jobs, alerts, webhooks."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.serializers.teams import ModelField, ObjectField, name_field
from planner.contract.answer.comparison import AlertCause
from planner.models import Alert, Job, WebhookDelivery, WebhookEndpoint, WebhookEvent
from planner.services.jobs.jobs import kinds_in_queue_of, place_in_line
from planner.services.portfolio.portfolios import visible_alert
from pricing.api.rest import StrictSerializer
from pricing.models import QuarantinedBatch, QuarantinedPrice

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


class QuarantinedBatchSerializer(serializers.ModelSerializer[QuarantinedBatch]):
    reasons = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = QuarantinedBatch
        fields = ("id", "provider", "state", "reasons", "offer_count", "created_at",
                  "seen_again_at")  # fmt: skip


class MovedPriceSerializer(serializers.Serializer[Any]):
    price_per_hour = serializers.CharField()
    upfront = serializers.CharField()
    currency = serializers.CharField()
    as_of = serializers.CharField()


class QuarantinedPriceSerializer(serializers.ModelSerializer[QuarantinedPrice]):
    before = MovedPriceSerializer(read_only=True, help_text="The price in force.")
    after = MovedPriceSerializer(read_only=True, help_text="The price that waits.")
    ratio = serializers.FloatField(read_only=True, help_text="New price over the one in force.")
    revision = serializers.IntegerField(
        source="revision.number", default=None, allow_null=True, read_only=True,
        help_text="The revision that published it.",
    )  # fmt: skip

    class Meta:
        model = QuarantinedPrice
        fields = ("id", "provider", "offer_id", "state", "before", "after", "ratio",
                  "created_at", "seen_again_at", "revision")  # fmt: skip


POLL_AFTER_SECONDS = 1


def accepted(job: Job) -> Response:
    where = reverse("api:job-detail", kwargs={"pk": job.pk})
    headers = {"Location": where, "Retry-After": str(POLL_AFTER_SECONDS)}
    return Response(JobSerializer(job).data, status=HTTPStatus.ACCEPTED, headers=headers)


def wants_job(request: Request) -> bool:
    """Whether the caller would rather poll a job: `Prefer: respond-async` (RFC 7240)."""
    preferences = str(request.META.get("HTTP_PREFER", "")).lower().replace(";", ",").split(",")
    return "respond-async" in [preference.strip() for preference in preferences]
