"""Teams and what is kept under them; jobs, price refreshes, alerts, webhooks."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api import base, bodies, shapes
from planner.api.callers import SignedIn, access_of_request
from planner.api.media import Write, idempotent
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.validation import parse
from planner.exports import FORMATS
from planner.exports.saved_context import offer_file, team_focus
from planner.models import (
    Alert,
    AlertKind,
    AuditEntry,
    Job,
    JobState,
    Scope,
    ServerQuote,
    Team,
    WebhookEndpoint,
)
from planner.services.alerts.alerts import acknowledge
from planner.services.jobs import jobs, price_refreshes
from planner.services.teams import teams
from planner.services.teams.access import EDIT, OWN
from planner.services.webhooks import webhooks
from pricing.api.pages import PlainView
from pricing.api.rest import FLAGS, Filter, Query


class MeView(PlainView):
    """Who the caller is and what they may do."""

    permission_classes = (SignedIn,)

    @extend_schema(responses=shapes.Me)
    def get(self, request: Request) -> Response:
        Query(request)
        access = access_of_request(request)
        names = Team.objects.for_access(access).values_list("pk", "slug")
        return Response(
            {
                "name": access.name,
                "kind": "token" if access.token_id else "session",
                "scopes": sorted(
                    scope for scope in access.scopes if scope != Scope.REFRESH or access.is_operator
                ),
                "teams": [{"team": s, "role": access.roles[pk].value} for pk, s in names],
            }
        )


class TeamsView(base.ReadMixin, base.ChangeMixin):
    """The caller's teams with their settings: contract prices and default assumptions."""

    model = Team
    lookup_field = "slug"
    lookup_url_kwarg = "slug"
    lookup_value_converter = "slug"
    page_order = ("name", "pk")
    serializer_class = shapes.TeamSerializer
    changes = bodies.TeamChanges
    needs = {"partial_update": OWN}
    query_parameters = {"focus": ("since", "version")}
    change = staticmethod(teams.change_settings)

    @extend_schema(
        responses={(HTTPStatus.OK, "text/csv"): str},
        parameters=[
            OpenApiParameter("since", str, description="Rows of this month and later."),
            OpenApiParameter("version", str, description="Of FOCUS: 1.4, or 1.2."),
        ],
    )
    @action(detail=True)
    def focus(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """FOCUS rows of the team as CSV: the forecasts of its approved plans, then what its
        projects paid (`x_IsForecast` false), tagged with team, project and cost centre."""
        team = self.get_object()
        since = self.query.date("since", is_month=True)
        content = team_focus(team, since, self.query.text("version") or "")
        return offer_file(content, team.name, FORMATS["focus"])


class ServerQuotesView(
    base.InTeam, base.ReadMixin, base.CreateMixin, base.ChangeMixin, base.DeleteMixin
):
    """The team's own server quotes, which its comparisons inherit."""

    model = ServerQuote
    page_order = ("slug", "id")
    serializer_class = shapes.ServerQuoteSerializer
    new = bodies.NewServerQuote
    changes = bodies.ServerQuoteChanges
    change = staticmethod(teams.change_quote)
    delete_row = staticmethod(teams.remove_quote)

    def create_row(self, values: base.Values) -> ServerQuote:
        return teams.add_quote(self.access, self.team, values)


class AuditLogView(base.InTeam, base.ListMixin):
    """Who changed what from what to what; nothing here is ever changed or removed."""

    model = AuditEntry
    page_order = ("-at", "id")
    serializer_class = shapes.AuditEntrySerializer
    filters = {
        "action": Filter("action"),
        "object_type": Filter("object_type"),
        "object_id": Filter("object_id"),
    }


class JobsView(base.ReadMixin):
    """Work that goes on after its request was answered."""

    model = Job
    answers = (ComparisonAnswer, PortfolioAnswer)
    related = ("team",)
    deferred = ("result", "arguments")
    serializer_class = shapes.JobSerializer
    list_serializer = shapes.JobRowSerializer
    filters = {
        "team": base.TEAM,
        "kind": Filter("kind", (jobs.SWEEP, *jobs.WORK)),
        "state": Filter("state", tuple(JobState.values)),
    }
    needs = {"cancel": EDIT}

    def require(self, row: Job) -> None:
        if row.team_id is not None:
            super().require(row)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        jobs.recover_jobs()

    @extend_schema(request=None, responses=shapes.JobSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Stops a queued job at once and a running one at its next step."""
        return self.answer(jobs.cancel(self.access, self.get_object()))


class RefreshesView(PlainView):
    """Reads the providers' prices again; for operators, or a token with the scope refresh."""

    permission_classes = (SignedIn,)

    @extend_schema(request=bodies.Refresh, responses={HTTPStatus.ACCEPTED: shapes.JobSerializer})
    @idempotent
    def post(self, request: Request) -> Response | Write:
        Query(request)
        access = access_of_request(request)
        price_refreshes.require_operator(access)
        providers = parse(bodies.Refresh, request.data).providers
        return lambda: shapes.accepted(price_refreshes.start_refresh(access, providers))


class AlertsView(base.ListMixin):
    """Watched projects whose plan moved or fits no longer, or that outgrew their budget."""

    model = Alert
    related = ("acknowledged_by",)
    serializer_class = shapes.AlertSerializer
    filters = {
        "team": base.TEAM,
        "project": Filter("project_id", is_id=True),
        "kind": Filter("kind", tuple(AlertKind.values)),
        "open": Filter("acknowledged_at__isnull", FLAGS),
    }
    needs = {"acknowledge": EDIT}

    @extend_schema(request=None, responses=shapes.AlertSerializer)
    @action(detail=True, methods=["post"])
    def acknowledge(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Marks the alert as seen."""
        return self.answer(acknowledge(self.access, self.get_object()))


class WebhooksView(base.InTeam, base.ListMixin, base.CreateMixin, base.DeleteMixin):
    """Where messages on the team's events are sent, as URLs of Apprise."""

    model = WebhookEndpoint
    serializer_class = shapes.WebhookSerializer
    new = bodies.NewWebhook
    needs = dict.fromkeys(("list", "create", "destroy", "test"), OWN)
    delete_row = staticmethod(webhooks.remove_endpoint)

    def create_row(self, values: base.Values) -> WebhookEndpoint:
        return webhooks.add_endpoint(self.access, self.team, values)

    @extend_schema(request=None, responses={HTTPStatus.ACCEPTED: shapes.DeliverySerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Sends a test event to this endpoint."""
        delivery = webhooks.send_test(self.access, self.get_object())
        data = shapes.DeliverySerializer(delivery).data
        return Response(data, status=HTTPStatus.ACCEPTED)
