"""Portfolios: one plan for all projects, answered at once or kept by a team."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api import bodies, shapes
from planner.api.answers import show
from planner.api.base import (
    FLAGS,
    ChangeMixin,
    CreateMixin,
    DeleteMixin,
    Filter,
    ReadMixin,
    Values,
)
from planner.api.base import (
    TEAM as TEAM_FILTER,
)
from planner.api.idempotency import Write, idempotent
from planner.api.responses import EXPORT_SCHEMA
from planner.api.shapes import JobSerializer, accepted, wants_job
from planner.api.views.comparisons import PREFER, TEAM, MarketView
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.portfolio import PortfolioRequest
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.exports.saved_context import offer_file
from planner.models import Project, SavedPortfolio, State
from planner.services.jobs import jobs
from planner.services.portfolio import portfolios as services
from planner.services.portfolio import portfolios as visibility
from planner.services.portfolio.portfolios import reprice_portfolio
from planner.services.portfolio.team_request import portfolio_of_projects
from planner.services.teams.access import APPROVE, EDIT, VIEW, require
from planner.services.teams.teams import resolve_team
from pricing.api.rest import make_etag
from pricing.common.invalid_input import InvalidInput

_TOO_LARGE = "plan fewer projects at once, or give their hours by a figure instead of by months"


class PortfoliosView(MarketView):
    too_large_hint = _TOO_LARGE
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
        if job:
            return job
        return self.respond(services.plan_for_team(request.data, team).answer)


class PortfolioExportView(MarketView):
    too_large_hint = _TOO_LARGE
    parameters = ("team",)

    @extend_schema(request=PortfolioRequest, responses=EXPORT_SCHEMA, parameters=[TEAM])
    def post(self, request: Request, form: str) -> HttpResponse:
        """A portfolio as csv, xlsx, json or FOCUS 1.2 rows tagged by project, without saving it."""
        answer = services.plan_for_team(request.data, self.team()).answer
        entry = PORTFOLIO_FORMATS[form]
        return offer_file(entry.make(answer), answer.name, entry)


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
        "team": TEAM_FILTER,
        "state": Filter("state", tuple(State.values)),
        "watched": Filter("watched", FLAGS),
    }
    needs = {"reprice": VIEW, "export": VIEW, "approve": APPROVE}
    delete_row = staticmethod(services.delete_portfolio)

    def get_object(self) -> Any:
        return self._with_visible_part(super().get_object())

    def _with_visible_part(self, row: SavedPortfolio) -> SavedPortfolio:
        row.visible = visibility.visible_answer(self.access, row)  # type: ignore[attr-defined]
        row.visible_repricing = visibility.visible_repricing(  # type: ignore[attr-defined]
            self.access, row
        )
        return row

    def etag(self, row: Any) -> str:
        """Of what somebody may see of it; a repricing leaves the version as it is."""
        etag = make_etag(super().etag(row), str(row.repriced))
        sees_all = visibility.sees_all(self.access, row)
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
        save = services.prepare_portfolio(
            self.access, team, request=request, owners=owners, **values
        )
        return lambda: (self._with_visible_part(save()), {})

    def change(self, *values: Any) -> SavedPortfolio:
        return self._with_visible_part(services.change_watch(*values))

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
        visible = visibility.visible_changes(self.access, row, changes)
        shown = visibility.visible_answer(self.access, row, answer)
        rows = [one.model_dump(mode="json") for one in visible]
        answer = show(PortfolioAnswer, shown.to_json(), self.include)
        return Response({"changes": rows, "answer": answer})

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Makes it the team's plan; the one approved before is superseded."""
        row = self.get_object()
        approved = services.approve_portfolio(self.access, row, self.seen_version(row))
        return self.answer(self._with_visible_part(approved))

    @extend_schema(responses=EXPORT_SCHEMA)
    @action(detail=True, url_path="exports/<portfolio_format:form>")
    def export(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The portfolio as csv, xlsx, json or FOCUS 1.2 rows tagged by project."""
        row, entry = self.get_object(), PORTFOLIO_FORMATS[kwargs["form"]]
        return offer_file(entry.make(row.visible), row.name, entry)
