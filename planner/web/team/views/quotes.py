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
from planner.web.common.current_team import access_to
from planner.web.common.view_helpers import attempt, own, sent, team_page
from planner.web.team.quote_form import QuoteForm


@team_page()
def quotes(request: HttpRequest, team: Team) -> HttpResponse:
    """The quotes, and a form for another one."""
    access = access_to(request)
    form = QuoteForm(request.POST or None, currency=team.currency)
    made = sent(
        form,
        lambda v: teams.add_quote(access, team, {"slug": v["slug"], **form.values()}),
    )
    if made is not None:
        messages.success(request, f"{made.label} can be bought in every new comparison.")
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
    found = own(request, ServerQuote, pk, "team", team=team)
    form = QuoteForm(request.POST or None, initial=QuoteForm.of(found), currency=team.currency)
    done = sent(
        form,
        lambda v: teams.change_quote(access_to(request), found, form.values(), v["version"]),
    )
    if done is not None:
        messages.success(request, f"{done.label} is saved.")
        return redirect("team-servers", team.slug)
    context = {"team": team, "quote": found, "form": form}
    return render(request, "team/quote.html", context, status=400 if form.errors else 200)


@team_page(EDIT)
@require_POST
def remove(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    found = own(request, ServerQuote, pk, team=team)
    said = f"{found.label} is removed."
    attempt(request, lambda: teams.remove_quote(access_to(request), found), said)
    return redirect("team-servers", team.slug)
