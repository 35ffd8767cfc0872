"""The plan page: the form, the answer so far, and the answer. The address is the request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.contract.labels import SCENARIO_TITLES
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.assumption_rows import Message, messages_of
from planner.web.common import sharing
from planner.web.common.access import open_page
from planner.web.common.current_team import current_team
from planner.web.common.plan_request import MAX_FUTURES_AT_ONCE, Outcome, outcome_of
from planner.web.common.query_codec import tidied
from planner.web.plan.forms import PlanForm
from planner.web.plan.live import live_of
from planner.web.plan.presets import PRESETS

WORKLOAD_KINDS = (
    ("training", "I know my model"),
    ("samples", "I know my samples"),
    ("accelerator_hours", "I know my hours"),
)
_REPEATED_GROUPS = {
    "runs": (
        "workload.runs",
        "Runs",
        "when the training happens; spread over the horizon if left empty",
    ),
    "quotas": ("constraints.quotas", "Quotas", "most accelerators a provider gives you at once"),
    "servers": (
        "on_prem.servers",
        "Servers to consider",
        "reference servers of the accelerator if left empty",
    ),
    "owned": ("on_prem.already_owned", "Servers you already own"),
    "custom_offers": ("custom_offers", "Private offers", "prices negotiated with a provider"),
    "adjustments": ("price_adjustments", "Contract discounts", "multipliers on list prices"),
}
"""Field of the request, title and help of each group of rows."""
Context = dict[str, Any]


@open_page
@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    """The form; with a workload in the address, its answer."""
    query = tidied(request.GET)
    in_place = _is_in_place(request)
    if len(query) < len(request.GET) and not in_place:
        return HttpResponseRedirect(_address(query))
    shows_form = "edit" in query or any(name.startswith("rows.") for name in query)
    outcome = outcome_of(query, current_team(request), in_short=shows_form)
    if in_place:
        return _in_place(request, query, outcome)
    if outcome.answered and not shows_form:
        return render(request, "web/plan/answer.html", answer_context(query, outcome))
    if outcome.is_long:
        outcome = replace(outcome_of(query, current_team(request), in_short=True), is_long=True)
    status = 400 if outcome.refusals else 200
    return render(request, "web/plan/form_page.html", _form_context(query, outcome), status=status)


@open_page
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The panel beside the form, as one types."""
    query = tidied(request.GET)
    outcome = outcome_of(query, current_team(request), in_short=True)
    return render(request, "web/plan/live.html", _live_context(query, outcome))


def _is_in_place(request: HttpRequest) -> bool:
    """Whether an assumption was changed on an open answer, which takes the new figures in."""
    return bool(getattr(request, "htmx", False)) and not request.htmx.history_restore_request  # type: ignore[attr-defined]


def _address(query: QueryDict) -> str:
    return f"{reverse('plan')}?{query.urlencode()}"


def _in_place(request: HttpRequest, query: QueryDict, outcome: Outcome) -> HttpResponse:
    """New figures for an open answer, or the messages beside what was refused."""
    if outcome.answered:
        answer = render(request, "web/answer/edited.html", answer_context(query, outcome))
        answer["HX-Push-Url"] = _address(query)
        return answer
    if not outcome.refusals:
        answer = HttpResponse()
        answer["HX-Redirect"] = _address(query)
        return answer
    context = {
        "rows": messages_of(request.GET, outcome.refusals),
        "refusals": [Message(refusal.field, refusal.message) for refusal in outcome.refusals],
    }
    answer = render(request, "web/answer/refused.html", context)
    answer["HX-Reswap"] = "none"
    return answer


def answer_context(query: QueryDict, outcome: Outcome) -> Context:
    """What the answer's templates need."""
    if outcome.answered is None:
        raise ValueError("There is no answer to show.")
    answered = outcome.answered
    return {
        "outcome": outcome,
        "page": AnswerPage(answered.answer, query.get("scenario", ""), query),
        "address": tidied(query, "scenario").urlencode(),
        "share": f"{reverse('plan')}?{sharing.address_to_share(answered)}",
        "inherited": answered.inherited,
        "since": sharing.since(query, answered),
        "todays": sharing.with_todays_prices(query),
        "titles": SCENARIO_TITLES,
    }


def _live_context(query: QueryDict, outcome: Outcome) -> Context:
    return {"live": live_of(query, outcome), "titles": SCENARIO_TITLES, "outcome": outcome}


def _form_context(query: QueryDict, outcome: Outcome) -> Context:
    form = PlanForm(query, outcome.refusals)
    groups = ("plan", "training", "samples", "hours", "work", "limits", "owning", "finance")
    boxes = {name: form.boxes(name) for name in (*groups, "prices", "risk")}
    rows = {key: form.rows(*group) for key, group in _REPEATED_GROUPS.items()}
    return _live_context(query, outcome) | {
        "form": form,
        "boxes": boxes,
        "rows": rows,
        "open": _open_folds(query, outcome),
        "kinds": WORKLOAD_KINDS,
        "presets": PRESETS,
        "most_futures": MAX_FUTURES_AT_ONCE,
    }


_FOLDS = {
    "limits": ("constraints",),
    "owning": (
        "on_prem",
        "finance",
        "data",
        "custom_offers",
        "price_adjustments",
        "use_catalog",
        "inherits",
    ),
    "risk": ("risk",),
}


def _open_folds(query: QueryDict, outcome: Outcome) -> dict[str, bool]:
    """Folds that hold a value, a refusal or a row just added are open."""
    named = [*query, *(refusal.field for refusal in outcome.refusals)]
    roots = {name.removeprefix("rows.").partition(".")[0] for name in named}
    return {fold: bool(roots.intersection(parts)) for fold, parts in _FOLDS.items()}
