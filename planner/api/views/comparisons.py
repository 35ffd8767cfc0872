"""Comparisons and estimates: one request in, one answer out, the same as page and command."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.authentication import access_of_request
from planner.api.downloads import EXPORT_SCHEMA, SCENARIO, download
from planner.api.errors import require_length
from planner.api.idempotency import Write, idempotent
from planner.api.jobs import accepted, wants_job
from planner.api.serializers.fields import ModelField, ObjectField
from planner.api.serializers.operations import JobSerializer
from planner.contract.answer.calibration import CalibrationAnswer
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.request.comparison import ComparisonRequest
from planner.exports import Context
from planner.models import Access, Team
from planner.services.jobs import jobs
from planner.services.projects import comparisons
from planner.services.teams.teams import resolve_team
from planner.sizing.calibration.pilot import CalibrationRequest
from planner.sizing.estimate import EstimateRequest
from pricing.api.plain_view import PlainView
from pricing.api.rest import Query, StrictSerializer
from pricing.common.invalid_input import InvalidInput

TEAM = OpenApiParameter(
    "team", str, description="A team of yours, whose prices and assumptions are inherited."
)
TEAM_NEEDS_CALLER = (
    "Nobody is signed in, so there is no team to take rates from; send a token of the team as "
    "Authorization: Bearer, sign in, or leave team out."
)
PREFER = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description="respond-async answers 202 with a job of the team that is named.",
)


class BatchItemSerializer(StrictSerializer):
    key = serializers.CharField(max_length=100)
    request = ObjectField(ComparisonRequest)


class BatchSerializer(StrictSerializer):
    items = serializers.ListField(
        child=BatchItemSerializer(), min_length=1, max_length=comparisons.MAX_BATCH
    )


class FieldErrorSerializer(serializers.Serializer[Any]):
    """What is wrong with one field."""

    field = serializers.CharField()
    message = serializers.CharField()


class BatchResultSerializer(serializers.Serializer[Any]):
    """Either `answer` or `errors`."""

    key = serializers.CharField()
    answer = ModelField(ComparisonAnswer, required=False)
    errors = FieldErrorSerializer(many=True, required=False)  # type: ignore[assignment]


class BatchResultsSerializer(serializers.Serializer[Any]):
    results = BatchResultSerializer(many=True)


class MarketView(PlainView):
    """What anyone who can reach the server may ask, unless LOGIN_REQUIRED."""

    throttle_cost = 3
    too_large_hint = "leave out private offers, quotas and servers that cannot matter"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        require_length(request)

    @property
    def access(self) -> Access:
        return access_of_request(self.request)

    def team(self, request: Request, *others: str) -> Team | None:
        """The team that the query names, whose rates apply; only a member may name it."""
        slug = Query(request, "team", *others).text("team")
        if slug is None:
            return None
        if self.access.is_anonymous:
            raise NotAuthenticated(TEAM_NEEDS_CALLER)
        return resolve_team(self.access, slug)

    def job(self, request: Request, kind: str, arguments: dict[str, Any]) -> Write | None:
        """What starts a job instead of an answer, for a caller who prefers that and has a team
        for it."""
        if self.access.is_anonymous or not wants_job(request):
            return None
        team = resolve_team(self.access, Query(request, "team").text("team"))
        return lambda: accepted(jobs.start(self.access, kind, arguments, team))


class ComparisonsView(MarketView):
    @extend_schema(
        request=ComparisonRequest,
        responses={200: ComparisonAnswer, 202: JobSerializer},
        parameters=[TEAM, PREFER],
    )
    @idempotent
    def post(self, request: Request) -> Response | Write:
        """Compares renting, owning and mixing for one workload."""
        team = self.team(request)
        job = self.job(request, "comparison", {"request": request.data})
        return job or Response(comparisons.compare_for_team(request.data, team).answer)


class ComparisonBatchView(MarketView):
    throttle_cost = 30
    too_large_hint = "send its items in several batches"

    @extend_schema(
        request=BatchSerializer,
        responses={200: BatchResultsSerializer, 202: JobSerializer},
        parameters=[TEAM, PREFER],
    )
    @idempotent
    def post(self, request: Request) -> Response | Write:
        """Many comparisons at once; one that is refused says why and stops no other."""
        team = self.team(request)
        reader = BatchSerializer(data=request.data)
        reader.is_valid(raise_exception=True)
        items = reader.validated_data["items"]
        keys = [item["key"] for item in items]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                raise InvalidInput(f"items.{index}.key", f"{key!r} is given twice")
        job = self.job(request, "comparison_batch", {"items": items})
        return job or Response({"results": list(comparisons.compare_batch(items, team))})


class ComparisonExportView(MarketView):
    @extend_schema(request=ComparisonRequest, responses=EXPORT_SCHEMA, parameters=[TEAM, SCENARIO])
    def post(self, request: Request, form: str) -> HttpResponse:
        """A comparison as csv, xlsx, json or FOCUS 1.2 rows, without saving it."""
        team = self.team(request, "scenario")
        outcome = comparisons.compare_for_team(request.data, team)
        context = Context(
            name=str(outcome.resolved_request.get("name") or "comparison"),
            team=team.name if team else "",
            scenario=request.query_params.get("scenario", ""),
            request=outcome.resolved_request,
        )
        return download(outcome.answer, context, form)


class CalibrationsView(MarketView):
    too_large_hint = (
        "send fewer lines of the log, such as every tenth, or read it with manage.py calibrate"
    )

    @extend_schema(request=CalibrationRequest, responses=CalibrationAnswer)
    @idempotent
    def post(self, request: Request) -> Response:
        """What a run of one's own says: the use of its GPUs, and its rate in place of an
        estimate."""
        Query(request)
        return Response(comparisons.calibrate_run(request.data).to_json())


class EstimatesView(MarketView):
    too_large_hint = "give the model by its name or its few figures"

    @extend_schema(request=EstimateRequest, responses=EstimateAnswer)
    @idempotent
    def post(self, request: Request) -> Response:
        """Memory, accelerator-hours and duration of a workload, with their ranges."""
        Query(request)
        return Response(comparisons.estimate_request(request.data))
