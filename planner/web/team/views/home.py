"""The dashboard of a team, and the way to a first team."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from planner.models import Alert, Role, Team
from planner.services.alerts import budget_watch
from planner.services.alerts.project_summaries import glance
from planner.services.teams import teams
from planner.web.common.current_team import access_to, choose, current_team, forget, my_teams
from planner.web.common.resume import back_to
from planner.web.common.view_helpers import attempt, own, sent, signed_in, team_page
from planner.web.team.forms import TeamForm

MAX_ALERTS = 20


@signed_in
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """To the current team; `?team=` switches to another one."""
    wanted = request.GET.get("team")
    found = next((t for t in my_teams(request) if t.slug == wanted), current_team(request))
    if found is None:
        return redirect("team-new")
    return redirect("dashboard", slug=found.slug)


@signed_in
def new(request: HttpRequest) -> HttpResponse:
    """A new team, whoever asks its owner."""
    form = TeamForm(request.POST or None)
    access = access_to(request)
    made = sent(form, lambda v: teams.create_team(access, v["name"], currency=v["currency"]))
    if made is not None:
        forget(request)
        choose(request, made)
        return redirect("dashboard", slug=made.slug)
    context = {"form": form, "teams": my_teams(request)}
    return render(request, "team/new.html", context, status=400 if form.errors else 200)


@team_page()
@require_safe
def dashboard(request: HttpRequest, team: Team) -> HttpResponse:
    """Projects with budget, forecast, actual and state; what the budget watch found."""
    access = access_to(request)
    archived = request.GET.get("archived") == "1"
    alerts = Alert.objects.for_access(access).filter(team=team, acknowledged_at=None)
    context = {
        "team": team,
        "rows": glance(access, team, archived=archived),
        "archived": archived,
        "alerts": alerts.select_related("project")[:MAX_ALERTS],
        "may_edit": access.has_role(team.pk, Role.EDITOR),
    }
    return render(request, "team/dashboard.html", context)


@team_page()
@require_POST
def acknowledge(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    alert = own(request, Alert, pk, team=team)
    attempt(
        request,
        lambda: budget_watch.acknowledge(access_to(request), alert),
        "The alert is marked as seen.",
    )
    return back_to(request, reverse("dashboard", args=[team.slug]))
