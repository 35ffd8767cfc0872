"""Pages without figures of their own: the start, the method, the colours."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from planner.contract.models.known_models import model_names
from planner.contract.months import add_months, format_month, next_month
from planner.web.common.access import open_page
from planner.web.common.choices import list_choices
from planner.web.common.context import THEMES
from planner.web.common.glossary import TERMS
from planner.web.market.lowest_prices import lowest_prices
from planner.web.method.methodology import read_sections
from planner.web.plan.presets import list_presets

MONTHS_ASKED = 12
"""Months from the first to the last that the questions of the start page begin with."""


@open_page
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """What this is, ready examples, today's lowest prices."""
    today = timezone.now().date()
    first = format_month(next_month(today))
    context = {
        "presets": list_presets(today),
        "lowest": lowest_prices(),
        "first": first,
        "last": format_month(add_months(next_month(today), MONTHS_ASKED - 1)),
        "models": model_names(),
        "places": list_choices("geographies"),
        "software": list_choices("software"),
    }
    return render(request, "web/start.html", context)


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
