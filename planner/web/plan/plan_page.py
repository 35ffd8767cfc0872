"""The answer so far, beside the form: hours, memory and fit, demand by month, totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import SCENARIO_TITLES, comes_first
from planner.exports import Format
from planner.exports.csv_export import Context
from planner.exports.saved_context import offer_file
from planner.services.projects.comparisons import ComparisonOutcome
from planner.sizing.estimate import Estimate, estimate
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.assumptions import Message, messages_of
from planner.web.answer.board_pack import PackFacts, board_pack
from planner.web.common import plan_request
from planner.web.common.fields import MEASURED, in_field_unit, with_labels
from planner.web.common.plan_request import answer_plan
from planner.web.common.query_codec import drop_empty, with_start
from planner.web.common.views import current_team, open_page
from planner.web.plan.forms import PlanForm
from planner.web.plan.start import list_presets
from pricing.common.invalid_input import InvalidInput


@dataclass(frozen=True)
class Live:
    refusals: tuple[InvalidInput, ...] = ()
    answer: ComparisonAnswer | None = None
    estimate: Estimate | None = None
    """Of a training, where it can be sized."""

    @property
    def first_warnings(self) -> list[str]:
        sentences = self.answer.warnings if self.answer else ()
        return [*map(with_labels, filter(comes_first, sentences))]

    @property
    def months(self) -> list[tuple[str, float, float]]:
        if self.answer is None:
            return []
        demand = self.answer.demand
        rows = zip(
            self.answer.months, demand.hours_per_month, demand.peak_accelerators, strict=True
        )
        return list(rows)


def build_live_panel(outcome: ComparisonOutcome) -> Live:
    if not outcome.has_answer:
        return Live(outcome.errors)
    answer = outcome.answer
    if outcome.request["workload"].get("kind") != "training":
        return Live(answer=answer)
    try:
        estimated = estimate_plan(outcome.request, answer.demand.accelerator)
    except InvalidInput:
        return Live(answer=answer)
    return Live(answer=answer, estimate=estimated if estimated.size else None)


def estimate_plan(request: Mapping[str, Any], accelerator: str | None = None) -> Estimate:
    sized = {"workload": request["workload"]} if "workload" in request else {}
    return estimate({**sized, "accelerator": accelerator} if accelerator else sized)


WORKLOAD_KINDS = (
    ("training", "I know my model"),
    ("samples", "I know my samples"),
    ("serving", "I serve a model"),
    ("accelerator_hours", "I know my hours"),
)
_REPEATED_GROUPS = {
    "runs": (
        "workload.runs",
        "Runs",
        "when the training happens; one run from the first month if left empty",
    ),
    "quotas": ("constraints.quotas", "Quotas", "most accelerators a provider gives you at once"),
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
    "custom_offers": ("custom_offers", "Private offers", "prices negotiated with a provider"),
    "adjustments": ("price_adjustments", "Contract discounts", "multipliers on list prices"),
    "other_costs": (
        "other_costs",
        "Other costs",
        "beside machines: once, in days, every month or by the hour",
    ),
}
"""Field of the request, title and help of each group of rows."""
PageContext = dict[str, Any]


@open_page
@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    query = with_start(drop_empty(request.GET))
    is_update = bool(getattr(request, "htmx", False)) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    if len(query) != len(request.GET) and not is_update:
        return HttpResponseRedirect(_page_url(query))
    shows_form = "edit" in query or any(name.startswith("rows.") for name in query)
    team = current_team(request)
    missing_rates = plan_request.find_missing_rates(query, team)
    if is_update and missing_rates:
        return _to_whole_page(query)
    named = plan_request.name_rates(query, team)
    if named is not query and not is_update:
        return HttpResponseRedirect(_page_url(named))
    outcome = answer_plan(query, team, brief=shows_form)
    if is_update:
        if outcome.has_answer:
            answer = render(request, "web/answer/edited.html", answer_context(query, outcome))
            answer["HX-Push-Url"] = _page_url(query)
            return answer
        if not outcome.errors:
            return _to_whole_page(query)
        errors = [
            Message(one.field, in_field_unit(one.field, one.message)) for one in outcome.errors
        ]
        context = {"rows": messages_of(request.GET, outcome.errors), "refusals": errors}
        answer = render(request, "web/answer/refused.html", context)
        answer["HX-Reswap"] = "none"
        return answer
    if outcome.has_answer and not shows_form:
        context = answer_context(query, outcome) | {"missing_rates": missing_rates}
        return render(request, "web/plan/answer.html", context)
    status = 400 if outcome.errors else 200
    context = _form_context(query, outcome) | {"missing_rates": missing_rates}
    return render(request, "web/plan/form_page.html", context, status=status)


@open_page
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    query = drop_empty(request.GET)
    team = current_team(request)
    outcome = answer_plan(query, team, brief=True)
    missing_rates = plan_request.find_missing_rates(query, team)
    context = _live_context(query, outcome) | {"missing_rates": missing_rates}
    return render(request, "web/plan/live.html", context)


def _page_url(query: QueryDict) -> str:
    return f"{reverse('plan')}?{query.urlencode()}"


def _to_whole_page(query: QueryDict) -> HttpResponse:
    return HttpResponse(headers={"HX-Redirect": _page_url(query)})


def answer_context(query: QueryDict, outcome: ComparisonOutcome) -> PageContext:
    own = {"inherits": False} if outcome.inherited else {}
    shared = {**outcome.resolved_request, **own}
    at_list_prices = plan_request.build_pinned_query(outcome.request, outcome.answer)
    return {
        "outcome": outcome,
        "page": AnswerPage(outcome.answer, query.get("scenario", ""), query),
        "address": drop_empty(query, "scenario").urlencode(),
        "share": f"{reverse('plan')}?{plan_request.build_pinned_query(shared, outcome.answer)}",
        "inherited": outcome.inherited,
        "share_at_list_prices": f"{reverse('plan')}?{at_list_prices}",
        "newer_prices": plan_request.find_newer_prices(query),
        "todays": drop_empty(query, plan_request.PRICES, "scenario").urlencode(),
        "titles": SCENARIO_TITLES,
    }


def _live_context(query: QueryDict, outcome: ComparisonOutcome) -> PageContext:
    return {"live": build_live_panel(outcome), "titles": SCENARIO_TITLES, "outcome": outcome}


_GROUPS = (
    *("plan", "model", "training", "measured", "samples", "serving", "hours", "work", "limits"),
    *("rules", "owning", "financing", "finance", "data", "prices", "risk"),
)


def _form_context(query: QueryDict, outcome: ComparisonOutcome) -> PageContext:
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
    }


_FOLDS = {
    "limits": ("constraints", "term_end"),
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
    named = [*query, *(refusal.field for refusal in outcome.errors)]
    roots = {name.removeprefix("rows.").partition(".")[0] for name in named}
    folds = {fold: bool(roots.intersection(parts)) for fold, parts in _FOLDS.items()}
    measured = {field.path for field in MEASURED}
    return folds | {"measured": any(name.partition("~")[0] in measured for name in named)}


PDF = Format("pdf", "application/pdf", board_pack, "PDF")


@open_page
@require_safe
def pack(request: HttpRequest) -> HttpResponse:
    """The PDF; the plan's page where its request is refused, or waits for more."""
    query = drop_empty(request.GET, "edit", "scenario")
    outcome = answer_plan(query, current_team(request))
    page_address = _page_url(query)
    if not outcome.has_answer:
        return HttpResponseRedirect(page_address)
    page = AnswerPage(outcome.answer, query=query)
    facts = PackFacts(
        printed=timezone.now().date(),
        author=author_of(request),
        address=request.build_absolute_uri(page_address),
        context=Context(name=page.title),
    )
    return offer_file(board_pack(page, facts), facts.title, PDF)


def author_of(request: HttpRequest) -> str:
    user = request.user
    return (user.get_full_name() or user.get_username()) if user.is_authenticated else ""
