"""Pages without figures of their own: the start, the method, the colours."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from planner.services.projects.comparisons import next_month
from planner.web.common.access import open_page
from planner.web.common.context import THEMES
from planner.web.common.glossary import TERMS
from planner.web.market.lowest_prices import lowest_prices
from planner.web.plan.presets import PRESETS

METHOD = (
    ("Training hours", "planner.sizing.footprint.training_flops"),
    ("Throughput", "planner.sizing.performance.throughput"),
    ("Goodput", "planner.sizing.performance.goodput"),
    ("Memory", "planner.sizing.footprint.memory"),
    ("Demand", "planner.sizing.demand"),
    ("Owning", "planner.costing.cost_model.ownership"),
    ("Renting", "planner.costing.cost_model.rental"),
    ("The plan", "planner.costing.optimizer.problem"),
    ("Finance", "planner.costing.cost_model.finance"),
    ("Break-even", "planner.costing.analysis.break_even"),
    ("Uncertainty", "planner.costing.analysis.monte_carlo"),
)
"""Rooms of the core whose docstrings make up the method page."""


@dataclass(frozen=True)
class Entry:
    name: str
    paragraphs: tuple[str, ...]


def _paragraphs(item: Any) -> tuple[str, ...]:
    """The docstring's paragraphs without its examples."""
    text = inspect.getdoc(item) or ""
    return tuple(part for part in text.split("\n\n") if part and not part.startswith(">>>"))


def _entries(module: Any) -> list[Entry]:
    public = [
        (name, item)
        for name, item in vars(module).items()
        if (inspect.isfunction(item) or inspect.isclass(item))
        and item.__module__ == module.__name__
        and not name.startswith("_")
    ]
    return [Entry(name, _paragraphs(item)) for name, item in public if inspect.getdoc(item)]


@open_page
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """What this is, ready examples, today's lowest prices."""
    first = next_month(timezone.now().date())
    context = {"presets": PRESETS, "lowest": lowest_prices(), "first": first}
    return render(request, "web/start.html", context)


@open_page
@require_safe
def method(request: HttpRequest) -> HttpResponse:
    """The formulas, from the docstrings of the core, and the glossary."""
    rooms = [(title, import_module(name)) for title, name in METHOD]
    sections = [
        {"title": title, "intro": _paragraphs(module), "entries": _entries(module)}
        for title, module in rooms
    ]
    return render(request, "web/method.html", {"sections": sections, "terms": TERMS})


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Light or dark, remembered for a year."""
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    answer = HttpResponseRedirect(back)
    wanted = request.POST.get("theme", "")
    if wanted in THEMES:
        answer.set_cookie("theme", wanted, max_age=365 * 86_400, samesite="Lax")
    return answer
