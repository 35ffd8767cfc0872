"""The board pack of a saved plan: what its page shows, as PDF, with its approvals."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.contract.labels import SCENARIO_TITLES
from planner.exports import FORMATS
from planner.exports.saved_context import context_of, export_saved, offer_file
from planner.models import Project, Role, SavedComparison, State
from planner.services.alerts.alerts import changes_since, current_revisions
from planner.services.projects import projects as services
from planner.services.projects.projects import reprice
from planner.web.answer import board_pack
from planner.web.answer.charts import saved_cost
from planner.web.common import views
from planner.web.common.formatting import unseparated
from planner.web.common.plan_request import PRICES, pinned_catalog, read_plan_request
from planner.web.plan.plan_page import PDF, author_of
from planner.web.team.forms import NoteForm, SavePlanForm, SendBackForm
from planner.web.team.rates_form import address_of
from planner.web.team.sentences import budget_of_project
from pricing import catalog
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput


def saved_pack(saved: SavedComparison, facts: board_pack.PackFacts) -> bytes:
    board_pack.register_fonts()
    plan = saved.read_plan()
    budget = budget_of_project(saved)
    left = [board_pack.text(budget)] if budget else []
    chart = saved_cost(plan)
    pictures = [board_pack.picture(chart)] if chart else []
    parts = [*board_pack.head(plan, facts), *left]
    for section in saved.rows:
        parts.append(board_pack.text(section["title"], board_pack.HEADING))
        parts.append(board_pack.table(section["rows"], (0.4, 0.45, 0.15), header=False))
        parts += pictures
        pictures = []
    return board_pack.print_pack([*parts, *board_pack.close_pack((), facts)], facts, plan.currency)


_RELATED = ("team", "project", "project__team", "created_by", "superseded_by")


def get_saved_or_404(request: HttpRequest, pk: uuid.UUID) -> SavedComparison:
    saved = views.get_owned_or_404(request, SavedComparison, pk, *_RELATED)
    views.remember_team(request, saved.team)
    return saved


@views.signed_in
def comparison(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved, form_name = get_saved_or_404(request, pk), views.form_sent(request)
    access = views.get_access(request)
    names = {name: getattr(saved, name) for name in ("name", "note", "version")}
    note = NoteForm(request.POST if form_name == "note" else None, initial=names)
    typed = request.POST if form_name == "back" else None
    back = SendBackForm(typed, auto_id=f"back-{pk}-%s")
    changed = views.submit_form(
        note,
        lambda v: services.change_saved(
            access, saved, {"name": v["name"], "note": v["note"]}, v["version"]
        ),
    )
    seen = read_position(request.POST.get("version", ""))
    sent_back = views.submit_form(
        back, lambda v: services.send_back(access, saved, seen, v["reason"])
    )
    if changed is not None or sent_back is not None:
        messages.success(request, "Returned to draft." if sent_back else "Saved.")
        return redirect("comparison", pk)
    context = {
        "team": saved.team,
        "saved": saved,
        "budget": budget_of_project(saved),
        "chart": saved_cost(saved.read_plan()),
        "moved": changes_since(saved, current_revisions()),
        "formats": [(form, entry.title) for form, entry in FORMATS.items()],
        "states": list(State),
        "may_edit": access.has_role(saved.team_id, Role.EDITOR),
        "may_approve": services.may_approve(access, saved),
        "plan_address": address_of(saved.given),
        "form": note,
        "sending_back": back if back.errors else None,
    }
    status = 400 if note.errors or back.errors else 200
    return render(request, "team/comparison.html", context, status=status)


@views.signed_in
@require_safe
def pack(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved = get_saved_or_404(request, pk)
    facts = board_pack.PackFacts(
        printed=timezone.now().date(),
        author=author_of(request),
        address=request.build_absolute_uri(reverse("comparison", args=[pk])),
        context=context_of(saved),
    )
    return offer_file(saved_pack(saved, facts), facts.title, PDF)


@views.signed_in
@require_safe
def since(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved = get_saved_or_404(request, pk)
    context: dict[str, Any] = {"saved": saved, "team": saved.team}
    try:
        repriced = reprice(saved, catalog.current())
    except InvalidInput as refusal:
        context["refusal"] = views.describe_refusal(refusal)
    else:
        context |= {
            "headline": repriced.answer.headline,
            "changed_rows": repriced.changed_rows,
            "totals": [(SCENARIO_TITLES[one.scenario], one) for one in repriced.difference],
            "currency": saved.read_summary().currency,
        }
    is_part = getattr(request, "htmx", False)
    return render(request, "team/parts/since.html" if is_part else "team/since.html", context)


@views.signed_in
@require_safe
def export(request: HttpRequest, pk: uuid.UUID, form: str) -> HttpResponse:
    saved = get_saved_or_404(request, pk)
    return offer_file(export_saved(saved, form), saved.name, FORMATS[form])


@views.signed_in
def save(request: HttpRequest) -> HttpResponse:
    teams = [
        t for t in views.my_teams(request) if views.get_access(request).has_role(t.pk, Role.EDITOR)
    ]
    if not teams:
        if views.my_teams(request):
            raise PermissionDenied("Saving requires the editor role in one of your teams.")
        return redirect("team-new")
    current = views.current_team(request)
    teams.sort(key=lambda team: team != current)
    projects = Project.objects.filter(team__in=teams, archived=False)
    plan_request = read_plan_request(request.GET)
    if PRICES in request.GET:  # a link holds what the team that made it added
        plan_request["inherits"] = False
    name = plan_request.get("name", "")
    budget = plan_request.get("constraints", {}).get("total_budget", "")
    form = SavePlanForm(
        request.POST or None,
        initial={"name": name, "project": name, "budget": unseparated(budget) if budget else ""},
        teams=teams,
        currency=plan_request.get("currency") or teams[0].currency,
    )

    def save_answer(values: dict[str, Any]) -> SavedComparison:
        access, team = views.get_access(request), next(t for t in teams if t.slug == values["team"])
        labels = {n: values[n] for n in ("name", "note")} | {"pinned": pinned_catalog(request.GET)}
        project = projects.filter(team=team, name__iexact=values["project"]).first()
        if project is not None:
            return services.save_comparison(access, project, request=plan_request, **labels)
        new = {"project": values["project"], "budget": values["budget"]}
        return services.save_in_new_project(access, team, plan_request, **new, **labels)

    saved = views.submit_form(form, save_answer)
    if saved is not None:
        return redirect("comparison", saved.pk)
    context = {
        "form": form,
        "projects": projects.values_list("name", flat=True),
        "address": request.GET.urlencode(),
        "is_pinned": PRICES in request.GET,
    }
    return render(request, "team/save.html", context, status=400 if form.errors else 200)
