"""Taking a team's data along, and deleting a team or one's own account."""

from __future__ import annotations

import tempfile
from typing import Any

from django.contrib import messages
from django.contrib.auth import logout
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from planner.models import Team
from planner.services.housekeeping.deletion import (
    delete_account,
    delete_team,
    list_sole_member_teams,
)
from planner.services.housekeeping.team_export import export_team
from planner.services.teams.permissions import OWN
from planner.web.common.current_team import clear_cached_access, get_access
from planner.web.common.view_helpers import signed_in, submit_form, team_page
from planner.web.team.forms import ConfirmForm


@never_cache
@team_page(OWN)  # type: ignore[arg-type]
@require_safe
def export(request: HttpRequest, team: Team) -> FileResponse:
    """All data of the team as a ZIP; written to a temporary file, so that its size is known."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the answer is sent
    export_team(get_access(request), team, file)
    file.seek(0)
    name = f"{team.slug}-{timezone.now():%Y-%m-%d}.zip"
    return FileResponse(file, as_attachment=True, filename=name)


@never_cache
@team_page(OWN)
def delete(request: HttpRequest, team: Team) -> HttpResponse:
    """Asks for the team's short name, then deletes it."""
    form = ConfirmForm(request.POST or None, text=team.slug)
    name = team.name
    done = submit_form(form, lambda _values: _delete_team(request, team))
    if done:
        messages.success(request, f"{name} is deleted.")
        return redirect("team")
    context = {"team": team, "form": form}
    return render(request, "team/leaving/delete.html", context, status=400 if form.errors else 200)


def _delete_team(request: HttpRequest, team: Team) -> bool:
    delete_team(get_access(request), team)
    clear_cached_access(request)
    return True


@never_cache
@signed_in
def account(request: HttpRequest) -> HttpResponse:
    """One's own account: password, addresses, and its end."""
    user: Any = request.user
    form = ConfirmForm(request.POST or None, text=user.get_username())
    done = submit_form(form, lambda _values: _delete_account(request))
    if done:
        return render(request, "team/leaving/account_deleted.html")
    context = {"form": form, "person": user, "sole_member_teams": list_sole_member_teams(user)}
    return render(request, "team/leaving/account.html", context, status=400 if form.errors else 200)


def _delete_account(request: HttpRequest) -> bool:
    delete_account(request.user)
    logout(request)
    return True
