"""Pages without figures of their own: the start, the method, the colours."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from planner.web.common.access import open_page
from planner.web.common.context import THEMES
from planner.web.common.current_team import current_team
from planner.web.common.glossary import TERMS
from planner.web.method.methodology import read_sections
from planner.web.plan.start_questions import find_work, start_context


@open_page
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """What this is, the questions of one kind of work, ready examples, today's lowest prices."""
    work = find_work(request.GET.get("work", ""))
    return render(
        request, "web/start.html", start_context(work, request.GET, current_team(request))
    )


@open_page
@require_safe
def method(request: HttpRequest) -> HttpResponse:
    """The formulas, from docs/methodology, and the glossary."""
    return render(request, "web/method.html", {"sections": read_sections(), "terms": TERMS})


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Light or dark, remembered for a year."""
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    answer = HttpResponseRedirect(back)
    theme_name = request.POST.get("theme", "")
    if theme_name in THEMES:
        answer.set_cookie("theme", theme_name, max_age=365 * 86_400, samesite="Lax")
    return answer
