"""The API's own description: an OpenAPI 3.1 document, and a page to try it on."""

from __future__ import annotations

import threading
from functools import cache
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.callers import MarketAccess
from pricing.api.pages import PlainView
from pricing.api.rest import Query
from pricing.api.schema import results_of
from pricing.common.problems import PROBLEM_JSON, problem_body

_making = threading.Lock()


class Resource(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Its address below this one; {id} stands for an id.")
    address = serializers.CharField(help_text="Where it is.")
    description = serializers.CharField(help_text="What it is, or what the first method does.")
    methods = serializers.ListField(
        child=serializers.CharField(), help_text="What may be asked of it."
    )


def document() -> dict[str, Any]:
    """The document, made once per process: it changes with the code alone.

    Only one thread makes it, as the generator shares its state between all that ask at once.
    """
    with _making:
        return _make_document()


@cache
def _make_document() -> dict[str, Any]:
    generator: Any = SchemaGenerator
    schema: dict[str, Any] = generator().get_schema(request=None, public=True)
    return schema


class RootView(PlainView):
    """Every resource with its address and methods."""

    @extend_schema(operation_id="get_resources", responses=results_of(Resource))
    def get(self, request: Request) -> Response:
        Query(request)
        rows = [
            {
                "name": path.removeprefix(request.path).rstrip("/"),
                "address": path,
                "methods": [method.upper() for method in operations],
                "description": next(iter(operations.values())).get("description", ""),
            }
            for path, operations in document()["paths"].items()
            if path != request.path
        ]
        return Response({"results": rows})


class SchemaView(PlainView, SpectacularAPIView):
    """OpenAPI 3.1, as YAML or JSON by content negotiation."""

    permission_classes = (MarketAccess,)

    def _get_schema_response(self, request: Request) -> Response:
        return Response(document())


class DocsView(PlainView, SpectacularSwaggerSplitView):
    """Swagger UI from our own server, without inline scripts."""

    permission_classes = (MarketAccess,)
    url_name = "api:schema"
    template_name = "api/docs.html"

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """A page for people: who is not signed in is asked to, as on every other page."""
        is_visitor = not request.user.is_authenticated and "Authorization" not in request.headers
        if settings.LOGIN_REQUIRED and is_visitor:
            return redirect_to_login(request.get_full_path())
        return super().dispatch(request, *args, **kwargs)


@csrf_exempt
def missing(request: HttpRequest) -> JsonResponse:
    """What every other address under /api/v1/ answers."""
    return JsonResponse(
        problem_body(
            HTTPStatus.NOT_FOUND,
            "There is nothing here; addresses end in a slash, and /api/v1/ lists them.",
        ),
        status=HTTPStatus.NOT_FOUND,
        content_type=PROBLEM_JSON,
    )
