"""Projects, their variants, what they really used and paid."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api import bodies, shapes
from planner.api.answers import show
from planner.api.base import (
    FLAGS,
    TEAM,
    ChangeMixin,
    CreateMixin,
    DeleteMixin,
    Filter,
    ListMixin,
    ReadMixin,
    Values,
)
from planner.api.idempotency import Write, idempotent
from planner.api.responses import EXPORT_SCHEMA, SCENARIO
from planner.api.shapes import JobSerializer, accepted, wants_job
from planner.api.views.comparisons import PREFER
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.exports import FORMATS
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.exports.saved_context import export_saved, offer_file
from planner.models import ActualsUpload, Project, SavedComparison, SavedPortfolio, State, Variant
from planner.services.actuals import actuals
from planner.services.actuals.completion import estimate_completion
from planner.services.actuals.uploads import upload_warnings
from planner.services.jobs import jobs
from planner.services.portfolio import portfolios
from planner.services.portfolio.portfolios import reprice_portfolio
from planner.services.portfolio.team_request import portfolio_of_projects
from planner.services.projects import projects, saved_comparisons
from planner.services.projects.reprice import catalog_on_date, reprice
from planner.services.teams import teams
from planner.services.teams.access import APPROVE, EDIT, VIEW, WrongStateError, require
from planner.services.teams.teams import resolve_team
from pricing import catalog as catalogs
from pricing.api.files import FileParser
from pricing.api.rest import make_etag
from pricing.common.invalid_input import InvalidInput, check_known_day


class ProjectsView(ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """A project holds a workload and its assumptions, a budget and a watch on its prices."""

    model = Project
    related = ("team",)
    serializer_class = shapes.ProjectSerializer
    new = bodies.NewProject
    changes = bodies.ProjectChanges
    filters = {
        "team": TEAM,
        "archived": Filter("archived", FLAGS),
        "watched": Filter("watched", FLAGS),
    }
    needs = {"request_of": VIEW, "variance": VIEW, "completion": VIEW, "reprice": EDIT}
    conflicting_reads = ("completion",)
    change = staticmethod(projects.change_project)
    delete_row = staticmethod(projects.delete_project)

    def create_row(self, values: Values) -> tuple[Project, Values]:
        team = teams.resolve_team(self.access, values.pop("team", None))
        return projects.create_project(self.access, team, values), {}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, url_path="request")
    def request_of(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The comparison request that the project stands for."""
        return Response(projects.compose(self.get_object()))

    @extend_schema(responses=shapes.Variance)
    @action(detail=True)
    def variance(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Plan against actual, by month and category, with the difference split by cause."""
        return Response(actuals.variance(self.get_object()).as_dict())

    @extend_schema(responses=shapes.Completion)
    @action(detail=True)
    def completion(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What the plan will have cost when it ends, at the use and prices seen so far."""
        estimate = estimate_completion(self.get_object())
        if estimate is None:
            raise WrongStateError("The project has no approved plan, or nothing was uploaded yet.")
        return Response(estimate.as_dict())

    @extend_schema(request=bodies.ProjectReprice, responses={HTTPStatus.ACCEPTED: JobSerializer})
    @action(detail=True, methods=["post"])
    @idempotent
    def reprice(self, request: Request, *args: Any, **kwargs: Any) -> Response | Write:
        """Answers every saved comparison of the project again, as a job."""
        project = self.get_object()
        values = self.read_body(bodies.ProjectReprice)
        check_known_day("as_of", values.get("as_of"), timezone.now().date())
        day = str(values["as_of"]) if values.get("as_of") else None
        arguments = {"project": str(project.pk), "as_of": day}
        return lambda: accepted(jobs.start(self.access, "project_reprice", arguments, project.team))


class VariantsView(ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """What-ifs of a project: what each changes in the project's request."""

    model = Variant
    related = ("project", "project__team")
    serializer_class = shapes.VariantSerializer
    new = bodies.NewVariant
    changes = bodies.VariantChanges
    filters = {"team": TEAM, "project": Filter("project_id", is_id=True)}
    needs = {"request_of": VIEW}
    change = staticmethod(projects.change_variant)
    delete_row = staticmethod(projects.delete_variant)

    def create_row(self, values: Values) -> tuple[Variant, Values]:
        project = self.pick(Project.objects, "project", values.pop("project"))
        return projects.create_variant(self.access, project, values), {}

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, url_path="request")
    def request_of(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The comparison request that the variant stands for."""
        row = self.get_object()
        return Response(projects.compose(row.project, row))


class ActualsView(ListMixin, CreateMixin, DeleteMixin):
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
        return self.answer(row, HTTPStatus.CREATED, warnings=upload_warnings(row))


_FROZEN = ("given", "request", "inherited", "rows", "answer")


class SavedComparisonsView(ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
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
        "team": TEAM,
        "project": Filter("project_id", is_id=True),
        "variant": Filter("variant_id", is_id=True),
        "state": Filter("state", tuple(State.values)),
    }
    query_parameters = {"export": ("scenario",)}
    needs = {"reprice": VIEW, "export": VIEW, "approve": APPROVE}
    change = staticmethod(saved_comparisons.change_saved)
    delete_row = staticmethod(saved_comparisons.delete_saved)

    @cached_property
    def current_revisions(self) -> dict[str, int]:
        return {r.provider: r.number for r in catalogs.revisions_in_force()}

    def prepare_row(self, values: Values) -> Callable[[], tuple[SavedComparison, Values]]:
        project = self.pick(Project.objects, "project", values.pop("project"))
        if values.get("variant") is not None:
            values["variant"] = self.pick(project.variants, "variant", values["variant"])
        save = saved_comparisons.prepare_comparison(self.access, project, **values)
        return lambda: (save(), {})

    @extend_schema(request=bodies.Reprice, responses=shapes.Repriced)
    @action(detail=True, methods=["post"])
    def reprice(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Recalculated with today's rules, at today's prices or another day's: what changed."""
        row = self.get_object()
        values = self.read_body(bodies.Reprice)
        catalog = catalog_on_date(values.get("as_of"))
        repriced = reprice(row, catalog, values.get("request")).as_dict()
        answer = show(ComparisonAnswer, repriced["answer"], self.include)
        return Response(repriced | {"answer": answer})

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From draft to submitted."""
        return self._move(saved_comparisons.submit)

    @extend_schema(request=bodies.SendBack)
    @action(detail=True, methods=["post"], url_path="send-back")
    def send_back(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From submitted to draft again, with a reason where one is given."""
        values = self.read_body(bodies.SendBack)
        return self._move(partial(saved_comparisons.send_back, **values))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From submitted to approved; the one approved before is superseded."""
        return self._move(saved_comparisons.approve)

    def _move(self, move: Any) -> Response:
        row = self.get_object()
        return self.answer(move(self.access, row, self.seen_version(row)))

    @extend_schema(responses=EXPORT_SCHEMA, parameters=[SCENARIO])
    @action(detail=True, url_path="exports/<export_format:form>")
    def export(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The comparison as csv, xlsx, json or FOCUS 1.2 rows."""
        row, form = self.get_object(), kwargs["form"]
        content = export_saved(row, form, self.query.text("scenario") or "")
        return offer_file(content, row.name, FORMATS[form])


class SavedPortfoliosView(ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """Portfolios kept with the request and price lists that they came from."""

    model = SavedPortfolio
    answers = (PortfolioAnswer,)
    related = ("team", "created_by")
    deferred = (
        "request",
        "inherited",
        "answer",
        "owners",
        "headline",
        "repriced",
    )
    serializer_class = shapes.SavedPortfolioDetailSerializer
    list_serializer = shapes.SavedPortfolioSerializer
    new = bodies.NewSavedPortfolio
    changes = bodies.PortfolioWatch
    filters = {
        "team": TEAM,
        "state": Filter("state", tuple(State.values)),
        "watched": Filter("watched", FLAGS),
    }
    needs = {"reprice": VIEW, "export": VIEW, "approve": APPROVE}
    delete_row = staticmethod(portfolios.delete_portfolio)

    def get_object(self) -> Any:
        return self._with_visible_part(super().get_object())

    def _with_visible_part(self, row: SavedPortfolio) -> SavedPortfolio:
        row.visible = portfolios.visible_answer(self.access, row)  # type: ignore[attr-defined]
        row.visible_repricing = portfolios.visible_repricing(  # type: ignore[attr-defined]
            self.access, row
        )
        return row

    def etag(self, row: Any) -> str:
        """Of what somebody may see of it; a repricing leaves the version as it is."""
        etag = make_etag(super().etag(row), str(row.repriced))
        sees_all = portfolios.sees_all(self.access, row)
        return etag if sees_all else make_etag(etag, self.access.person)

    def prepare_row(self, values: Values) -> Callable[[], tuple[SavedPortfolio, Values]]:
        team = resolve_team(self.access, values.pop("team"))
        require(self.access, team.pk, EDIT)
        chosen, request = values.pop("projects", None), values.pop("request", None)
        owners: dict[str, str] = {}
        if request is not None and chosen is not None:
            raise InvalidInput("projects", "is for a portfolio without a request; send one of them")
        if request is None:
            rows = Project.objects.for_access(self.access).filter(team=team, archived=False)
            included = None if chosen is None else [str(pk) for pk in chosen]
            request, owners = portfolio_of_projects(team, rows, included)
        save = portfolios.prepare_portfolio(
            self.access, team, request=request, owners=owners, **values
        )
        return lambda: (self._with_visible_part(save()), {})

    def change(self, *values: Any) -> SavedPortfolio:
        return self._with_visible_part(portfolios.change_watch(*values))

    @extend_schema(
        request=None,
        responses={200: shapes.PortfolioRepriced, 202: JobSerializer},
        parameters=[PREFER],
    )
    @action(detail=True, methods=["post"])
    def reprice(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The same request at today's prices, and what that changes of what one may see. As a job,
        `repriced` of the portfolio says it afterwards."""
        row = self.get_object()
        if wants_job(request):
            require(self.access, row.team_id, EDIT)
            arguments = {"saved_portfolio": str(row.pk)}
            return accepted(jobs.start(self.access, "portfolio_reprice", arguments, row.team))
        answer, changes = reprice_portfolio(row)
        visible = portfolios.visible_changes(self.access, row, changes)
        shown = portfolios.visible_answer(self.access, row, answer)
        rows = [one.model_dump(mode="json") for one in visible]
        answer = show(PortfolioAnswer, shown.to_json(), self.include)
        return Response({"changes": rows, "answer": answer})

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Makes it the team's plan; the one approved before is superseded."""
        row = self.get_object()
        approved = portfolios.approve_portfolio(self.access, row, self.seen_version(row))
        return self.answer(self._with_visible_part(approved))

    @extend_schema(responses=EXPORT_SCHEMA)
    @action(detail=True, url_path="exports/<portfolio_format:form>")
    def export(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The portfolio as csv, xlsx, json or FOCUS 1.2 rows tagged by project."""
        row, entry = self.get_object(), PORTFOLIO_FORMATS[kwargs["form"]]
        return offer_file(entry.make(row.visible), row.name, entry)
