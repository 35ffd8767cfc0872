"""Projects, their variants, what they really used and paid."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.base import (
    ChangeMixin,
    CreateMixin,
    DeleteMixin,
    ReadMixin,
    Values,
    by_flag,
    by_id,
    by_slug,
)
from planner.api.idempotency import Write, idempotent
from planner.api.jobs import accepted
from planner.api.serializers import projects as serializers
from planner.api.serializers.operations import JobSerializer
from planner.api.uploads import CsvParser, FileParser
from planner.api.views.teams import ByCreation
from planner.models import ActualsUpload, Project, Variant
from planner.services.actuals import actuals
from planner.services.actuals.completion import estimate_completion
from planner.services.actuals.overlaps import upload_warnings
from planner.services.jobs import jobs
from planner.services.projects import projects
from planner.services.teams import teams
from planner.services.teams.errors import WrongStateError
from planner.services.teams.permissions import EDIT, VIEW
from pricing.common.known_day import check_known_day


class ProjectsView(ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """A project holds a workload and its assumptions, a budget and a watch on its prices."""

    model = Project
    related = ("team",)
    pagination_class = ByCreation
    serializer_class = serializers.ProjectSerializer
    write_serializer = serializers.NewProjectSerializer
    change_serializer = serializers.ProjectChangesSerializer
    filters = {
        "team": by_slug("team__slug"),
        "archived": by_flag("archived"),
        "watched": by_flag("watched"),
    }
    needs = {"request_of": VIEW, "variance": VIEW, "completion": VIEW, "reprice": EDIT}
    conflicting_reads = ("completion",)

    def create_row(self) -> tuple[Project, Values]:
        values = self.read_body(serializers.NewProjectSerializer)
        team = teams.resolve_team(self.access, values.pop("team", None))
        return projects.create_project(self.access, team, values), {}

    def change_row(self, row: Project, seen: int | None) -> Project:
        changes = self.read_body(serializers.ProjectChangesSerializer)
        return projects.change_project(self.access, row, changes, seen)

    def delete_row(self, row: Project) -> None:
        projects.delete_project(self.access, row)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, url_path="request")
    def request_of(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The comparison request that the project stands for."""
        return Response(projects.compose(self.get_object()))

    @extend_schema(responses=serializers.VarianceSerializer)
    @action(detail=True)
    def variance(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Plan against actual, by month and category, with the difference split by cause."""
        return Response(actuals.variance(self.get_object()).as_dict())

    @extend_schema(responses=serializers.CompletionSerializer)
    @action(detail=True)
    def completion(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What the plan will have cost when it ends, at the use and prices seen so far."""
        estimate = estimate_completion(self.get_object())
        if estimate is None:
            raise WrongStateError("The project has no approved plan, or nothing was uploaded yet.")
        return Response(estimate.as_dict())

    @extend_schema(
        request=serializers.RepriceProjectSerializer, responses={HTTPStatus.ACCEPTED: JobSerializer}
    )
    @action(detail=True, methods=["post"])
    @idempotent
    def reprice(self, request: Request, *args: Any, **kwargs: Any) -> Response | Write:
        """Answers every saved comparison of the project again, as a job."""
        project = self.get_object()
        values = self.read_body(serializers.RepriceProjectSerializer)
        check_known_day("as_of", values.get("as_of"), timezone.now().date())
        day = values["as_of"].isoformat() if "as_of" in values else None
        arguments = {"project": str(project.pk), "as_of": day}
        return lambda: accepted(jobs.start(self.access, "project_reprice", arguments, project.team))


class VariantsView(ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """What-ifs of a project: what each changes in the project's request."""

    model = Variant
    related = ("project", "project__team")
    pagination_class = ByCreation
    serializer_class = serializers.VariantSerializer
    write_serializer = serializers.NewVariantSerializer
    change_serializer = serializers.VariantChangesSerializer
    filters = {"team": by_slug("team__slug"), "project": by_id("project_id")}
    needs = {"request_of": VIEW}

    def create_row(self) -> tuple[Variant, Values]:
        values = self.read_body(serializers.NewVariantSerializer)
        project = self.pick(Project.objects, "project", values.pop("project"))
        return projects.create_variant(self.access, project, values), {}

    def change_row(self, row: Variant, seen: int | None) -> Variant:
        changes = self.read_body(serializers.VariantChangesSerializer)
        return projects.change_variant(self.access, row, changes, seen)

    def delete_row(self, row: Variant) -> None:
        projects.delete_variant(self.access, row)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, url_path="request")
    def request_of(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The comparison request that the variant stands for."""
        row = self.get_object()
        return Response(projects.compose(row.project, row))


@extend_schema_view(
    list=extend_schema(exclude=True),
    retrieve=extend_schema(exclude=True),
    create=extend_schema(exclude=True),
    partial_update=extend_schema(exclude=True),
    destroy=extend_schema(exclude=True),
    request_of=extend_schema(exclude=True),
)
class FormerVariantsView(VariantsView):
    """`/scenarios/`, the path of variants before they were called so; clients may still use it."""


class ActualsView(ReadMixin, CreateMixin, DeleteMixin):
    """Files of actual usage and cost: our CSV, FOCUS, or another provider's bill."""

    model = ActualsUpload
    related = ("uploaded_by",)
    pagination_class = ByCreation
    serializer_class = serializers.UploadSerializer
    parser_classes = (CsvParser, FileParser)
    too_large_hint = (
        "upload it compressed (gzip, as application/octet-stream), or in several files of whole "
        "months"
    )
    query_parameters = {"create": ("file_name",)}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        project = Project.objects.for_access(self.access).filter(pk=kwargs["project"]).first()
        if project is None:
            raise Http404
        self.require(project)
        self.project: Project = project

    def within(self) -> Values:
        return {"project": self.project}

    @extend_schema(
        request={
            "text/csv": {"type": "string"},
            "application/octet-stream": {"type": "string", "format": "binary"},
        },
        parameters=[OpenApiParameter("file_name", str, description="Shown with the upload.")],
        responses={HTTPStatus.CREATED: serializers.UploadedSerializer},
    )
    @idempotent
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Takes a file whole or not at all.

        Our CSV needs the columns `month` and `cost`. `hours` (or `accelerator_hours`) are
        accelerator-hours: one machine of 8 accelerators for one hour counts 8. Hours of whole
        machines go into `instance_hours` (or `node_hours`), with the machine in
        `instance_type`. FOCUS rows count hours of machines, which are multiplied by the
        accelerators of the instance type. Bills of AWS (CUR), Azure, Google Cloud and Oracle are
        read too, compressed or not: `application/octet-stream`.
        """
        name = self.query.text("file_name") or ""
        stream = FileParser.stream_of(request)
        row = actuals.load_actuals(self.access, self.project, stream, name)
        return self.answer(row, HTTPStatus.CREATED, warnings=upload_warnings(row))

    def delete_row(self, row: ActualsUpload) -> None:
        actuals.delete_upload(self.access, row)
