"""API tokens and webhooks: secrets are shown once, in the answer that makes them."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from planner.models import Access, ApiToken, Role, Scope, Team, WebhookEndpoint
from planner.services.teams import tokens as services
from planner.services.teams.permissions import OWN
from planner.services.webhooks import webhooks as sending
from planner.web.common.current_team import access_to
from planner.web.common.view_helpers import attempt, own, sent, team_page
from planner.web.team.forms import TokenForm, WebhookChangeForm, WebhookForm

MAX_DELIVERIES = 50


@never_cache
@team_page()
def tokens(request: HttpRequest, team: Team) -> HttpResponse:
    """Owners see all of the team's tokens, others their own."""
    access = access_to(request)
    form = TokenForm(request.POST or None, own=access.roles[team.pk])
    made = sent(form, lambda values: _make_token(access, team, values))
    context = {
        "team": team,
        "form": TokenForm(own=access.roles[team.pk]) if made else form,
        "tokens": _tokens(access, team),
        "may_own": access.has_role(team.pk, Role.OWNER),
        "secret": made[1] if made else "",
        "made": made[0] if made else None,
    }
    return render(request, "team/tokens.html", context, status=400 if form.errors else 200)


def _tokens(access: Access, team: Team) -> QuerySet[ApiToken]:
    rows = ApiToken.objects.filter(team=team).select_related("user")
    is_owner = access.has_role(team.pk, Role.OWNER)
    return rows if is_owner else rows.filter(user_id=access.user_id)


def _make_token(access: Access, team: Team, values: dict[str, Any]) -> tuple[ApiToken, str]:
    return services.create_token(
        access,
        team,
        name=values["name"],
        scopes=[Scope(scope) for scope in values["scopes"]],
        days=values["days"],
        is_service=values["kind"] == "service",
        role=Role(values["role"]) if values["role"] else None,
    )


@team_page()
@require_POST
def revoke_token(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    access = access_to(request)
    limits = {} if access.has_role(team.pk, Role.OWNER) else {"user_id": access.user_id}
    found = own(request, ApiToken, pk, team=team, **limits)
    said = f"The token {found.name} no longer works."
    attempt(request, lambda: services.revoke_token(access, found), said)
    return redirect("team-tokens", team.slug)


@never_cache
@team_page(OWN)
def webhooks(request: HttpRequest, team: Team) -> HttpResponse:
    """Where the team's events are sent."""
    form = WebhookForm(request.POST or None)
    made = sent(form, lambda values: sending.add_endpoint(access_to(request), team, values))
    context = {
        "team": team,
        "form": WebhookForm() if made else form,
        "endpoints": WebhookEndpoint.objects.filter(team=team),
        "secret": sending.secret_of(made) if made else "",
        "made": made,
    }
    return render(request, "team/webhooks.html", context, status=400 if form.errors else 200)


@never_cache
@team_page(OWN)
def webhook(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """One endpoint: its settings and what became of its deliveries."""
    found = own(request, WebhookEndpoint, pk, team=team)
    names = ("url", "description", "events", "active", "version")
    form = WebhookChangeForm(
        request.POST or None, initial={name: getattr(found, name) for name in names}
    )
    done = sent(form, lambda values: _change(access_to(request), found, values))
    if done is not None:
        messages.success(request, "The webhook is saved.")
        return redirect("webhook", team.slug, pk)
    return _shown(request, team, found, form=form)


def _change(access: Access, found: WebhookEndpoint, values: dict[str, Any]) -> WebhookEndpoint:
    changes = {name: value for name, value in values.items() if name != "version"}
    return sending.change_endpoint(access, found, changes, values["version"])


def _shown(
    request: HttpRequest, team: Team, endpoint: WebhookEndpoint, **more: Any
) -> HttpResponse:
    context: dict[str, Any] = {"team": team, "endpoint": endpoint}
    context["deliveries"] = endpoint.deliveries.all()[:MAX_DELIVERIES]
    status = 400 if more["form"].errors else 200
    return render(request, "team/webhook.html", context | more, status=status)


@never_cache
@team_page(OWN)
@require_POST
def rotate(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """A new signing secret, shown this once."""
    endpoint = own(request, WebhookEndpoint, pk, team=team)
    found = sending.rotate_secret(access_to(request), endpoint)
    names = ("url", "description", "events", "active", "version")
    form = WebhookChangeForm(initial={name: getattr(found, name) for name in names})
    return _shown(request, team, found, form=form, secret=sending.secret_of(found))


@team_page(OWN)
@require_POST
def send_test(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    found = own(request, WebhookEndpoint, pk, team=team)
    said = "A test event is on its way; see the deliveries below."
    attempt(request, lambda: sending.send_test(access_to(request), found), said)
    return redirect("webhook", team.slug, pk)


@team_page(OWN)
@require_POST
def remove_webhook(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    found = own(request, WebhookEndpoint, pk, team=team)
    said = f"Nothing more is sent to {found.url}."
    attempt(request, lambda: sending.remove_endpoint(access_to(request), found), said)
    return redirect("team-webhooks", team.slug)
