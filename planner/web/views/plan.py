"""The plan page: the form, the answer so far, and the answer. The address is the request."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.sizing.estimate import estimate
from planner.web import charts
from planner.web.access import open_page
from planner.web.answers import AnswerPage
from planner.web.fields import KINDS
from planner.web.forms import PlanForm
from planner.web.plan_request import Outcome, outcome_of
from planner.web.presets import PRESETS
from planner.web.team.current import current_team
from pricing.invalid_input import InvalidInput

WORKLOAD_KINDS = (
    ("training", "I know my model"),
    ("samples", "I know my samples"),
    ("accelerator_hours", "I know my hours"),
)


@open_page
@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    """The form; with a workload in the address, its answer below."""
    outcome = outcome_of(request.GET, current_team(request))
    context = _form_context(request.GET, outcome) | {"live": live_of(outcome)}
    if outcome.answer:
        context["page"] = AnswerPage(outcome.answer, request.GET.get("scenario", ""), request.GET)
        context["address"] = without(request.GET, "scenario")
    status = 400 if outcome.refusals else 200
    return render(request, "web/plan/page.html", context, status=status)


@open_page
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The panel beside the form, as one types."""
    outcome = outcome_of(request.GET, current_team(request))
    return render(
        request, "web/plan/live.html", {"live": live_of(outcome), "titles": charts.TITLES}
    )


def without(query: QueryDict, *names: str) -> str:
    """The address with some names taken out."""
    kept = query.copy()
    for name in names:
        kept.pop(name, None)
    return kept.urlencode()


def live_of(outcome: Outcome) -> dict[str, Any]:
    """What the panel shows: hours, memory and fit, totals, or what is still missing."""
    answer = outcome.answer
    if answer is None:
        return {"refusals": outcome.refusals}
    hours = sum(float(value) for value in answer["demand"]["hours_per_month"])
    return {"answer": answer, "hours": hours, "estimate": _estimate(outcome, answer)}


def _estimate(outcome: Outcome, answer: dict[str, Any]) -> dict[str, Any] | None:
    workload = outcome.request["workload"]
    if workload.get("kind") != "training":
        return None
    try:
        found = estimate({"workload": workload, "accelerator": answer["demand"]["accelerator"]})
    except InvalidInput:
        return None
    return found.as_dict()


def _form_context(query: QueryDict, outcome: Outcome) -> dict[str, Any]:
    form = PlanForm(query, outcome.refusals)
    groups = ("plan", "training", "samples", "hours", "work", "limits", "owning", "finance")
    boxes = {name: form.boxes(name) for name in (*groups, "prices", "risk")}
    rows = {
        "runs": form.rows("workload.runs"),
        "quotas": form.rows("constraints.quotas"),
        "servers": form.rows("on_prem.servers"),
        "owned": form.rows("on_prem.already_owned"),
        "custom_offers": form.rows("custom_offers"),
        "adjustments": form.rows("price_adjustments"),
    }
    return {
        "form": form,
        "boxes": boxes,
        "rows": rows,
        "open": _open_folds(query, outcome),
        "kinds": WORKLOAD_KINDS,
        "presets": PRESETS,
        "titles": charts.TITLES,
        "outcome": outcome,
        "known": KINDS,
    }


_FOLDS = {
    "limits": ("constraints",),
    "owning": ("on_prem", "finance", "data", "custom_offers", "price_adjustments", "use_catalog"),
    "risk": ("risk",),
}


def _open_folds(query: QueryDict, outcome: Outcome) -> dict[str, bool]:
    """Folds that hold a value, a refusal or a row just added are open."""
    named = [*query, *(refusal.field for refusal in outcome.refusals)]
    roots = {name.removeprefix("rows.").partition(".")[0] for name in named}
    return {fold: bool(roots.intersection(parts)) for fold, parts in _FOLDS.items()}
