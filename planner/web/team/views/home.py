"""The dashboard of a team, and the way to a first team."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from planner.models import PORTFOLIO_DOCUMENTS, Alert, Role, Team
from planner.services.alerts import alerts as services
from planner.services.alerts.inbox import read_inbox
from planner.services.alerts.project_summaries import project_summaries
from planner.services.portfolio.visibility import visible_alert
from planner.services.teams import teams
from planner.web.common.current_team import (
    clear_cached_access,
    current_team,
    get_access,
    my_teams,
    remember_team,
)
from planner.web.common.resume import back_to
from planner.web.common.view_helpers import (
    get_owned_or_404,
    run_with_messages,
    signed_in,
    submit_form,
    team_page,
)
from planner.web.team.forms import TeamForm

MAX_ALERTS = 20


@signed_in
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """To the current team; `?team=` switches to another one."""
    wanted = request.GET.get("team")
    team = next((t for t in my_teams(request) if t.slug == wanted), current_team(request))
    if team is None:
        return redirect("team-new")
    return redirect("dashboard", slug=team.slug)


@signed_in
def new(request: HttpRequest) -> HttpResponse:
    """A new team, whoever asks its owner."""
    form = TeamForm(request.POST or None)
    access = get_access(request)
    team = submit_form(form, lambda v: teams.create_team(access, v["name"], currency=v["currency"]))
    if team is not None:
        clear_cached_access(request)
        remember_team(request, team)
        return redirect("dashboard", slug=team.slug)
    context = {"form": form, "teams": my_teams(request)}
    return render(request, "team/new.html", context, status=400 if form.errors else 200)


@team_page()
@require_safe
def dashboard(request: HttpRequest, team: Team) -> HttpResponse:
    """What waits for the person; projects with budget, plan, actual and state; alerts."""
    access = get_access(request)
    archived = request.GET.get("archived") == "1"
    alerts = Alert.objects.for_access(access).filter(team=team, acknowledged_at=None)
    alerts = alerts.select_related("project", "saved_portfolio").defer(
        *(f"saved_portfolio__{name}" for name in PORTFOLIO_DOCUMENTS)
    )
    context = {
        "team": team,
        "rows": project_summaries(access, team, archived=archived),
        "inbox": read_inbox(access, team),
        "archived": archived,
        "alerts": [visible_alert(access, alert) for alert in alerts[:MAX_ALERTS]],
        "may_edit": access.has_role(team.pk, Role.EDITOR),
    }
    return render(request, "team/dashboard.html", context)


@team_page()
@require_POST
def acknowledge(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    alert = get_owned_or_404(request, Alert, pk, team=team)
    run_with_messages(
        request,
        lambda: services.acknowledge(get_access(request), alert),
        "Alert marked as seen.",
    )
    return back_to(request, reverse("dashboard", args=[team.slug]))
