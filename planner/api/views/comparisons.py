"""Comparisons and estimates: one request in, one answer out, the same as page and command."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.db import models
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.base import AnswerView, TeamViewSet, render_answer
from planner.api.bodies import NewSweep
from planner.api.media import FileParser, Write, idempotent, require_length
from planner.api.shapes import JobSerializer, ProblemErrorSerializer, Usage, accepted, wants_job
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.portfolio import PortfolioRequest
from planner.models import Job, SweepRow, Team
from planner.services.jobs import jobs
from planner.services.portfolio import portfolios
from planner.services.projects import comparisons
from planner.services.teams.teams import resolve_team, rules_of
from planner.sizing.estimate import EstimateRequest
from planner.usage.forecast import MAX_MONTHS
from planner.usage.projects import DEFAULT_SOURCES, ProjectRule
from planner.usage.projects_together import build_portfolio, read_meaning
from planner.usage.question import (
    DEFAULT_BY,
    MAX_GROWTH,
    WAITING_BYTES,
    WAITING_ROWS,
    UsageQuestion,
    answer_usage,
)
from pricing.api.pages import PAGE_PARAMETERS, PlainView
from pricing.api.rest import Query
from pricing.api.schema import number_to, parameter
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


class MarketView(AnswerView, PlainView):
    """What anyone who can reach the server may ask, unless LOGIN_REQUIRED."""

    is_computing = True
    too_large_hint = "leave out private offers, quotas and servers that cannot matter"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        require_length(request)
        self.read_query(request)

    def team(self) -> Team | None:
        """The team that the query names, whose rates apply; only a member may name it."""
        slug = self.query.text("team")
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
        team = resolve_team(self.access, self.query.text("team"))
        return lambda: accepted(jobs.start(self.access, kind, arguments, team))

    def respond(self, answer: AnswerModel) -> Response:
        return Response(render_answer(answer, self.include))


class ComparisonsView(MarketView):
    answers = (ComparisonAnswer,)
    parameters = ("team",)

    @extend_schema(
        operation_id="compare",
        request=ComparisonRequest,
        responses={200: ComparisonAnswer, 202: JobSerializer},
        parameters=[TEAM, PREFER],
    )
    @idempotent
    def post(self, request: Request) -> Response | Write:
        """Compares renting, owning and mixing for one workload."""
        team = self.team()
        job = self.job(request, "comparison", {"request": request.data})
        return job or self.respond(comparisons.compare_for_team(request.data, team).answer)


class PortfoliosView(MarketView):
    too_large_hint = (
        "plan fewer projects at once, or give their hours by a figure instead of by months"
    )
    answers = (PortfolioAnswer,)
    parameters = ("team",)

    @extend_schema(
        request=PortfolioRequest,
        responses={200: PortfolioAnswer, 202: JobSerializer},
        parameters=[TEAM, PREFER],
    )
    @idempotent
    def post(self, request: Request) -> Response | Write:
        """One plan for all projects, and what each of them pays."""
        team = self.team()
        job = self.job(request, "portfolio", {"request": request.data})
        return job or self.respond(portfolios.plan_for_team(request.data, team)[-1])


class EstimatesView(MarketView):
    answers = (EstimateAnswer,)
    too_large_hint = "give the model by its name or its few figures"

    @extend_schema(request=EstimateRequest, responses=EstimateAnswer)
    @idempotent
    def post(self, request: Request) -> Response:
        """Memory, accelerator-hours and duration of a workload, with their ranges."""
        return self.respond(comparisons.estimate_request(request.data))


_TEXTS = {
    "file_name": "Name of the file, for messages; files in a zip state their own.",
    "by": f"What use is summed by, with commas; default {','.join(DEFAULT_BY)}.",
    "project_by": "Where a project's name stands, in order: tag:NAME, account, user.",
    "map": "COLUMN=NAME, with commas: other names for columns of one's own table.",
    "forecast_months": f"Months to forecast, 0 for none; default {UsageQuestion.forecast_months}.",
    "growth": "As in the year before and more: 0.4 is 40 %; as forecast if left out.",
    "start": "First month of the forecast; default the next one.",
    "accelerator": "Accelerator to forecast, by its name in the answer.",
    "team": "A team of yours, whose rules say which rows belong to which project.",
    "rule": "SOURCE:PATTERN=PROJECT, with commas: rules before those of the team.",
    "include": "`portfolio`: the request of a plan for all projects in the files.",
    "name": "NAME=ACCELERATOR, with commas: what a name in the files means, as `questions` ask.",
    "idle_price": "What an idle accelerator-hour costs where no bill says it, such as 1.95 EUR.",
}

_KINDS = {
    "forecast_months": number_to(MAX_MONTHS, "integer"),
    "growth": number_to(MAX_GROWTH) | {"minimum": -1},
    "start": {"type": "string", "pattern": r"^\d{4}-\d{2}$"},
}


class UsageView(MarketView):
    parser_classes = (FileParser,)
    parameters = tuple(_TEXTS)
    too_large_hint = "send the file compressed (gzip), or fewer months of it"

    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY, "text/csv": OpenApiTypes.STR},
        parameters=[
            parameter(name, text, _KINDS.get(name, OpenApiTypes.STR))
            for name, text in _TEXTS.items()
        ],
        responses=Usage,
    )
    def post(self, request: Request) -> Response:
        """Hours, costs and demand from a bill or a cluster log of any form that is read.

        The body is the file itself, compressed or not; several as a zip, which are added up as the
        page and the command do: a file or a row that is there twice counts once. They are read and
        forgotten.
        """
        question = _read(self.query, rules_of(self.team()))
        name = (self.query.text("file_name") or "")[:200]
        files = [(name, FileParser.stream_of(request))]
        answer = answer_usage(files, question, timezone.now().date())
        together: dict[str, Any] = {"portfolio": None, "questions": {}}
        if self.query.choice("include", ("portfolio",)):
            named = [part.partition("=") for part in self.query.words("name")]
            means = {name: read_meaning(name, text) for name, _, text in named}
            built = build_portfolio(answer.usage, question, f"{timezone.now():%Y-%m}", means)
            together = {"portfolio": built.request, "questions": built.questions}
            together["notes"] = [*answer.usage.notes(), *built.notes]
        return Response(answer.as_dict() | together)


def _read(query: Query, team_rules: tuple[ProjectRule, ...]) -> UsageQuestion:
    months = query.whole("forecast_months", 0, MAX_MONTHS)
    values: dict[str, Any] = {name: query.words(name) for name in ("map", "rule")}
    return UsageQuestion(
        by=query.words("by") or DEFAULT_BY,
        project_by=query.words("project_by") or DEFAULT_SOURCES,
        forecast_months=UsageQuestion.forecast_months if months is None else months,
        growth=query.number("growth", -1, MAX_GROWTH),
        start=query.text("start") or "",
        idle_price=query.text("idle_price") or "",
        team_rules=team_rules,
        accelerator=query.text("accelerator"),
        max_bytes=WAITING_BYTES,
        max_rows=WAITING_ROWS,
        **values,
    )


# Sweeps -----------------------------------------------------------------------------------


class SweepRowSerializer(serializers.ModelSerializer[SweepRow]):
    """Either `row`, figures of the answer, or `errors`."""

    values = serializers.SerializerMethodField()
    row = serializers.SerializerMethodField()
    errors = ProblemErrorSerializer(many=True, read_only=True, allow_null=True)  # type: ignore[assignment]

    class Meta:
        model = SweepRow
        exclude = ("id", "sweep")

    @extend_schema_field(
        {"type": ["object", "null"], "additionalProperties": {"type": ["string", "number", "null"]}}
    )
    def get_row(self, row: SweepRow) -> Any:
        return row.row

    @extend_schema_field({"type": "object", "additionalProperties": {}})
    def get_values(self, row: SweepRow) -> dict[str, Any]:
        """The varied fields with their values here."""
        return comparisons.values_at(self.context["sweep"], row.index)


class SweepsView(TeamViewSet):
    """Comparisons by the thousand, made as jobs at the prices in force when the sweep began."""

    model = Job
    related = ("team",)
    query_parameters = {"rows": PAGE_PARAMETERS}

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(kind=jobs.SWEEP)

    @extend_schema(request=NewSweep, responses={HTTPStatus.ACCEPTED: JobSerializer})
    @idempotent
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response | Write:
        """Compares a list of requests, or a request with each combination of some values, as a job;
        its rows can be read before it is over."""
        values = self.read_body(NewSweep)
        if values.keys() - {"team"} not in ({"requests"}, {"request", "variations"}):
            raise InvalidInput("requests", "give either these, or request and variations")
        team = resolve_team(self.access, values.pop("team", None))
        return lambda: accepted(comparisons.start_sweep(self.access, team, **values))

    @extend_schema(responses=SweepRowSerializer(many=True))
    @action(detail=True)
    def rows(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The rows that are written, in the order of the requests."""
        sweep = self.get_object()
        self.page_order = ("index",)  # type: ignore[misc]
        page = self.paginate_queryset(sweep.rows.all())
        rows = SweepRowSerializer(page, many=True, context={"sweep": sweep})
        return self.get_paginated_response(rows.data)
