"""Worked examples of the start page, the method page, the choice of colours."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from pathlib import Path

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from planner.contract.amounts import add_months, format_month, next_month
from planner.web.common.formatting import TERMS
from planner.web.common.views import THEMES, back_to, open_page
from planner.web.plan.forms import as_query
from pricing.common.tables import read_table


@dataclass(frozen=True)
class Preset:
    title: str
    story: str
    """What somebody with this need would say."""
    address: str
    starts: tuple[str, ...] = ()
    """Of its runs, in months after the plan's first."""


def list_presets(today: dt.date) -> list[Preset]:
    """Worked examples: each is an address of the plan page, so that every figure can be changed."""
    return [_begin(one, next_month(today)) for one in read_table(_PRESETS, Preset)]


_PRESETS = Path(__file__).with_name("presets.csv")


def _begin(preset: Preset, first: dt.date) -> Preset:
    dates = {"start": format_month(first)}
    for i, months in enumerate(preset.starts):
        dates[f"workload.runs.{i}.start"] = format_month(add_months(first, int(months)))
    values = {"name": preset.title, **QueryDict(preset.address).dict(), **dates}
    return replace(preset, address=as_query(values).urlencode())


@open_page
@require_safe
def method(request: HttpRequest) -> HttpResponse:
    return render(request, "web/method.html", {"terms": TERMS})


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    answer = back_to(request, "/")
    theme_name = request.POST.get("theme", "")
    if theme_name in THEMES:
        answer.set_cookie("theme", theme_name, max_age=365 * 86_400, samesite="Lax")
    return answer
