"""The API's own description: an OpenAPI 3.1 document, and a page to try it on."""

from __future__ import annotations

import threading
from functools import cache
from http import HTTPStatus
from typing import Any, NoReturn

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotAuthenticated
from rest_framework.renderers import BaseRenderer, JSONRenderer, TemplateHTMLRenderer
from rest_framework.request import Request

from planner.api.callers import MarketAccess
from pricing.api.pages import PlainView
from pricing.api.rest import PROBLEM_JSON, is_not_modified, make_etag, not_modified, problem_body

_making = threading.Lock()


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


@cache
def _etag() -> str:
    return make_etag(document())


_documents: dict[type[BaseRenderer], str | bytes] = {}


def _render(renderer: BaseRenderer) -> str | bytes:
    """The document as text, made once per process: as YAML it takes a tenth of a second."""
    kind = type(renderer)
    if kind not in _documents:
        _documents[kind] = renderer.render(document(), renderer_context={})
    return _documents[kind]


class SchemaView(PlainView, SpectacularAPIView):
    """OpenAPI 3.1, as YAML or JSON by content negotiation."""

    permission_classes = (MarketAccess,)

    def _get_schema_response(self, request: Request) -> HttpResponseBase:
        if is_not_modified(request, _etag()):
            return not_modified(_etag())
        renderer = request.accepted_renderer
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        content_type = f"{renderer.media_type}{charset}"
        return HttpResponse(_render(renderer), content_type=content_type, headers={"ETag": _etag()})


class _PlainTemplate(TemplateHTMLRenderer):
    """Renders without the context that the site's own pages share."""

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> Any:
        name = renderer_context["response"].template_name
        return render_to_string(name, data) if name else JSONRenderer().render(data)


class SignInFirst(NotAuthenticated):
    """A visitor of a page that is closed to visitors."""


class DocsView(PlainView, SpectacularSwaggerSplitView):
    """Swagger UI from our own server, without inline scripts."""

    permission_classes = (MarketAccess,)
    renderer_classes = [_PlainTemplate]
    url_name = "api:schema"
    template_name = "api/docs.html"

    def permission_denied(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        """A page for people: who is not signed in is asked to, as on every other page."""
        if request.auth is None and not request.user.is_authenticated:
            raise SignInFirst
        super().permission_denied(request, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Any:
        if isinstance(exc, SignInFirst):
            return redirect_to_login(self.request.get_full_path())
        return super().handle_exception(exc)


@csrf_exempt
def missing(request: HttpRequest) -> JsonResponse:
    """What every other address under /api/v1/ answers."""
    return JsonResponse(
        problem_body(
            HTTPStatus.NOT_FOUND,
            "There is nothing here that you may see; addresses end in a slash.",
        ),
        status=HTTPStatus.NOT_FOUND,
        content_type=PROBLEM_JSON,
    )
