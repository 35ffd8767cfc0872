"""The team's own server quotes."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from planner.models import Role, ServerQuote, Team
from planner.services.teams import teams
from planner.services.teams.permissions import EDIT
from planner.web.common.current_team import get_access
from planner.web.common.view_helpers import (
    get_owned_or_404,
    run_with_messages,
    submit_form,
    team_page,
)
from planner.web.team.quote_form import QuoteForm


@team_page()
def quotes(request: HttpRequest, team: Team) -> HttpResponse:
    """The quotes, and a form for another one."""
    access = get_access(request)
    form = QuoteForm(request.POST or None, currency=team.currency)
    created = submit_form(
        form,
        lambda v: teams.add_quote(access, team, {"slug": v["slug"], **form.values()}),
    )
    if created is not None:
        messages.success(request, f"{created.label} is available in every new comparison.")
        return redirect("team-servers", team.slug)
    context = {
        "team": team,
        "quotes": ServerQuote.objects.filter(team=team),
        "form": form,
        "may_edit": access.has_role(team.pk, Role.EDITOR),
    }
    return render(request, "team/quotes.html", context, status=400 if form.errors else 200)


@team_page(EDIT)
def quote(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """One quote, to be changed."""
    row = get_owned_or_404(request, ServerQuote, pk, "team", team=team)
    form = QuoteForm(request.POST or None, initial=QuoteForm.of(row), currency=team.currency)
    changed = submit_form(
        form,
        lambda v: teams.change_quote(get_access(request), row, form.values(), v["version"]),
    )
    if changed is not None:
        messages.success(request, f"{changed.label} is saved.")
        return redirect("team-servers", team.slug)
    context = {"team": team, "quote": row, "form": form}
    return render(request, "team/quote.html", context, status=400 if form.errors else 200)


@team_page(EDIT)
@require_POST
def remove(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    row = get_owned_or_404(request, ServerQuote, pk, team=team)
    message = f"{row.label} is removed."
    run_with_messages(request, lambda: teams.remove_quote(get_access(request), row), message)
    return redirect("team-servers", team.slug)
