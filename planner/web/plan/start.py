"""Worked examples of the start page, the method page, the choice of colours."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from planner.contract.amounts import add_months, format_month, next_month
from planner.web.common.formatting import TERMS
from planner.web.common.views import THEMES, open_page
from planner.web.plan.forms import H100, as_query


@dataclass(frozen=True)
class Preset:
    title: str
    story: str
    """What somebody with this need would say."""
    address: str


def list_presets(today: dt.date) -> list[Preset]:
    """Worked examples: each is an address of the plan page, so that every figure can be changed."""
    first = next_month(today)
    return [
        Preset(title, story, as_query(_preset(title, values, first, starts)).urlencode())
        for title, story, values, starts in _EXAMPLES
    ]


def _preset(
    title: str, values: Mapping[str, str], first: dt.date, starts: Sequence[int]
) -> dict[str, str]:
    runs = {
        f"workload.runs.{i}.start": format_month(add_months(first, start))
        for i, start in enumerate(starts)
    }
    return {"name": title, **values, "start": format_month(first), **runs}


_EXAMPLES: tuple[tuple[str, str, Mapping[str, str], tuple[int, ...]], ...] = (
    (
        "Fine-tune a 7B model",
        "We adapt a 7-billion-parameter language model to our documents, four times a year.",
        {
            "workload.kind": "training",
            "workload.model": "7B",
            "workload.tokens~bn": "2",
            "workload.optimizer": "lora",
            "workload.precision": "bf16",
            "workload.sequence_length": "4096",
            "workload.experiments_factor": "3",
            "horizon_months": "12",
        },
        (0, 3, 6, 9),
    ),
    (
        "Vision model",
        "We train an image classifier on ImageNet-sized data and try many variants.",
        {
            "workload.kind": "samples",
            "workload.samples~mn": "1.28",
            "workload.epochs": "90",
            "workload.benchmark": "resnet-50-v1.5-imagenet-ngc",
            "workload.experiments_factor": "20",
            "horizon_months": "24",
        },
        (),
    ),
    (
        "Steady GPU-hours",
        "Our group uses eight H100 around the clock for three years.",
        {
            "workload.kind": "accelerator_hours",
            "workload.accelerator": H100,
            "workload.hours_per_month": "5840",
            "horizon_months": "36",
        },
        (),
    ),
)


@open_page
@require_safe
def method(request: HttpRequest) -> HttpResponse:
    return render(request, "web/method.html", {"terms": TERMS})


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    answer = HttpResponseRedirect(back)
    theme_name = request.POST.get("theme", "")
    if theme_name in THEMES:
        answer.set_cookie("theme", theme_name, max_age=365 * 86_400, samesite="Lax")
    return answer
