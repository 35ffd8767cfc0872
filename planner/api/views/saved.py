"""Saved comparisons: kept, replayed, repriced, submitted, approved, exported."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from planner.api.base import (
    ChangeMixin,
    CreateMixin,
    DeleteMixin,
    ReadMixin,
    Values,
    by_choice,
    by_id,
    by_slug,
)
from planner.api.downloads import EXPORT_SCHEMA, SCENARIO, download
from planner.api.serializers import projects as serializers
from planner.api.views.teams import ByCreation
from planner.exports.saved_context import context_of
from planner.models import Project, SavedComparison, State
from planner.services.projects import saved_comparisons as services
from planner.services.projects.reprice import catalog_on_date, reprice
from planner.services.teams.permissions import APPROVE, VIEW
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput

_FROZEN = ("given", "request", "inherited", "assumptions", "answer")


class SavedComparisonsView(ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """Answers kept with the request, revisions and assumptions that they came from."""

    model = SavedComparison
    related = ()
    deferred = _FROZEN
    pagination_class = ByCreation
    serializer_class = serializers.SavedComparisonDetailSerializer
    write_serializer = serializers.NewSavedComparisonSerializer
    change_serializer = serializers.SavedComparisonChangesSerializer
    filters = {
        "team": by_slug("team__slug"),
        "project": by_id("project_id"),
        "variant": by_id("variant_id"),
        "scenario": by_id("variant_id"),
        "state": by_choice("state", State.values),
    }
    query_parameters = {"export": ("scenario",)}
    needs = {"replay": VIEW, "reprice": VIEW, "export": VIEW, "approve": APPROVE}

    @cached_property
    def current_revisions(self) -> dict[str, int]:
        return {r.provider: r.number for r in catalogs.revisions_in_force()}

    def get_serializer_class(self) -> type[BaseSerializer[Any]]:
        if self.action == "list":
            return serializers.SavedComparisonSerializer
        return serializers.SavedComparisonDetailSerializer

    def prepare_row(self) -> Callable[[], tuple[SavedComparison, Values]]:
        values = self.read_body(serializers.NewSavedComparisonSerializer)
        project = self.pick(Project.objects, "project", values.pop("project"))
        field = "variant" if values.get("variant") is not None else "scenario"
        former, variant = values.pop("scenario", None), values.pop("variant", None)
        if former is not None and variant is not None and former != variant:
            raise InvalidInput("scenario", "differs from variant, which replaces it; send one")
        if (pk := variant or former) is not None:
            values["variant"] = self.pick(project.variants, field, pk)
        save = services.prepare_comparison(self.access, project, **values)
        return lambda: (save(), {})

    def change_row(self, row: SavedComparison, seen: int | None) -> SavedComparison:
        changes = self.read_body(serializers.SavedComparisonChangesSerializer)
        return services.change_saved(self.access, row, changes, seen)

    def delete_row(self, row: SavedComparison) -> None:
        services.delete_saved(self.access, row)

    @extend_schema(request=None, responses=serializers.ReplaySerializer)
    @action(detail=True, methods=["post"])
    def replay(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Computes it again at its own revisions and holds it against what was kept."""
        return Response(services.replay(self.get_object()).as_dict())

    @extend_schema(request=serializers.RepriceSerializer, responses=serializers.RepricedSerializer)
    @action(detail=True, methods=["post"])
    def reprice(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The same question at today's prices or another day's, the difference by cause."""
        row = self.get_object()
        values = self.read_body(serializers.RepriceSerializer)
        catalog = catalog_on_date(values.get("as_of"))
        return Response(reprice(row, catalog, values.get("request")).as_dict())

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From draft to submitted."""
        return self._move(services.submit)

    @extend_schema(request=serializers.SendBackSerializer)
    @action(detail=True, methods=["post"], url_path="send-back")
    def send_back(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From submitted to draft again, with a reason where one is given."""
        values = self.read_body(serializers.SendBackSerializer)
        return self._move(partial(services.send_back, **values))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """From submitted to approved; the one approved before is superseded."""
        return self._move(services.approve)

    def _move(self, move: Any) -> Response:
        row = self.get_object()
        return self.answer(move(self.access, row, self.seen_version(row)))

    @extend_schema(responses=EXPORT_SCHEMA, parameters=[SCENARIO])
    @action(detail=True, url_path="exports/<export_format:form>")
    def export(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The comparison as csv, xlsx, json or FOCUS 1.2 rows."""
        row = self.get_object()
        context = context_of(row, self.query.text("scenario") or "")
        return download(row.read_answer(), context, kwargs["form"])
