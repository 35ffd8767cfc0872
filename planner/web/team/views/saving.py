"""Saving the answer of a plan page into a project."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from planner.models import Project, Role, SavedComparison, Team
from planner.services.projects import save_answers
from planner.services.projects.saved_comparisons import save_comparison
from planner.web.common.current_team import current_team, get_access, my_teams
from planner.web.common.formatting import unseparated
from planner.web.common.plan_request import read_plan_request
from planner.web.common.sharing import PRICES, pinned_catalog
from planner.web.common.view_helpers import signed_in, submit_form
from planner.web.team.forms import NEW_PROJECT, SavePlanForm


@signed_in
def save(request: HttpRequest) -> HttpResponse:
    """The address holds the plan's request, as on the plan page."""
    teams = [t for t in my_teams(request) if get_access(request).has_role(t.pk, Role.EDITOR)]
    if not teams:
        return _without_a_team(request)
    current = current_team(request)
    teams.sort(key=lambda team: team != current)
    projects = _projects(teams)
    plan_request = read_plan_request(request.GET)
    if PRICES in request.GET:  # a link holds what the team that made it added
        plan_request["inherits"] = False
    form = SavePlanForm(
        request.POST or None,
        initial=_start(plan_request),
        projects=projects,
        teams=teams,
        currency=plan_request.get("currency") or teams[0].currency,
    )
    saved = submit_form(form, lambda values: _save(request, values, plan_request, projects, teams))
    if saved is not None:
        return redirect("comparison", saved.pk)
    context = {
        "form": form,
        "given": plan_request,
        "address": request.GET.urlencode(),
        "is_pinned": PRICES in request.GET,
    }
    return render(request, "team/save.html", context, status=400 if form.errors else 200)


def _start(plan_request: dict[str, Any]) -> dict[str, Any]:
    """What the boxes start with: the plan's name, and the total budget that it keeps to."""
    name = plan_request.get("name", "")
    budget = plan_request.get("constraints", {}).get("total_budget", "")
    return {"name": name, "new_project": name, "budget": unseparated(budget) if budget else ""}


def _without_a_team(request: HttpRequest) -> HttpResponse:
    if my_teams(request):
        raise PermissionDenied("Saving requires the editor role in one of your teams.")
    return redirect("team-new")


def _projects(teams: list[Team]) -> list[Project]:
    """Projects that may take it, those of the current team first."""
    rank = {team.pk: index for index, team in enumerate(teams)}
    rows = Project.objects.filter(team__in=teams, archived=False).select_related("team")
    return sorted(rows, key=lambda project: rank[project.team_id])


def _save(
    request: HttpRequest,
    values: dict[str, Any],
    plan_request: dict[str, Any],
    projects: list[Project],
    teams: list[Team],
) -> SavedComparison:
    access, pinned = get_access(request), pinned_catalog(request.GET)
    labels = {"name": values["name"], "note": values["note"], "pinned": pinned}
    chosen = str(values["project"])
    if chosen.startswith(f"{NEW_PROJECT}:"):
        team = next(t for t in teams if t.slug == chosen.partition(":")[2])
        return save_answers.save_in_new_project(
            access,
            team,
            plan_request,
            project=values["new_project"],
            budget=values["budget"],
            **labels,
        )
    project = next(p for p in projects if str(p.pk) == chosen)
    if values["kind"] == "variant":
        return save_answers.save_as_variant(access, project, plan_request, **labels)
    return save_comparison(access, project, request=plan_request, **labels)
