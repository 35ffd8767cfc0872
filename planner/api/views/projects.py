"""Projects, what they really used and paid, and the plans that a team keeps."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api import base, bodies, shapes
from planner.api.media import EXPORT_SCHEMA, SCENARIO, FileParser, Refusal, idempotent
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.tables import leave_out
from planner.exports import FORMATS
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.exports.saved_context import export_saved, offer_file
from planner.models import ActualsUpload, Project, SavedComparison, SavedPortfolio, State
from planner.services.actuals import actuals
from planner.services.alerts import alerts
from planner.services.portfolio import portfolios
from planner.services.projects import projects
from planner.services.teams import teams
from planner.services.teams.access import APPROVE, EDIT, VIEW, require
from pricing import catalog as catalogs
from pricing.api.rest import FLAGS, Filter
from pricing.common.invalid_input import InvalidInput


class ProjectsView(base.ReadMixin, base.CreateMixin, base.ChangeMixin, base.DeleteMixin):
    """A project holds a workload and its assumptions, a budget and a watch on its prices."""

    model = Project
    related = ("team",)
    serializer_class = shapes.ProjectSerializer
    new = bodies.NewProject
    changes = bodies.ProjectChanges
    filters = {
        "team": base.TEAM,
        "archived": Filter("archived", FLAGS),
        "watched": Filter("watched", FLAGS),
    }
    change = staticmethod(projects.change_project)
    delete_row = staticmethod(projects.delete_project)

    def create_row(self, values: base.Values) -> Project:
        team = teams.resolve_team(self.access, values.pop("team", None))
        return projects.create_project(self.access, team, values)

    @extend_schema(responses=shapes.Variance)
    @action(detail=True)
    def variance(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Plan against actual, by month and category, with the difference split by cause, and what
        the plan will have cost when it ends."""
        project = self.get_object()
        table = actuals.variance(project)
        completion = actuals.estimate_completion(project, table)
        at_the_end = completion and completion.model_dump(mode="json")
        return Response({**table.as_dict(), "completion": at_the_end})


