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
from planner.services.revocation import revoke
from planner.services.teams import tokens as token_service
from planner.services.teams.permissions import OWN
from planner.services.webhooks import webhooks as webhook_service
from planner.web.common.current_team import get_access
from planner.web.common.view_helpers import (
    get_owned_or_404,
    run_with_messages,
    submit_form,
    team_page,
)
from planner.web.team.forms import TokenForm, WebhookChangeForm, WebhookForm

MAX_DELIVERIES = 50


@never_cache
@team_page()
def tokens(request: HttpRequest, team: Team) -> HttpResponse:
    """Owners see all of the team's tokens, others their own."""
    access = get_access(request)
    form = TokenForm(request.POST or None, own=access.roles[team.pk])
    created = submit_form(form, lambda values: _create_token(access, team, values))
    context = {
        "team": team,
        "form": TokenForm(own=access.roles[team.pk]) if created else form,
        "tokens": _tokens(access, team),
        "may_own": access.has_role(team.pk, Role.OWNER),
        "secret": created[1] if created else "",
        "made": created[0] if created else None,
    }
    return render(request, "team/tokens.html", context, status=400 if form.errors else 200)


def _tokens(access: Access, team: Team) -> QuerySet[ApiToken]:
    rows = ApiToken.objects.filter(team=team).select_related("user")
    is_owner = access.has_role(team.pk, Role.OWNER)
    return rows if is_owner else rows.filter(user_id=access.user_id)


def _create_token(access: Access, team: Team, values: dict[str, Any]) -> tuple[ApiToken, str]:
    return token_service.create_token(
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
    access = get_access(request)
    limits = {} if access.has_role(team.pk, Role.OWNER) else {"user_id": access.user_id}
    token = get_owned_or_404(request, ApiToken, pk, team=team, **limits)
    message = f"The token {token.name} no longer works."
    run_with_messages(request, lambda: revoke(access, token), message)
    return redirect("team-tokens", team.slug)


@never_cache
@team_page(OWN)
def webhooks(request: HttpRequest, team: Team) -> HttpResponse:
    """Where the team's events are sent."""
    form = WebhookForm(request.POST or None)
    created = submit_form(
        form, lambda values: webhook_service.add_endpoint(get_access(request), team, values)
    )
    context = {
        "team": team,
        "form": WebhookForm() if created else form,
        "endpoints": WebhookEndpoint.objects.filter(team=team),
        "secret": created.secret if created else "",
        "made": created,
    }
    return render(request, "team/webhooks.html", context, status=400 if form.errors else 200)


@never_cache
@team_page(OWN)
def webhook(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """One endpoint: its settings and what became of its deliveries."""
    endpoint = get_owned_or_404(request, WebhookEndpoint, pk, team=team)
    names = ("url", "description", "events", "active", "version")
    form = WebhookChangeForm(
        request.POST or None, initial={name: getattr(endpoint, name) for name in names}
    )
    done = submit_form(form, lambda values: _change(get_access(request), endpoint, values))
    if done is not None:
        messages.success(request, "The webhook is saved.")
        return redirect("webhook", team.slug, pk)
    return _render_webhook(request, team, endpoint, form=form)


def _change(access: Access, endpoint: WebhookEndpoint, values: dict[str, Any]) -> WebhookEndpoint:
    changes = {name: value for name, value in values.items() if name != "version"}
    return webhook_service.change_endpoint(access, endpoint, changes, values["version"])


def _render_webhook(
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
    """A new signing secret, shown only once."""
    endpoint = get_owned_or_404(request, WebhookEndpoint, pk, team=team)
    rotated = webhook_service.rotate_secret(get_access(request), endpoint)
    names = ("url", "description", "events", "active", "version")
    form = WebhookChangeForm(initial={name: getattr(rotated, name) for name in names})
    return _render_webhook(request, team, rotated, form=form, secret=rotated.secret)


@team_page(OWN)
@require_POST
def send_test(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    endpoint = get_owned_or_404(request, WebhookEndpoint, pk, team=team)
    message = "Test event sent; see the deliveries below."
    run_with_messages(
        request, lambda: webhook_service.send_test(get_access(request), endpoint), message
    )
    return redirect("webhook", team.slug, pk)


@team_page(OWN)
@require_POST
def remove_webhook(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    endpoint = get_owned_or_404(request, WebhookEndpoint, pk, team=team)
    message = f"No more events are sent to {endpoint.url}."
    run_with_messages(
        request, lambda: webhook_service.remove_endpoint(get_access(request), endpoint), message
    )
    return redirect("team-webhooks", team.slug)
