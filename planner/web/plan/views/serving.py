"""From what has to be served to the plan of its hours."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.contract.answer.estimate import ServingPlan
from planner.services.projects.comparisons import estimate_request
from planner.web.common.access import open_page
from planner.web.common.current_team import current_team
from planner.web.common.query_codec import drop_empty, number, write
from planner.web.plan.start_questions import SERVE, USUAL_ACCELERATOR, start_context
from pricing.common.invalid_input import InvalidInput

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
        plan = _plan_serving({name: query.get(name, "") for name in _QUESTIONS})
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


def _plan_serving(answers: dict[str, str]) -> ServingPlan:
    """Raises `InvalidInput` on what cannot be served."""
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
    return answer.serving