class ActualsView(base.ListMixin, base.CreateMixin, base.DeleteMixin):
    """Files of actual usage and cost: our CSV, FOCUS, or another provider's bill."""

    model = ActualsUpload
    related = ("uploaded_by",)
    serializer_class = shapes.UploadSerializer
    parser_classes = (FileParser,)
    too_large_hint = (
        "upload it compressed (gzip, as application/octet-stream), or in several files of whole "
        "months"
    )
    query_parameters = {"create": ("file_name",)}
    delete_row = staticmethod(actuals.delete_upload)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        own_projects = Project.objects.for_access(self.access)
        self.project: Project = get_object_or_404(own_projects, pk=kwargs["project"])
        self.require(self.project)

    def within(self) -> base.Values:
        return {"project": self.project}

    @extend_schema(
        request={
            "text/csv": {"type": "string"},
            "application/octet-stream": {"type": "string", "format": "binary"},
        },
        parameters=[OpenApiParameter("file_name", str, description="Shown with the upload.")],
        responses={HTTPStatus.CREATED: shapes.UploadedSerializer},
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
        return self.answer(row, HTTPStatus.CREATED, warnings=actuals.upload_warnings(row))


_FROZEN = ("given", "request", "rows", "answer")


class SavedComparisonsView(base.ReadMixin, base.CreateMixin, base.ChangeMixin, base.DeleteMixin):
    """Answers as they were shown, with the request and price lists that they came from."""

    model = SavedComparison
    answers = (ComparisonAnswer,)
    tables = ("rows",)
    related = ()
    deferred = _FROZEN
    serializer_class = shapes.SavedComparisonDetailSerializer
    list_serializer = shapes.SavedComparisonSerializer
    new = bodies.NewSavedComparison
    changes = bodies.SavedComparisonChanges
    filters = {
        "team": base.TEAM,
        "project": Filter("project_id", is_id=True),
        "state": Filter("state", tuple(State.values)),
    }
    query_parameters = {"export": ("scenario",)}
    needs = {"reprice": VIEW, "export": VIEW, "approve": APPROVE}
    change = staticmethod(projects.change_saved)
    delete_row = staticmethod(projects.delete_saved)

    @cached_property
    def current_revisions(self) -> dict[str, int]:
        return alerts.current_revisions()

    def prepare_row(self, values: base.Values) -> Callable[[], SavedComparison]:
        key = values.pop("project")
        project = Project.objects.for_access(self.access).filter(pk=key).first()
        if project is None:
            raise InvalidInput("project", f"'{key}' is nothing that you may see")
        return projects.prepare_comparison(self.access, project, **values)

    @extend_schema(request=None, responses=projects.Repriced)
    @action(detail=True, methods=["post"])
    def reprice(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Recalculated with today's rules and prices: what changed."""
        repriced = projects.reprice(self.get_object(), catalogs.current())
        left_out = {"answer": leave_out(ComparisonAnswer, self.include)}
        return Response(repriced.model_dump(mode="json", exclude=left_out))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From draft to submitted."""
        return self._move(projects.submit)

    @extend_schema(request=bodies.SendBack)
    @action(detail=True, methods=["post"], url_path="send-back")
    def send_back(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From submitted to draft again, with a reason where one is given."""
        values = self.read_body(bodies.SendBack)
        return self._move(partial(projects.send_back, **values))

    @extend_schema(request=bodies.Approve)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From submitted to approved; the one approved before is superseded. Over the budget of
        its project it is refused (409, `over_budget`) unless the body says `confirm`."""
        saved = self.get_object()
        is_confirmed = self.read_body(bodies.Approve).get("confirm")
        excess = None if is_confirmed else alerts.excess_over_budget(saved.project, saved)
        if excess is not None and saved.state == State.SUBMITTED:
            detail = (
                f"It is {excess:,.2f} {saved.read_summary().currency} over its project's budget"
            )
            way_on = 'repeat with {"confirm": true} to approve it'
            raise Refusal(HTTPStatus.CONFLICT, "over_budget", f"{detail}; {way_on}.")
        return self._move(projects.approve)

    def _move(self, move: Any) -> Response:
        row = self.get_object()
        return self.answer(move(self.access, row, self.seen_version(row)))

    @extend_schema(responses=EXPORT_SCHEMA, parameters=[SCENARIO])
    @action(detail=True, url_path="exports/<export_format:form>")
    def export(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The comparison as csv, xlsx, json or FOCUS rows."""
        row, form = self.get_object(), kwargs["form"]
        content = export_saved(row, form, self.query.text("scenario") or "")
        return offer_file(content, row.name, FORMATS[form])


class SavedPortfoliosView(base.ReadMixin, base.CreateMixin, base.DeleteMixin):
    """Portfolios kept with the request and price lists that they came from."""

    model = SavedPortfolio
    answers = (PortfolioAnswer,)
    related = ("team", "created_by")
    deferred = ("request", "answer")
    serializer_class = shapes.SavedPortfolioDetailSerializer
    list_serializer = shapes.SavedPortfolioSerializer
    new = bodies.NewSavedPortfolio
    filters = {"team": base.TEAM, "state": Filter("state", tuple(State.values))}
    needs = {"export": VIEW, "approve": APPROVE}
    delete_row = staticmethod(portfolios.delete_portfolio)

    def prepare_row(self, values: base.Values) -> Callable[[], SavedPortfolio]:
        team = teams.resolve_team(self.access, values.pop("team"))
        require(self.access, team.pk, EDIT)
        chosen, request = values.pop("projects", None), values.pop("request", None)
        if request is not None and chosen is not None:
            raise InvalidInput("projects", "is for a portfolio without a request; send one of them")
        if request is None:
            rows = Project.objects.for_access(self.access).filter(team=team, archived=False)
            included = None if chosen is None else [str(pk) for pk in chosen]
            request = portfolios.portfolio_of_projects(team, rows, included)
        return portfolios.prepare_portfolio(self.access, team, request=request, **values)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Makes it the team's plan; the one approved before is superseded."""
        row = self.get_object()
        return self.answer(portfolios.approve_portfolio(self.access, row, self.seen_version(row)))

    @extend_schema(responses=EXPORT_SCHEMA)
    @action(detail=True, url_path="exports/<portfolio_format:form>")
    def export(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The portfolio as csv, xlsx, json or FOCUS rows tagged by project."""
        row, entry = self.get_object(), PORTFOLIO_FORMATS[kwargs["form"]]
        return offer_file(entry.make(row.read_answer()), row.name, entry)
