"""The settings of a team on one page, a form to a section; a person's own account."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms as django_forms
from django.contrib import messages
from django.contrib.auth import logout
from django.core.paginator import Paginator
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from planner.models import (
    ApiToken,
    AuditEntry,
    Invitation,
    Membership,
    Role,
    Scope,
    Team,
    WebhookDelivery,
    WebhookEndpoint,
)
from planner.services.housekeeping.retention import (
    delete_account,
    delete_team,
    list_sole_member_teams,
)
from planner.services.teams import teams
from planner.services.teams.teams import hash_secret
from planner.services.webhooks import webhooks
from planner.web.common import views
from planner.web.common.adapters import INVITED
from planner.web.common.choices import value_words
from planner.web.team import forms

Values = dict[str, Any]


@dataclass(frozen=True)
class ShownOnce:
    """A secret of which only the hash is stored."""

    what: str
    note: str
    secret: str


@dataclass(frozen=True)
class Section:
    build: Callable[[Any, HttpRequest, Team], django_forms.Form]
    """The form, of what was typed or None."""
    act: Callable[[HttpRequest, Team, Values], str | ShownOnce]
    """What is said once it is done, or shown once."""


def _invite(request: HttpRequest, team: Team, typed: Values) -> ShownOnce:
    access, role = views.get_access(request), Role(typed["role"])
    _, secret = teams.invite(access, team, role, typed["email"], typed["days"])
    link = request.build_absolute_uri(reverse("join", args=[secret]))
    return ShownOnce("The invitation link", "Send it to the person. It works once.", link)


def _create_token(request: HttpRequest, team: Team, typed: Values) -> ShownOnce:
    made, secret = teams.create_token(
        views.get_access(request),
        team,
        name=typed["name"],
        scopes=[Scope(scope) for scope in typed["scopes"]],
        days=typed["days"],
        is_service=typed["kind"] == "service",
        role=Role(typed["role"]) if typed["role"] else None,
    )
    note = "Store it in a secrets manager; only its hash is stored here."
    return ShownOnce(f"The token {made.name}", note, secret)


def _add_target(request: HttpRequest, team: Team, typed: Values) -> str:
    return f"Alerts go to {webhooks.add_endpoint(views.get_access(request), team, typed)} now."


def _change(request: HttpRequest, team: Team, typed: Values) -> str:
    teams.change_settings(views.get_access(request), team, typed)
    return "The settings are saved."


def _delete(request: HttpRequest, team: Team, _: Values) -> str:
    name = team.name
    delete_team(views.get_access(request), team)
    return f"{name} is deleted."


SECTIONS: Mapping[str, Section] = {
    "team": Section(lambda typed, _, team: forms.TeamSettingsForm.of(typed, team), _change),
    "members": Section(lambda typed, *_: forms.InviteForm(typed), _invite),
    "tokens": Section(
        lambda typed, request, team: forms.TokenForm(
            typed, own=views.get_access(request).roles[team.pk]
        ),
        _create_token,
    ),
    "alerts": Section(lambda typed, *_: forms.AlertTargetForm(typed), _add_target),
    "delete": Section(lambda typed, _, team: forms.ConfirmForm(typed, text=team.slug), _delete),
}


@never_cache
@views.team_page()
def settings(request: HttpRequest, team: Team) -> HttpResponse:
    section = SECTIONS.get(views.form_sent(request))
    built = {
        name: one.build(request.POST if one is section else None, request, team)
        for name, one in SECTIONS.items()
    }
    name, context = views.form_sent(request), _list_rows(request, team)
    if section is not None:
        done = views.submit_form(built[name], lambda typed: section.act(request, team, typed))
        if isinstance(done, str):
            messages.success(request, done)
            return views.back_within(request, team, f"{request.path}#{name}")
        if done is not None:
            built[name] = section.build(None, request, team)
            context["shown_once"] = done
    context["forms"] = built
    refused = any(form.errors for form in built.values())
    return render(request, "team/settings.html", context, status=400 if refused else 200)


ROWS_OF_A_PAGE = 50


def _list_rows(request: HttpRequest, team: Team) -> dict[str, Any]:
    access = views.get_access(request)
    may_own = access.has_role(team.pk, Role.OWNER)
    open_links = Invitation.objects.filter(team=team, revoked_at=None)
    tokens = ApiToken.objects.filter(team=team).select_related("user")
    last = WebhookDelivery.objects.filter(endpoint=OuterRef("pk"))
    targets = WebhookEndpoint.objects.filter(team=team).annotate(
        last_state=Subquery(last.values("state")[:1]), last_error=Subquery(last.values("error")[:1])
    )
    entries = Paginator(AuditEntry.objects.filter(team=team), ROWS_OF_A_PAGE)
    page = entries.get_page(request.GET.get("page"))
    return {
        "team": team,
        "may_own": may_own,
        "me": access.user_id,
        "members": Membership.objects.filter(team=team).select_related("user"),
        "roles": Role,
        "invitations": open_links.select_related("invited_by") if may_own else [],
        "tokens": tokens if may_own else tokens.filter(user_id=access.user_id),
        "targets": [(one, [value_words("event", e) for e in one.events]) for one in targets],
        "page": page,
        "log": [(entry, list_changes(entry)) for entry in page],
    }


_LONGEST = 300


def list_changes(entry: AuditEntry) -> list[tuple[str, str, str]]:
    """Fields that changed, each with what it was and what it is."""
    before, after = entry.before, entry.after
    return [
        (name, _text(before.get(name)), _text(after.get(name)))
        for name in sorted({**before, **after})
    ]


def _text(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    )
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@never_cache
def join(request: HttpRequest, secret: str) -> HttpResponse:
    existing = Invitation.objects.filter(digest=hash_secret(secret)).select_related("team").first()
    invitation = existing if existing and existing.is_open else None
    if not request.user.is_authenticated:
        if invitation:
            request.session[INVITED] = invitation.digest
        return views.sign_in_first(request)
    if request.method == "POST":
        try:
            member = teams.accept(views.get_access(request), secret)
        except views.REFUSALS as refusal:
            messages.error(request, views.describe_refusal(refusal))
            return redirect("team")
        views.clear_cached_access(request)
        views.remember_team(request, member.team)
        messages.success(request, f"Welcome to {member.team.name}: you are {member.role}.")
        return redirect("dashboard", member.team.slug)
    status = 200 if invitation else 404
    return render(request, "team/join.html", {"invitation": invitation}, status=status)


@never_cache
@views.signed_in
def account(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    form = forms.ConfirmForm(request.POST or None, text=user.get_username())
    if views.submit_form(form, lambda _values: delete_account(user) or True):
        logout(request)
        return render(request, "team/leaving/account_deleted.html")
    context = {"form": form, "person": user, "sole_member_teams": list_sole_member_teams(user)}
    return render(request, "team/leaving/account.html", context, status=400 if form.errors else 200)
