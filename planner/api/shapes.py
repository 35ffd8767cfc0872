"""What answers hold that are not the contract's own: rows of the database, and what is worked out
of them."""

from __future__ import annotations

import uuid
from http import HTTPStatus
from typing import Annotated, Any, Literal

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from pydantic import WithJsonSchema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.base import PartField, show_result
from planner.api.bodies import TokenScope
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import (
    AlertCause,
    AnswerSummary,
    ComparisonAnswer,
    ShownSection,
)
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import CustomOffer, PriceAdjustment
from planner.contract.request.on_prem import Server
from planner.models import (
    ActualsUpload,
    Alert,
    AuditEntry,
    Job,
    Project,
    SavedComparison,
    SavedPortfolio,
    ServerQuote,
    State,
    Team,
    WebhookDelivery,
    WebhookEndpoint,
)
from planner.services.actuals.actuals import Completion
from planner.services.alerts.alerts import changes_since
from planner.services.projects.projects import Repriced
from pricing.common.problems import TYPE


def _name_of(source: str) -> serializers.CharField:
    return serializers.CharField(source=source, default=None, allow_null=True, read_only=True)


def _object(**options: Any) -> serializers.DictField:
    return serializers.DictField(read_only=True, **options)


def _texts(**options: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), **options)


def row_of(
    name: str, model: type[Any], *left_out: str, **fields: Any
) -> type[serializers.BaseSerializer[Any]]:
    """Rows of a table without some columns, with some fields as they are given here."""
    meta = type("Meta", (), {"model": model, "exclude": left_out})
    parts = {"__doc__": None, "Meta": meta, **fields}
    return type(f"{name}Serializer", (serializers.ModelSerializer,), parts)


# Teams ------------------------------------------------------------------------------------


class Me(AnswerModel):
    """The caller: name, teams with roles, and what this session or token may do."""

    name: str
    kind: Literal["session", "token"]
    scopes: list[TokenScope]
    teams: list[dict[str, str]]


class TeamSerializer(serializers.ModelSerializer[Team]):
    role = serializers.SerializerMethodField()
    price_adjustments = PartField(PriceAdjustment, many=True)
    custom_offers = PartField(CustomOffer, many=True)
    defaults = _object()
    project_rules = _texts(read_only=True)

    class Meta:
        model = Team
        exclude = ("id",)

    def get_role(self, team: Team) -> str:
        return str(self.context["view"].access.roles.get(team.pk, ""))


ServerQuoteSerializer = row_of("ServerQuote", ServerQuote, "team", server=PartField(Server))


AuditEntrySerializer = row_of("AuditEntry", AuditEntry, "team", before=_object(), after=_object())


# Operations -------------------------------------------------------------------------------


class JobSerializer(serializers.ModelSerializer[Job]):
    """Poll it until `state` is succeeded, failed or cancelled; `result` or `error` says more."""

    team = _name_of("team.slug")
    result = serializers.SerializerMethodField()
    error = _object(allow_null=True)

    class Meta:
        model = Job
        exclude: tuple[str, ...] = (
            *("arguments", "request_id", "created_by", "owner", "attempts", "heartbeat_at"),
            *("parent", "part"),
        )

    @extend_schema_field({"type": ["object", "null"], "additionalProperties": {}})
    def get_result(self, job: Job) -> Any:
        return show_result(job.kind, job.result, getattr(self.context.get("view"), "include", ()))


class JobRowSerializer(JobSerializer):
    """A job as lists show it, without its result."""

    result = None  # type: ignore[assignment]

    class Meta(JobSerializer.Meta):
        exclude = (*JobSerializer.Meta.exclude, "result")


POLL_AFTER_SECONDS = 1


def accepted(job: Job) -> Response:
    where = reverse("api:job-detail", kwargs={"pk": job.pk})
    headers = {"Location": where, "Retry-After": str(POLL_AFTER_SECONDS)}
    return Response(JobSerializer(job).data, status=HTTPStatus.ACCEPTED, headers=headers)


def wants_job(request: Request) -> bool:
    """Whether the caller would rather poll a job: `Prefer: respond-async` (RFC 7240)."""
    preferences = str(request.META.get("HTTP_PREFER", "")).lower().replace(";", ",").split(",")
    return "respond-async" in [preference.strip() for preference in preferences]


AlertSerializer = row_of(
    "Alert",
    Alert,
    "team",
    acknowledged_by=_name_of("acknowledged_by.username"),
    causes=PartField(AlertCause, many=True),
    revisions=serializers.DictField(child=serializers.IntegerField(), read_only=True),
)


# The URL is a secret: no answer has it.
WebhookSerializer = row_of("Webhook", WebhookEndpoint, "team", "url", events=_texts(read_only=True))


DeliverySerializer = row_of("Delivery", WebhookDelivery, "team", "request_id", payload=_object())


# Projects ---------------------------------------------------------------------------------


