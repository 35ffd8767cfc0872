"""Ready examples: each is an address of the plan page, so that every figure can be changed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from planner.contract.amounts import add_months, format_month, next_month
from planner.contract.models.known_models import model_names
from planner.web.common.choices import list_choices
from planner.web.common.formatting import TERMS
from planner.web.common.views import THEMES, current_team, open_page


@dataclass(frozen=True)
class Preset:
    title: str
    story: str
    """What somebody with this need would say."""
    values: Mapping[str, str]
    first: dt.date
    """First month of the plan."""
    run_starts: tuple[int, ...] = ()
    """Months from the first in which a run begins."""

    @property
    def address(self) -> str:
        plan = {"name": self.title, **self.values, "start": format_month(self.first)}
        runs = {
            f"workload.runs.{i}.start": format_month(add_months(self.first, start))
            for i, start in enumerate(self.run_starts)
        }
        return urlencode(plan | runs)


def list_presets(today: dt.date) -> tuple[Preset, ...]:
    first = next_month(today)
    return tuple(
        Preset(title, story, values, first, _RUN_STARTS.get(title, ()))
        for title, story, values in _EXAMPLES
    )


_RUN_STARTS: Mapping[str, tuple[int, ...]] = {"Fine-tune a 7B model": (0, 3, 6, 9)}
_EXAMPLES: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    (
        "Fine-tune a 7B model",
        "We adapt a 7-billion-parameter language model to our documents, four times a year.",
        {
            "workload.kind": "training",
            "workload.parameters~bn": "7",
            "workload.tokens~bn": "2",
            "workload.optimizer": "lora",
            "workload.precision": "bf16",
            "workload.sequence_length": "4096",
            "workload.experiments_factor": "3",
            "horizon_months": "12",
        },
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
    ),
    (
        "Steady GPU-hours",
        "Our group uses eight H100 around the clock for three years.",
        {
            "workload.kind": "accelerator_hours",
            "workload.accelerator": "nvidia-h100-80gb-sxm",
            "workload.hours_per_month": "5840",
            "horizon_months": "36",
        },
    ),
)


MONTHS_ASKED = 12
"""Months from the first to the last that the questions of the start page begin with."""
USUAL_CURRENCY = "USD"
USUAL_ACCELERATOR = "nvidia-h100-80gb-sxm"
"""The accelerator that hours and serving begin with."""


@dataclass(frozen=True)
class Work:
    key: str
    title: str
    is_sized: bool = False
    """Whether its hours are estimated from a model, so that the code matters."""

    @property
    def template(self) -> str:
        return f"web/start/{self.key}.html"


KINDS = (
    Work("train", "Train a model", is_sized=True),
    Work("fine_tune", "Fine-tune", is_sized=True),
    Work("serve", "Serve a model"),
    Work("hours", "I know the hours"),
)


def find_work(key: str) -> Work:
    return next((kind for kind in KINDS if kind.key == key), KINDS[0])


@open_page
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    work, team = find_work(request.GET.get("work", "")), current_team(request)
    own = team.currency if team else USUAL_CURRENCY
    today = timezone.now().date()
    first = next_month(today)
    context = {
        "kinds": KINDS,
        "work": work,
        "usual": USUAL_ACCELERATOR,
        "presets": list_presets(today),
        "first": format_month(first),
        "last": format_month(add_months(first, MONTHS_ASKED - 1)),
        "models": model_names(),
        "places": list_choices("geographies"),
        "software": list_choices("software"),
        "servers": [row for row in list_choices("servers") if row[0] != "custom"],
        "accelerators": list_choices("accelerators"),
        "tunings": list_choices("tunings"),
        "engines": list_choices("serving_engines"),
        "currency": own,
        "currencies": [code for code, _ in list_choices("currencies") if code != own],
    }
    return render(request, "web/start.html", context)


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
