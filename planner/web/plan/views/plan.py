"""The plan page: the form, the answer so far, and the answer. The address is the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.contract.labels import SCENARIO_TITLES
from planner.services.projects.comparisons import ComparisonOutcome
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.assumption_rows import Message, messages_of
from planner.web.common import sharing
from planner.web.common.access import open_page
from planner.web.common.current_team import current_team
from planner.web.common.form_fields import in_field_unit
from planner.web.common.plan_fields.sized_work import MEASURED
from planner.web.common.plan_request import (
    MAX_SAMPLES_AT_ONCE,
    answer_plan,
    find_plan_total,
)
from planner.web.common.query_codec import drop_empty, with_start
from planner.web.plan import whose_rates
from planner.web.plan.forms import PlanForm
from planner.web.plan.live import build_live_panel
from planner.web.plan.presets import list_presets
from pricing.common.invalid_input import InvalidInput

WORKLOAD_KINDS = (
    ("training", "I know my model"),
    ("samples", "I know my samples"),
    ("accelerator_hours", "I know my hours"),
)
_REPEATED_GROUPS = {
    "runs": (
        "workload.runs",
        "Runs",
        "when the training happens; one run from the first month if left empty",
    ),
    "quotas": ("constraints.quotas", "Quotas", "most accelerators a provider gives you at once"),
    "year_budgets": (
        "constraints.capex_by_fiscal_year",
        "Budgets for buying by fiscal year",
        "a year that is not named has no limit of its own",
    ),
    "sites": ("constraints.sites", "Sites", "what each has room for"),
    "servers": (
        "on_prem.servers",
        "Servers to consider",
        "reference servers of the accelerator if left empty",
    ),
    "owned": ("on_prem.already_owned", "Servers you already own"),
    "commitments": (
        "existing.commitments",
        "Commitments already signed",
        "paid to their end and used first",
    ),
    "leased": ("existing.leased_servers", "Servers on lease", "owed to the end of the lease"),
    "credits": ("existing.credits", "Credits", "pay a provider's bills until they expire"),
    "minimum_spend": (
        "existing.minimum_spend",
        "Minimum spends",
        "EDP, MACC: what is not spent is owed; one row a year",
    ),
    "data_prices": (
        "data.prices",
        "Prices of data",
        "by tier and place, before the price lists",
    ),
    "custom_offers": ("custom_offers", "Private offers", "prices negotiated with a provider"),
    "adjustments": ("price_adjustments", "Contract discounts", "multipliers on list prices"),
    "other_costs": (
        "other_costs",
        "Other costs",
        "beside machines: once, in days, every month or by the hour",
    ),
}
"""Field of the request, title and help of each group of rows."""
Context = dict[str, Any]


@open_page
@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    """The form; with a workload in the address, its answer."""
    query = with_start(drop_empty(request.GET))
    is_update = _is_update(request)
    if len(query) != len(request.GET) and not is_update:
        return HttpResponseRedirect(_page_url(query))
    shows_form = "edit" in query or any(name.startswith("rows.") for name in query)
    team = current_team(request)
    missing_rates = whose_rates.find_missing_rates(query, team)
    if is_update and missing_rates:
        return _to_whole_page(query)
    named = whose_rates.name_rates(query, team)
    if named is not query and not is_update:
        return HttpResponseRedirect(_page_url(named))
    outcome = answer_plan(query, team, brief=shows_form)
    if is_update:
        return _render_update(request, query, outcome)
    if outcome.has_answer and not shows_form:
        context = answer_context(query, outcome) | {"missing_rates": missing_rates}
        return render(request, "web/plan/answer.html", context)
    if outcome.needs_job and not outcome.errors:
        outcome = replace(answer_plan(query, team, brief=True), needs_job=True)
    status = 400 if outcome.errors else 200
    context = _form_context(query, outcome) | {"missing_rates": missing_rates}
    return render(request, "web/plan/form_page.html", context, status=status)


@open_page
@require_safe
def total(request: HttpRequest) -> HttpResponse:
    """The new total after a change in place; what comes with it asks for everything else."""
    query = with_start(drop_empty(request.GET))
    if not _is_update(request):
        return HttpResponseRedirect(_page_url(query))
    team = current_team(request)
    if whose_rates.find_missing_rates(query, team):
        return _to_whole_page(query)
    outcome = find_plan_total(query, team)
    if outcome.errors:
        return _refuse_update(request, outcome.errors)
    if outcome.plan is None:
        return _to_whole_page(query)
    context = {
        "total": outcome.plan.total,
        "currency": outcome.plan.currency,
        "rest": _page_url(query),
    }
    answer = render(request, "web/answer/total.html", context)
    answer["HX-Push-Url"] = _page_url(query)
    return answer


@open_page
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The panel beside the form, as one types."""
    query = drop_empty(request.GET)
    team = current_team(request)
    outcome = answer_plan(query, team, brief=True)
    missing_rates = whose_rates.find_missing_rates(query, team)
    context = _live_context(query, outcome) | {"missing_rates": missing_rates}
    return render(request, "web/plan/live.html", context)


