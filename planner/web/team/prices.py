"""Prices of a team: contract prices and defaults, quotes of servers."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from planner.models import Role, ServerQuote, Team
from planner.services.teams import teams
from planner.services.teams.access import OWN, StaleError, require
from planner.web.common import views
from planner.web.team import rates_form
from planner.web.team.forms import QuoteForm
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput


@views.team_page()
def prices(request: HttpRequest, team: Team, pk: uuid.UUID | None = None) -> HttpResponse:
    """The rates in one form; in another a quote, the one of the address or a new one."""
    access, form_name = views.get_access(request), views.form_sent(request)
    quote = views.get_owned_or_404(request, ServerQuote, pk, "team", team=team) if pk else None
    typed = request.POST if form_name == "quote" else None
    form = QuoteForm(typed, initial=QuoteForm.of(quote), currency=team.currency)

    def save_quote(values: dict[str, Any]) -> ServerQuote:
        if quote is None:
            return teams.add_quote(access, team, {"slug": values["slug"], **form.values()})
        return teams.change_quote(access, quote, form.values(), values["version"])

    done = views.submit_form(form, save_quote)
    if done is not None:
        messages.success(request, f"{done.label} is saved; new comparisons may buy it.")
        return redirect("team-prices", team.slug)
    rates = (
        _save_rates(request, team) if form_name == "rates" else _rates(rates_form.team_query(team))
    )
    if rates is None:
        messages.success(request, "Saved. Every new comparison by the team uses these values.")
        return redirect("team-prices", team.slug)
    context = {
        "team": team,
        "version": team.version,
        "may_own": access.has_role(team.pk, Role.OWNER),
        "may_edit": access.has_role(team.pk, Role.EDITOR),
        "quotes": ServerQuote.objects.filter(team=team),
        "quote": quote,
        "form": form,
        **rates,
    }
    refused = form.errors or "status" in rates
    return render(request, "team/prices.html", context, status=400 if refused else 200)


def _rates(query: Any, **more: Any) -> dict[str, Any]:
    return {"boxes": rates_form.form_context(query), **more}


def _save_rates(request: HttpRequest, team: Team) -> dict[str, Any] | None:
    """None where they are saved, else what the form shows."""
    access, typed = views.get_access(request), request.POST
    require(access, team.pk, OWN)
    version = typed.get("version", "")
    if any(name.startswith("rows.") for name in typed):  # another one is wanted
        return _rates(typed, version=version)
    try:
        changes = rates_form.read_changes(typed)
        teams.change_settings(access, team, changes, read_position(version))
    except InvalidInput as refusal:
        boxes = rates_form.form_context(typed, refusal.all())
        return {"boxes": boxes, "version": version, "status": 400}
    except StaleError as refusal:
        return _rates(typed, refusal=str(refusal), version="", status=400)
    return None
