"""A form sent after the session ended is kept and offered again after signing in."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from planner.services.fair_use.addresses import client_address
from planner.services.fair_use.rates import may_store

_SESSION_KEY = "kept_form"
_DROPPED_FIELDS = frozenset({"csrfmiddlewaretoken"})
_SECRET = re.compile("password|^code$")
"""Names of boxes whose text is neither shown nor kept: passwords, and codes of a second factor."""
MAX_STORED_CHARACTERS = 100_000
"""Longest form that is kept; a longer one stays in the browser alone."""

Pairs = list[tuple[str, str]]


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """To the sign-in page, and from there back to where the visitor was, nothing lost."""
    if request.method in ("GET", "HEAD"):
        return _to_login(request, request.get_full_path())
    store_form(request)
    return _to_login(request, reverse("resume"))


def _to_login(request: HttpRequest, back: str) -> HttpResponse:
    if getattr(request, "htmx", False):
        here = request.htmx.current_url_abs_path or back  # type: ignore[attr-defined]
        answer = HttpResponse(status=HTTPStatus.NO_CONTENT)
        answer["HX-Redirect"] = redirect_to_login(here).url
        return answer
    return redirect_to_login(back)


def store_form(request: HttpRequest) -> None:
    """Puts what was typed into the visitor's session, unless it is more than one may leave."""
    size = sum(len(name) + len(value) for name, value in _pairs(request))
    if size <= MAX_STORED_CHARACTERS and may_store(client_address(request.META), size):
        request.session[_SESSION_KEY] = {"path": request.get_full_path(), **_typed(request)}


def _typed(request: HttpRequest) -> dict[str, Any]:
    """What can be sent again, and what has to be chosen or typed once more."""
    return {
        "pairs": _pairs(request),
        "files": list(request.FILES),
        "secrets": [name for name in request.POST if _SECRET.search(name)],
    }


def _pairs(request: HttpRequest) -> Pairs:
    return [
        (name, value)
        for name, values in request.POST.lists()
        if name not in _DROPPED_FIELDS and not _SECRET.search(name)
        for value in values
        if isinstance(value, str)
    ]


@require_safe
def resume(request: HttpRequest) -> HttpResponse:
    """What was typed before the session ended, to be sent now."""
    if not request.user.is_authenticated:
        return sign_in_first(request)
    stored: dict[str, Any] | None = request.session.get(_SESSION_KEY)
    if stored is None:
        return redirect("team")
    del request.session[_SESSION_KEY]
    return render(request, "team/again.html", {**stored, "why": "You were signed out."})


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form of our own that grew too old is offered again; any other is refused."""
    own = f"{request.scheme}://{request.get_host()}"
    signed_in = request.user.is_authenticated
    why = "This page was opened before you signed in." if signed_in else "You are not signed in."
    context: dict[str, Any] = {"why": why}
    if request.headers.get("Origin") == own:
        context |= {"path": request.get_full_path(), **_typed(request)}
    return render(request, "team/again.html", context, status=HTTPStatus.FORBIDDEN)


def back_to(request: HttpRequest, fallback: str) -> HttpResponseRedirect:
    """Where an action came from, if that is a page of ours; else `fallback`."""
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return HttpResponseRedirect(back if safe else fallback)