def _is_update(request: HttpRequest) -> bool:
    """Whether an assumption was changed on an open answer, which takes the new figures in."""
    return bool(getattr(request, "htmx", False)) and not request.htmx.history_restore_request  # type: ignore[attr-defined]


def _page_url(query: QueryDict) -> str:
    return f"{reverse('plan')}?{query.urlencode()}"


def _render_update(
    request: HttpRequest, query: QueryDict, outcome: ComparisonOutcome
) -> HttpResponse:
    """New figures for an open answer, or the messages beside what was refused."""
    if outcome.has_answer:
        answer = render(request, "web/answer/edited.html", answer_context(query, outcome))
        if not _follows_total(request):  # which moved the address already
            answer["HX-Push-Url"] = _page_url(query)
        return answer
    return _refuse_update(request, outcome.errors) if outcome.errors else _to_whole_page(query)


def _follows_total(request: HttpRequest) -> bool:
    """Whether the page shows the new total, and waits for what goes with it."""
    return bool(request.htmx.target == "figures" and request.htmx.trigger == "rest")  # type: ignore[attr-defined]


def _refuse_update(request: HttpRequest, errors: Sequence[InvalidInput]) -> HttpResponse:
    """Messages for an open answer, whose figures stay."""
    context = {
        "rows": messages_of(request.GET, errors),
        "refusals": [Message(one.field, in_field_unit(one.field, one.message)) for one in errors],
        "follows_total": _follows_total(request),
    }
    answer = render(request, "web/answer/refused.html", context)
    answer["HX-Reswap"] = "none"
    return answer


def _to_whole_page(query: QueryDict) -> HttpResponse:
    """An open page is left for the whole one, which can say what an update cannot."""
    answer = HttpResponse()
    answer["HX-Redirect"] = _page_url(query)
    return answer


def answer_context(query: QueryDict, outcome: ComparisonOutcome) -> Context:
    """What the answer's templates need."""
    return {
        "outcome": outcome,
        "page": AnswerPage(outcome.answer, query.get("scenario", ""), query),
        "address": drop_empty(query, "scenario").urlencode(),
        "share": f"{reverse('plan')}?{sharing.build_share_query(outcome)}",
        "inherited": outcome.inherited,
        "share_at_list_prices": f"{reverse('plan')}?{sharing.build_list_price_query(outcome)}",
        "since": sharing.find_price_update(query, outcome),
        "todays": sharing.unpin_prices(query),
        "titles": SCENARIO_TITLES,
    }


def _live_context(query: QueryDict, outcome: ComparisonOutcome) -> Context:
    return {"live": build_live_panel(query, outcome), "titles": SCENARIO_TITLES, "outcome": outcome}


_GROUPS = (
    *("plan", "training", "measured", "samples", "hours", "work", "limits", "rules"),
    *("owning", "financing", "finance", "data", "prices", "risk"),
)


def _form_context(query: QueryDict, outcome: ComparisonOutcome) -> Context:
    form = PlanForm(query, outcome.errors)
    boxes = {name: form.build_fields(name) for name in _GROUPS}
    rows = {key: form.rows(*group) for key, group in _REPEATED_GROUPS.items()}
    return _live_context(query, outcome) | {
        "form": form,
        "boxes": boxes,
        "rows": rows,
        "open": _open_folds(query, outcome),
        "kinds": WORKLOAD_KINDS,
        "presets": list_presets(timezone.now().date()),
        "max_samples": MAX_SAMPLES_AT_ONCE,
    }


_FOLDS = {
    "limits": ("constraints", "term_end", "rules"),
    "owning": (
        "on_prem",
        "existing",
        "finance",
        "data",
        "custom_offers",
        "price_adjustments",
        "other_costs",
        "use_catalog",
        "inherits",
    ),
    "risk": ("risk",),
}


def _open_folds(query: QueryDict, outcome: ComparisonOutcome) -> dict[str, bool]:
    """Folds that hold a value, a refusal or a row just added are open."""
    named = [*query, *(refusal.field for refusal in outcome.errors)]
    roots = {name.removeprefix("rows.").partition(".")[0] for name in named}
    folds = {fold: bool(roots.intersection(parts)) for fold, parts in _FOLDS.items()}
    measured = {field.path for field in MEASURED}
    return folds | {"measured": any(name.partition("~")[0] in measured for name in named)}
