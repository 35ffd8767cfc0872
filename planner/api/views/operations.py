"""Jobs, price refreshes, alerts, webhooks."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api import bodies, shapes
from planner.api.base import (
    FLAGS,
    TEAM,
    ChangeMixin,
    CreateMixin,
    DeleteMixin,
    Filter,
    InTeam,
    ListMixin,
    ReadMixin,
    Values,
)
from planner.api.callers import SignedIn, access_of_request
from planner.api.idempotency import Write, idempotent
from planner.api.shapes import accepted
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.validation import parse
from planner.models import (
    PORTFOLIO_DOCUMENTS,
    Alert,
    AlertKind,
    Job,
    JobState,
    WebhookDelivery,
    WebhookEndpoint,
)
from planner.services.alerts.alerts import acknowledge
from planner.services.jobs import jobs, price_refreshes
from planner.services.jobs.jobs import KINDS, recover_jobs
from planner.services.teams.access import EDIT, OWN
from planner.services.webhooks import webhooks
from pricing.api.pages import PlainView
from pricing.api.rest import Query


class JobsView(ReadMixin):
    """Work that goes on after its request was answered."""

    model = Job
    answers = (ComparisonAnswer, PortfolioAnswer)
    related = ("team",)
    deferred = ("result", "arguments")
    serializer_class = shapes.JobSerializer
    list_serializer = shapes.JobRowSerializer
    filters = {
        "team": TEAM,
        "kind": Filter("kind", tuple(KINDS)),
        "state": Filter("state", tuple(JobState.values)),
    }
    needs = {"cancel": EDIT}

    def require(self, row: Job) -> None:
        if row.team_id is not None:
            super().require(row)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        recover_jobs()

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
        return lambda: accepted(price_refreshes.start_refresh(access, providers))


class AlertsView(ListMixin):
    """Watched projects and joint plans whose cost moved or that fit no longer, or projects that
    outgrew their budget; totals of a joint plan are for those who see all of it."""

    model = Alert
    related = ("acknowledged_by", "saved_portfolio")
    deferred = tuple(f"saved_portfolio__{name}" for name in PORTFOLIO_DOCUMENTS)
    serializer_class = shapes.AlertSerializer
    filters = {
        "team": TEAM,
        "project": Filter("project_id", is_id=True),
        "portfolio": Filter("saved_portfolio_id", is_id=True),
        "kind": Filter("kind", tuple(AlertKind.values)),
        "open": Filter("acknowledged_at__isnull", FLAGS),
    }
    needs = {"acknowledge": EDIT}

    @extend_schema(request=None, responses=shapes.AlertSerializer)
    @action(detail=True, methods=["post"])
    def acknowledge(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Marks the alert as seen."""
        return self.answer(acknowledge(self.access, self.get_object()))


class WebhooksView(InTeam, ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """Where the team's events are sent, signed with HMAC-SHA256."""

    model = WebhookEndpoint
    serializer_class = shapes.WebhookSerializer
    new = bodies.NewWebhook
    changes = bodies.WebhookChanges
    secret_fields = ("secret",)
    needs = dict.fromkeys(
        ("list", "retrieve", "create", "partial_update", "destroy", "rotate_secret", "test"), OWN
    )
    change = staticmethod(webhooks.change_endpoint)
    delete_row = staticmethod(webhooks.remove_endpoint)

    def create_row(self, values: Values) -> tuple[WebhookEndpoint, Values]:
        row = webhooks.add_endpoint(self.access, self.team, values)
        return row, {"secret": row.secret}

    @extend_schema(request=None, responses=shapes.WebhookSerializer)
    @action(detail=True, methods=["post"], url_path="rotate-secret")
    def rotate_secret(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A new signing secret, shown only once."""
        row = webhooks.rotate_secret(self.access, self.get_object())
        return self.answer(row, secret=row.secret)

    @extend_schema(request=None, responses={HTTPStatus.ACCEPTED: shapes.DeliverySerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Sends a test event to this endpoint."""
        delivery = webhooks.send_test(self.access, self.get_object())
        data = shapes.DeliverySerializer(delivery).data
        return Response(data, status=HTTPStatus.ACCEPTED)


class DeliveriesView(InTeam, ListMixin):
    """What became of the events sent to one endpoint."""

    model = WebhookDelivery
    serializer_class = shapes.DeliverySerializer
    needs = {"list": OWN, "retrieve": OWN}

    def within(self) -> Values:
        mine = WebhookEndpoint.objects.for_access(self.access)
        endpoint = mine.filter(team=self.team, pk=self.kwargs["webhook"]).first()
        if endpoint is None:
            raise Http404
        return {**super().within(), "endpoint": endpoint}