ProjectSerializer = row_of(
    "Project",
    Project,
    "created_by",
    team=serializers.CharField(source="team.slug", read_only=True),
    workload=_object(),
    assumptions=_object(),
)


class SavedComparisonSerializer(serializers.ModelSerializer[SavedComparison]):
    """One saved comparison as lists show it."""

    summary = PartField(AnswerSummary, source="read_summary")
    revisions = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    stale = serializers.SerializerMethodField()
    state = serializers.ChoiceField(State.choices, read_only=True)
    submitted_by = _name_of("submitter")
    sent_back_by = _name_of("sender")
    approved_by = _name_of("approver")

    class Meta:
        model = SavedComparison
        exclude: tuple[str, ...] = (
            *("team", "created_by", "submitted_key"),
            *("submitted_as", "sent_back_as", "approved_as"),
            *("given", "request", "rows", "answer"),
        )

    def get_stale(self, saved: SavedComparison) -> bool:
        return bool(changes_since(saved, self.context["view"].current_revisions))


class SavedComparisonDetailSerializer(SavedComparisonSerializer):
    """All that the answer came from, frozen."""

    given = _object()
    request = PartField(ComparisonRequest)
    rows = PartField(ShownSection, many=True, required=False)
    """What its page shows, where it is included."""
    answer = PartField(ComparisonAnswer)
    """As it was given, with the tables that are included."""

    class Meta(SavedComparisonSerializer.Meta):
        exclude = SavedComparisonSerializer.Meta.exclude[:-4]

    def to_representation(self, instance: SavedComparison) -> dict[str, Any]:
        values = super().to_representation(instance)
        if "rows" not in self.context["view"].include:
            del values["rows"]
        return values


UploadSerializer = row_of(
    "Upload",
    ActualsUpload,
    "team",
    format=serializers.ChoiceField(("csv", "focus", "usage"), read_only=True),
    uploaded_by=_name_of("uploaded_by.username"),
)


class UploadedSerializer(UploadSerializer):  # type: ignore[valid-type, misc]
    warnings = _texts(
        help_text="Rows with more use than machines could give in the time, and months that an "
        "earlier upload counts too, and how to take that one out."
    )


Row = Annotated[dict[str, Any], WithJsonSchema({"judged_as": "Row"})]


class Variance(AnswerModel):
    """Money as text, hours as accelerator-hours; those of machines whose accelerators are not
    known are not counted and are named in the warnings."""

    currency: str
    saved_comparison: uuid.UUID | None
    months: list[Row]
    categories: list[Row]
    total: Row
    warnings: list[str]
    """Hours that could not be turned into accelerator-hours, and the remedy."""
    completion: Completion | None


_PORTFOLIO: dict[str, Any] = {
    "team": serializers.CharField(source="team.slug", read_only=True),
    "created_by": _name_of("created_by.username"),
}
_UNLISTED = ("request", "created_key", "updated_at")
SavedPortfolioSerializer = row_of(
    "SavedPortfolio", SavedPortfolio, *_UNLISTED, "answer", **_PORTFOLIO
)
SavedPortfolioDetailSerializer = row_of(
    "SavedPortfolioDetail",
    SavedPortfolio,
    *_UNLISTED,
    answer=PartField(PortfolioAnswer),
    **_PORTFOLIO,
)


# Answers at once --------------------------------------------------------------------------


class Usage(AnswerModel):
    """Sums of files: money as text, hours as numbers; null where a file does not state it."""

    files: list[Row]
    complete: bool
    rows: Row
    row_count: int
    not_understood: list[str]
    problems: dict[str, int]
    warnings: list[str]
    notes: list[str]
    totals: list[Row]
    months: list[Row]
    use: list[Row]
    charges: list[Row]
    commitments: list[Row]
    unused: list[Row]
    peaks: list[Row]
    idle: list[Row]
    demand: Row | None
    no_demand_because: str
    portfolio: Row | None
    questions: dict[str, list[str]]


COMPUTED: tuple[type[AnswerModel], ...] = (AnswerSummary, *(Me, Repriced, Variance, Usage))


class ProblemErrorSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(allow_blank=True)
    code = serializers.CharField(
        help_text="required, unknown_field, unknown_value, out_of_range, wrong_type, invalid, or "
        "more for what is not listed."
    )
    value = serializers.JSONField(help_text="The plain value that was refused; null for any other.")
    message = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True, help_text="What would do; may be empty.")


class ProblemSerializer(serializers.Serializer[Any]):
    """RFC 9457 problem details; `errors` names each field that was refused."""

    type = serializers.CharField(help_text=f"`{TYPE}` and the code.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField(
        help_text="What kind of refusal it is, such as invalid_request, not_authenticated, "
        "not_found, conflict or throttled."
    )
    detail = serializers.CharField(allow_blank=True)
    remedy = serializers.CharField(allow_blank=True, help_text="What would do; may be empty.")
    errors = ProblemErrorSerializer(many=True)  # type: ignore[assignment]
