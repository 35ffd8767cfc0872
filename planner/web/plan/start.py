"""Ready examples: each is an address of the plan page, so that every figure can be changed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from planner.contract.amounts import add_months, format_month, next_month
from planner.contract.models.known_models import model_names
from planner.models import Team
from planner.services.projects.comparisons import estimate_request
from planner.web.common.choices import list_choices
from planner.web.common.formatting import TERMS
from planner.web.common.query_codec import drop_empty, number, write
from planner.web.common.views import THEMES, current_team, open_page
from pricing.common.invalid_input import InvalidInput


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
    view: str = "plan"
    """Name of the page that takes the answers."""

    @property
    def template(self) -> str:
        return f"web/start/{self.key}.html"


KINDS = (
    Work("train", "Train a model", is_sized=True),
    Work("fine_tune", "Fine-tune", is_sized=True),
    Work("serve", "Serve a model", view="plan-serving"),
    Work("hours", "I know the hours"),
)
SERVE = KINDS[2]


def find_work(key: str) -> Work:
    return next((kind for kind in KINDS if kind.key == key), KINDS[0])


def start_context(
    work: Work, typed: QueryDict, team: Team | None, refusal: str = ""
) -> dict[str, Any]:
    own = team.currency if team else USUAL_CURRENCY
    today = timezone.now().date()
    first = next_month(today)
    return {
        "kinds": KINDS,
        "work": work,
        "typed": typed,
        "refusal": refusal,
        "usual": typed.get("accelerator") or USUAL_ACCELERATOR,
        "presets": list_presets(today),
        "first": format_month(first),
        "last": format_month(add_months(first, MONTHS_ASKED - 1)),
        "models": model_names(),
        "places": list_choices("geographies"),
        "software": list_choices("software"),
        "servers": [row for row in list_choices("servers") if row[0] != "custom"],
        "accelerators": list_choices("accelerators"),
        "tunings": list_choices("tunings"),
        "currency": own,
        "currencies": [code for code, _ in list_choices("currencies") if code != own],
    }


@open_page
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    work = find_work(request.GET.get("work", ""))
    return render(
        request, "web/start.html", start_context(work, request.GET, current_team(request))
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


HOURS_A_DAY = 24
_QUESTIONS = ("model", "tokens_per_second", "hours_a_day", "accelerator")
_WORDS = {
    "serving.tokens_per_second": "Tokens a second",
    "serving.busy_share": "Hours a day",
    "workload.model": "Model",
}


@open_page
@require_safe
def serving(request: HttpRequest) -> HttpResponse:
    """Sends on to the plan of the hours that serving takes; back with the refusal otherwise."""
    query = drop_empty(request.GET)
    try:
        answers = {name: query.get(name, "") for name in _QUESTIONS}
        hours_a_day = number(answers["hours_a_day"] or str(HOURS_A_DAY))
        if not isinstance(hours_a_day, int | float) or not 0 < hours_a_day <= HOURS_A_DAY:
            raise InvalidInput("serving.busy_share", "must be more than 0 and at most 24")
        answer = estimate_request(
            {
                "workload": {"kind": "training", "model": answers["model"], "tokens": 1},
                "accelerator": answers["accelerator"] or USUAL_ACCELERATOR,
                "serving": {
                    "tokens_per_second": number(answers["tokens_per_second"]),
                    "busy_share": hours_a_day / HOURS_A_DAY,
                },
            }
        )
        if answer.serving is None:
            raise InvalidInput("workload.model", "is not a language model that can be served")
        plan = answer.serving
    except InvalidInput as refusal:
        field = _WORDS.get(refusal.field, "Serving")
        context = start_context(SERVE, query, current_team(request), f"{field}: {refusal.message}")
        return render(request, "web/start.html", context, status=400)
    accelerator = query.get("accelerator") or USUAL_ACCELERATOR
    changes = {
        "name": f"Serve {query.get('model', '')}",
        "workload.kind": "accelerator_hours",
        "workload.accelerator": accelerator,
        "workload.hours_per_month": round(plan.accelerator_hours_per_month, 2),
        "workload.peak_accelerators": plan.accelerators,
    }
    address = write(drop_empty(query, *_QUESTIONS), **changes)
    return HttpResponseRedirect(f"{reverse('plan')}?{address}")
