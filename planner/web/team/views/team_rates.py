"""Settings that every comparison of the team inherits."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from planner.models import Role, Team
from planner.services.teams import teams
from planner.services.teams.errors import StaleError
from planner.services.teams.permissions import OWN, require
from planner.web.common.current_team import get_access
from planner.web.common.view_helpers import submit_form, team_page
from planner.web.team import team_rates_form
from planner.web.team.forms import TeamSettingsForm
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput


@team_page()
def settings(request: HttpRequest, team: Team) -> HttpResponse:
    """Name and currency of the team, and its rules for bills."""
    access = get_access(request)
    rules = "\n".join(team.project_rules)
    start = {"name": team.name, "currency": team.currency, "project_rules": rules}
    form = TeamSettingsForm(request.POST or None, initial=start)
    done = submit_form(form, lambda _: teams.change_settings(access, team, form.changes()))
    if done is not None:
        messages.success(request, "The settings are saved.")
        return redirect("team-settings", team.slug)
    context = {"team": team, "form": form, "may_own": access.has_role(team.pk, Role.OWNER)}
    return render(request, "team/settings.html", context, status=400 if form.errors else 200)


@team_page()
def prices(request: HttpRequest, team: Team) -> HttpResponse:
    """Contract discounts, private offers and default assumptions."""
    may_own = get_access(request).has_role(team.pk, Role.OWNER)
    context = {"team": team, "may_own": may_own, "version": team.version}
    if request.method != "POST":
        context["boxes"] = team_rates_form.form_context(team_rates_form.team_query(team))
        return render(request, "team/prices.html", context)
    require(get_access(request), team.pk, OWN)
    context["version"] = request.POST.get("version", "")
    if team_rates_form.wants_another_row(request.POST):
        context["boxes"] = team_rates_form.form_context(request.POST)
        return render(request, "team/prices.html", context)
    return _save(request, team, context)


def _save(request: HttpRequest, team: Team, context: dict[str, object]) -> HttpResponse:
    version = request.POST.get("version", "")
    seen = read_position(version)
    try:
        changes = team_rates_form.read_changes(request.POST)
        teams.change_settings(get_access(request), team, changes, seen)
    except InvalidInput as refusal:
        context["boxes"] = team_rates_form.form_context(request.POST, refusal.all())
    except StaleError as refusal:
        context["boxes"] = team_rates_form.form_context(request.POST)
        context |= {"refusal": str(refusal), "version": ""}
    else:
        messages.success(request, "Saved. Every new comparison by the team uses these values.")
        return redirect("team-prices", team.slug)
    return render(request, "team/prices.html", context, status=400)
