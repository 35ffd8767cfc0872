"""What machines ask: is it alive, can it serve, what did it count.

Answered before anything else, so that a probe may call a process by its address and over plain
http: `ALLOWED_HOSTS` and the redirect to https are for people.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from planner.services.observability.exposition import CONTENT_TYPE_LATEST, render_measures
from planner.services.observability.readiness import DEGRADED, FAILED, check_readiness
from pricing.api.rest import PROBLEM_JSON, problem_body

View = Callable[[HttpRequest], HttpResponse]


class Probes:
    """Answers `/livez`, `/readyz` and `/metrics`; everything else goes on."""

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response
        self.views: dict[str, View] = {
            "/livez": show_alive,
            "/readyz": show_readiness,
            "/metrics": show_measures,
        }

    def __call__(self, request: HttpRequest) -> HttpResponse:
        view = self.views.get(request.path_info)
        if view is None:
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return _refuse(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD are answered here.")
        response = view(request)
        response.headers["Cache-Control"] = "no-store"
        return response


def show_alive(_request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is looked at, so that a database that is away restarts
    no process."""
    return JsonResponse({"status": "ok"})


def show_readiness(request: HttpRequest) -> HttpResponse:
    """503 where nothing can be served; with `?strict=1` also where something is degraded."""
    readiness = check_readiness()
    failing = (FAILED, DEGRADED) if request.GET.get("strict") == "1" else (FAILED,)
    status = HTTPStatus.OK
    if readiness.state in failing:
        status = HTTPStatus.SERVICE_UNAVAILABLE
    checks = {name: asdict(check) for name, check in readiness.checks.items()}
    return JsonResponse({"status": readiness.state, "checks": checks}, status=status)


def show_measures(request: HttpRequest) -> HttpResponse:
    """For who holds `METRICS_TOKEN`; without that setting there is no such address."""
    if not settings.METRICS_TOKEN:
        return _refuse(HTTPStatus.NOT_FOUND, "METRICS_TOKEN is not set.")
    expected = f"Bearer {settings.METRICS_TOKEN}"
    header = request.headers.get("Authorization", "")
    if not secrets.compare_digest(header.encode(), expected.encode()):
        response = _refuse(HTTPStatus.UNAUTHORIZED, "Send METRICS_TOKEN as the bearer token.")
        response.headers["WWW-Authenticate"] = "Bearer"
        return response
    return HttpResponse(render_measures(), content_type=CONTENT_TYPE_LATEST)


def _refuse(status: HTTPStatus, detail: str) -> HttpResponse:
    return JsonResponse(problem_body(status, detail), status=status, content_type=PROBLEM_JSON)
