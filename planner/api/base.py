"""What every view shares: answers with their tables, a team's rows, roles, versions, queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Any, ClassVar

from django.db import models
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel
from rest_framework import mixins, serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from planner.api.bodies import Body
from planner.api.callers import SignedIn, access_of_request
from planner.api.media import RenderedJson, Write, idempotent, require_length
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.tables import drop, leave_out, read_include
from planner.contract.validation import parse
from planner.models import Access, Team
from planner.services.teams.access import EDIT, VIEW, Need, StaleError, require, require_scope
from pricing.api.pages import METHODS, PAGE_PARAMETERS, CursorPages, RateLimited
from pricing.api.rest import (
    Filter,
    Query,
    filter_rows,
    is_not_modified,
    make_etag,
    matches_etag,
    not_modified,
)

Values = dict[str, Any]
INCLUDE = OpenApiParameter(
    "include",
    str,
    description="Tables of the answer, with commas, or `all`; an unknown name is refused with the "
    "list.",
)
_NOT_JSON = (b"NaN", b"Infinity")
"""What a figure that is no number would be written as, which only names may hold."""
KINDS: Mapping[str, type[AnswerModel]] = {
    "comparison": ComparisonAnswer,
    "portfolio": PortfolioAnswer,
}
"""Kind of job → the kind of answer that its result holds."""


class AnswerView(RateLimited):
    """A view whose answer, where `answers` says of which kinds it is, takes `include`."""

    answers: ClassVar[tuple[type[AnswerModel], ...]] = ()
    tables: ClassVar[tuple[str, ...]] = ()
    """What `include` may name beside the tables of the answers."""
    parameters: ClassVar[tuple[str, ...]] = ()

    @property
    def access(self) -> Access:
        return access_of_request(self.request)

    def read_query(self, request: Request) -> None:
        """Refuses unknown query parameters and tables."""
        self.query = Query(request, *self.allowed_parameters())
        names = self.query.words("include") if self.gives_answer() else ()
        self.include = read_include(names, *self.answers, beside=self.tables)

    def allowed_parameters(self) -> tuple[str, ...]:
        return (*self.parameters, "include") if self.gives_answer() else self.parameters

    def gives_answer(self) -> bool:
        return bool(self.answers)


def render_answer(answer: AnswerModel, include: Collection[str]) -> RenderedJson:
    """An answer with the tables that are included, written at once: one of 3 years has 30,000
    values. Raises `ValueError` where a figure is no number."""
    left_out = leave_out(type(answer), include)
    body = answer.model_dump_json(exclude=left_out)
    if any(word in body.encode() for word in _NOT_JSON):
        values = answer.model_dump(mode="json", exclude=left_out)
        body = JSONRenderer().render(values).decode()
    return RenderedJson(body)


def show_result(kind: str, result: Any, include: Collection[str]) -> Any:
    model = KINDS.get(kind)
    if model is None or not isinstance(result, dict):
        return result
    return drop(result, leave_out(model, include))


class PartField(serializers.JSONField):
    """A part of a record as a model describes it, or with `many` a list of them; read only. One
    that may be missing is `required=False`: the document takes what is read only for always there.
    Of an answer it gives what the view includes."""

    def __init__(
        self, model: type[BaseModel], *, many: bool = False, required: bool = True, **options: Any
    ) -> None:
        super().__init__(read_only=required, required=None if required else False, **options)
        self.model, self.many = model, many

    def to_representation(self, value: Any) -> Any:
        if self.many or not issubclass(self.model, AnswerModel):
            return value
        left_out = leave_out(self.model, getattr(self.context.get("view"), "include", ()))
        if isinstance(value, BaseModel):
            return value.model_dump(mode="json", exclude=left_out)
        return drop(value, left_out) if left_out else value


TEAM = Filter("team__slug")


class TeamViewSet(AnswerView, GenericViewSet[Any]):
    """List, read, create, edit and delete of one kind of thing, within the caller's teams.

    A subclass names its `model`, its serializers, what each action `needs`, and the service
    functions behind them. Its routes find rows through `get_queryset` alone.
    """

    permission_classes = (SignedIn,)
    http_method_names = METHODS
    lookup_value_converter = "uuid"
    pagination_class = CursorPages
    page_order: ClassVar[tuple[str, ...]] = ("-created_at", "id")

    model: ClassVar[type[models.Model]]
    list_serializer: ClassVar[type[serializers.BaseSerializer[Any]] | None] = None
    """Of the rows of a list, where they show less."""
    new: ClassVar[type[Body]]
    """The body of a creation."""
    changes: ClassVar[type[Body]]
    """The body of a change."""
    related: ClassVar[tuple[str, ...]] = ()
    """Rows read together with each row, so that a list costs a fixed number of queries."""
    deferred: ClassVar[tuple[str, ...]] = ()
    """Columns that lists leave unread."""
    filters: ClassVar[Mapping[str, Filter]] = {}
    needs: ClassVar[Mapping[str, Need]] = {}
    """What an action asks for, where it is not VIEW for reading and EDIT for writing."""
    query_parameters: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Action → query parameters beyond a list's filters."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuses unknown query parameters and tokens without the scope, before anything else."""
        super().initial(request, *args, **kwargs)
        require_length(request)
        require_scope(self.access, self.need().scope)
        self.read_query(request)

    def allowed_parameters(self) -> tuple[str, ...]:
        if self.action == "list":
            return (*self.filters, *PAGE_PARAMETERS)
        return (*super().allowed_parameters(), *self.query_parameters.get(self.action, ()))

    def gives_answer(self) -> bool:
        return super().gives_answer() and self.action not in ("list", "destroy", "export")

    def need(self) -> Need:
        reads = self.request.method in ("GET", "HEAD", "OPTIONS")
        return self.needs.get(self.action, VIEW if reads else EDIT)

    # Rows ---------------------------------------------------------------------------------

    def get_queryset(self) -> models.QuerySet[Any]:
        if getattr(self, "swagger_fake_view", False):
            return self.model._default_manager.none()
        rows: models.QuerySet[Any] = self.model.objects.for_access(  # type: ignore[attr-defined]
            self.access
        )
        rows = rows.filter(**self.within()).select_related(*self.related)
        return rows.defer(*self.deferred) if self.action == "list" else rows

    def within(self) -> Values:
        """Further limits that the address sets, such as the team it names."""
        return {}

    def get_serializer_class(self) -> type[serializers.BaseSerializer[Any]]:
        of_list = self.list_serializer if self.action == "list" else None
        return of_list or super().get_serializer_class()

    def filter_queryset(self, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        is_list = self.action == "list"
        return filter_rows(queryset, self.query, self.filters) if is_list else queryset

    def get_object(self) -> Any:
        """The row of the address, if the caller may see it and do this to it."""
        key = {self.lookup_field: self.kwargs[self.lookup_field]}
        row = get_object_or_404(self.get_queryset(), **key)
        self.require(row)
        return row

    def require(self, row: Any) -> None:
        require(self.access, row.pk if isinstance(row, Team) else row.team_id, self.need())

    # Answers ------------------------------------------------------------------------------

    def read_body(self, body: type[Body]) -> Values:
        return parse(body, self.request.data).values_set()

    def answer(self, row: Any, status: int = HTTPStatus.OK, **more: Any) -> Response:
        data = {**self.get_serializer(row).data, **more}
        headers = {"ETag": etag} if (etag := self.etag(row)) else {}
        if status == HTTPStatus.CREATED:
            headers["Location"] = self.location(row)
        return Response(data, status=status, headers=headers)

    def etag(self, row: Any) -> str:
        version = getattr(row, "version", None)
        return make_etag(row._meta.label, row.pk, version) if version else ""

    def seen_version(self, row: Any) -> int | None:
        """The version that If-Match names; 412 where it is no longer the current one."""
        if_match = self.request.META.get("HTTP_IF_MATCH", "*")
        if not matches_etag(if_match, self.etag(row)):
            raise StaleError
        return None if if_match.strip() == "*" else getattr(row, "version", None)

    def location(self, row: Any) -> str:
        keys = {name: self.kwargs[name] for name in self.kwargs if name != self.lookup_field}
        value = getattr(row, self.lookup_field)
        match = self.request.resolver_match
        assert match is not None
        name = f"{match.view_name.removesuffix('-list')}-detail"
        return reverse(name, kwargs={**keys, self.lookup_field: value})


class ListMixin(mixins.ListModelMixin, TeamViewSet):
    """What a list says of each thing is all that there is to say."""


class ReadMixin(ListMixin):
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row = self.get_object()
        etag = self.etag(row)
        if etag and is_not_modified(request, etag):
            return not_modified(etag)
        return self.answer(row)


class CreateMixin(TeamViewSet):
    @idempotent
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response | Write:
        create_row = self.prepare_row(self.read_body(self.new))

        return lambda: self.answer(create_row(), HTTPStatus.CREATED)

    def prepare_row(self, values: Values) -> Callable[[], Any]:
        """What creates the row; a view that computes for it does so here, before it writes."""
        return lambda: self.create_row(values)

    def create_row(self, values: Values) -> Any:
        raise NotImplementedError


class ChangeMixin(TeamViewSet):
    change: ClassVar[Callable[..., Any]]
    """The service `f(access, row, changes, seen_version)`, as a staticmethod."""

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row = self.get_object()
        seen = self.seen_version(row)
        return self.answer(self.change(self.access, row, self.read_body(self.changes), seen))


class DeleteMixin(mixins.DestroyModelMixin, TeamViewSet):
    delete_row: ClassVar[Callable[..., Any]]
    """The service `f(access, row)`, as a staticmethod."""

    def perform_destroy(self, instance: Any) -> None:
        self.seen_version(instance)
        self.delete_row(self.access, instance)


class InTeam(TeamViewSet):
    """Things under `/teams/{team}/`; a foreign team answers like one that is not there."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        teams = Team.objects.for_access(self.access)
        self.team: Team = get_object_or_404(teams, slug=kwargs["team"])
        require(self.access, self.team.pk, self.need())

    def within(self) -> Values:
        return {"team": self.team}
