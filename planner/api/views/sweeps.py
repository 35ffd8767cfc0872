"""Sweeps: up to 5,000 comparisons, made as jobs; a row for each."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.base import TeamViewSet
from planner.api.bodies import NewSweep
from planner.api.idempotency import Write, idempotent
from planner.api.problems import ProblemErrorSerializer
from planner.api.shapes import JobSerializer, accepted
from planner.models import Job, SweepRow
from planner.services.jobs.jobs import SWEEP
from planner.services.projects.sweeps import start_sweep, values_at
from planner.services.teams.teams import resolve_team
from pricing.api.pages import PAGE_PARAMETERS
from pricing.common.invalid_input import InvalidInput


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
        return values_at(self.context["sweep"], row.index)


class SweepsView(TeamViewSet):
    """Comparisons by the thousand, made as jobs at the prices in force when the sweep began."""

    model = Job
    related = ("team",)
    query_parameters = {"rows": PAGE_PARAMETERS}

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(kind=SWEEP)

    @extend_schema(request=NewSweep, responses={HTTPStatus.ACCEPTED: JobSerializer})
    @idempotent
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response | Write:
        """Compares a list of requests, or a request with each combination of some values, as a job;
        its rows can be read before it is over."""
        values = self.read_body(NewSweep)
        if values.keys() - {"team"} not in ({"requests"}, {"request", "variations"}):
            raise InvalidInput("requests", "give either these, or request and variations")
        team = resolve_team(self.access, values.pop("team", None))
        return lambda: accepted(start_sweep(self.access, team, **values))

    @extend_schema(responses=SweepRowSerializer(many=True))
    @action(detail=True)
    def rows(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The rows that are written, in the order of the requests."""
        sweep = self.get_object()
        self.page_order = ("index",)  # type: ignore[misc]
        page = self.paginate_queryset(sweep.rows.all())
        rows = SweepRowSerializer(page, many=True, context={"sweep": sweep})
        return self.get_paginated_response(rows.data)
