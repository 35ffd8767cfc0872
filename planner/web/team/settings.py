"""Members, their roles, and the links that make more of them."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth import logout
from django.core.paginator import Paginator
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from planner.models import (
    ApiToken,
    AuditEntry,
    Invitation,
    Membership,
    Role,
    Scope,
    ServerQuote,
    Team,
    WebhookDelivery,
    WebhookEndpoint,
)
from planner.services.housekeeping.deletion import (
    delete_account,
    delete_team,
    list_sole_member_teams,
)
from planner.services.teams import teams
from planner.services.teams import tokens as token_service
from planner.services.teams.access import EDIT, OWN, StaleError, require
from planner.services.teams.tokens import count_service_tokens, hash_secret
from planner.services.webhooks import webhooks
from planner.web.common import views
from planner.web.common.adapters import INVITED
from planner.web.common.query_codec import write
from planner.web.team import forms, rates_form
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize


@never_cache
@views.team_page()
def members(request: HttpRequest, team: Team) -> HttpResponse:
    access = views.get_access(request)
    form = forms.InviteForm(request.POST or None)
    created = views.submit_form(
        form, lambda v: teams.invite(access, team, Role(v["role"]), v["email"], v["days"])
    )
    may_own = access.has_role(team.pk, Role.OWNER)
    context = {
        "team": team,
        "members": Membership.objects.filter(team=team).select_related("user"),
        "me": access.user_id,
        "roles": list(forms.ROLE_WORDS.items()),
        "may_own": may_own,
        "form": forms.InviteForm() if created else form,
        "invitations": Invitation.objects.filter(team=team, revoked_at=None).select_related(
            "invited_by"
        )
        if may_own
        else [],
    }
    if created is not None:
        context["link"] = request.build_absolute_uri(reverse("join", args=[created[1]]))
    return render(request, "team/members.html", context, status=400 if form.errors else 200)


@views.team_page()
@require_POST
def change_role(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    member = views.get_owned_or_404(request, Membership, pk, "user", team=team)
    wanted = request.POST.get("role", "")
    if wanted not in Role.values:
        messages.error(request, f"{wanted!r} is no role; roles are {', '.join(Role.values)}.")
        return redirect("team-members", team.slug)
    message = f"{member.user} is {wanted} now."
    views.run_with_messages(
        request, lambda: teams.change_role(views.get_access(request), member, Role(wanted)), message
    )
    views.clear_cached_access(request)
    return redirect("team-members", team.slug)


@views.team_page()
@require_POST
def remove(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    member = views.get_owned_or_404(request, Membership, pk, "user", team=team)
    leaves, person = member.user_id == request.user.pk, member.user
    message = f"You left {team.name}." if leaves else f"{member.user} is no longer a member."
    done = views.run_with_messages(
        request, lambda: teams.remove_member(views.get_access(request), member), message
    )
    if done and leaves:
        return redirect("team")
    if done and (count := count_service_tokens(team, person)):
        what = pluralize(count, "service token")
        messages.warning(
            request,
            f"Still working: {what} that {person} made. Revoke what they may know under Tokens.",
        )
    return redirect("team-members", team.slug)


revoke_invitation = views.pressed(
    Invitation, teams.revoke_invitation, "The link no longer works.", "team-members"
)


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


@views.team_page()
def settings(request: HttpRequest, team: Team) -> HttpResponse:
    access = views.get_access(request)
    rules = "\n".join(team.project_rules)
    start = {"name": team.name, "currency": team.currency, "project_rules": rules}
    form = forms.TeamSettingsForm(request.POST or None, initial=start)
    done = views.submit_form(form, lambda _: teams.change_settings(access, team, form.changes()))
    if done is not None:
        messages.success(request, "The settings are saved.")
        return redirect("team-settings", team.slug)
    context = {"team": team, "form": form, "may_own": access.has_role(team.pk, Role.OWNER)}
    return render(request, "team/settings.html", context, status=400 if form.errors else 200)


@views.team_page()
def prices(request: HttpRequest, team: Team) -> HttpResponse:
    may_own = views.get_access(request).has_role(team.pk, Role.OWNER)
    context: dict[str, Any] = {"team": team, "may_own": may_own, "version": team.version}
    if request.method != "POST":
        context["boxes"] = rates_form.form_context(rates_form.team_query(team))
        return render(request, "team/prices.html", context)
    require(views.get_access(request), team.pk, OWN)
    context["version"] = request.POST.get("version", "")
    if rates_form.wants_another_row(request.POST):
        context["boxes"] = rates_form.form_context(request.POST)
        return render(request, "team/prices.html", context)
    try:
        changes = rates_form.read_changes(request.POST)
        seen = read_position(request.POST.get("version", ""))
        teams.change_settings(views.get_access(request), team, changes, seen)
    except InvalidInput as refusal:
        context["boxes"] = rates_form.form_context(request.POST, refusal.all())
    except StaleError as refusal:
        context["boxes"] = rates_form.form_context(request.POST)
        context |= {"refusal": str(refusal), "version": ""}
    else:
        messages.success(request, "Saved. Every new comparison by the team uses these values.")
        return redirect("team-prices", team.slug)
    return render(request, "team/prices.html", context, status=400)


@views.team_page()
def quotes(request: HttpRequest, team: Team) -> HttpResponse:
    access = views.get_access(request)
    form = forms.QuoteForm(request.POST or None, currency=team.currency)
    created = views.submit_form(
        form, lambda v: teams.add_quote(access, team, {"slug": v["slug"], **form.values()})
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


@views.team_page(EDIT)
def quote(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    row = views.get_owned_or_404(request, ServerQuote, pk, "team", team=team)
    form = forms.QuoteForm(
        request.POST or None, initial=forms.QuoteForm.of(row), currency=team.currency
    )
    changed = views.submit_form(
        form,
        lambda v: teams.change_quote(views.get_access(request), row, form.values(), v["version"]),
    )
    if changed is not None:
        messages.success(request, f"{changed.label} is saved.")
        return redirect("team-servers", team.slug)
    context = {"team": team, "quote": row, "form": form}
    return render(request, "team/quote.html", context, status=400 if form.errors else 200)


remove_quote = views.pressed(
    ServerQuote, teams.remove_quote, "{row.label} is removed.", "team-servers", need=EDIT
)


@never_cache
@views.team_page()
def tokens(request: HttpRequest, team: Team) -> HttpResponse:
    access = views.get_access(request)
    form = forms.TokenForm(request.POST or None, own=access.roles[team.pk])
    created = views.submit_form(
        form,
        lambda values: token_service.create_token(
            access,
            team,
            name=values["name"],
            scopes=[Scope(scope) for scope in values["scopes"]],
            days=values["days"],
            is_service=values["kind"] == "service",
            role=Role(values["role"]) if values["role"] else None,
        ),
    )
    may_own = access.has_role(team.pk, Role.OWNER)
    rows = ApiToken.objects.filter(team=team).select_related("user")
    context = {
        "team": team,
        "form": forms.TokenForm(own=access.roles[team.pk]) if created else form,
        "tokens": rows if may_own else rows.filter(user_id=access.user_id),
        "may_own": may_own,
        "secret": created[1] if created else "",
        "made": created[0] if created else None,
    }
    return render(request, "team/tokens.html", context, status=400 if form.errors else 200)


@views.team_page()
@require_POST
def revoke_token(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    access = views.get_access(request)
    limits = {} if access.has_role(team.pk, Role.OWNER) else {"user_id": access.user_id}
    token = views.get_owned_or_404(request, ApiToken, pk, team=team, **limits)
    message = f"The token {token.name} no longer works."
    views.run_with_messages(request, lambda: token_service.revoke_token(access, token), message)
    return redirect("team-tokens", team.slug)


@views.team_page()
def alert_targets(request: HttpRequest, team: Team) -> HttpResponse:
    access = views.get_access(request)
    form = forms.AlertTargetForm(request.POST or None)
    added = views.submit_form(form, lambda values: webhooks.add_endpoint(access, team, values))
    if added is not None:
        messages.success(request, f"Alerts go to {added} from now on.")
        return redirect("team-alerts", team.slug)
    last = WebhookDelivery.objects.filter(endpoint=OuterRef("pk"))
    targets = WebhookEndpoint.objects.filter(team=team).annotate(
        last_state=Subquery(last.values("state")[:1]), last_error=Subquery(last.values("error")[:1])
    )
    context = {
        "team": team,
        "form": form,
        "targets": [(one, [forms.EVENT_WORDS.get(e, e) for e in one.events]) for one in targets],
        "may_own": access.has_role(team.pk, Role.OWNER),
    }
    return render(request, "team/alert_targets.html", context, status=400 if form.errors else 200)


test_alert = views.pressed(
    WebhookEndpoint, webhooks.send_test, "A test is on its way to {row}.", "team-alerts", need=OWN
)
remove_alert_target = views.pressed(
    WebhookEndpoint,
    webhooks.remove_endpoint,
    "No more alerts go to {row}.",
    "team-alerts",
    need=OWN,
)
ROWS_OF_A_PAGE = 50
_LONGEST = 300


@views.team_page()
@require_safe
def log(request: HttpRequest, team: Team) -> HttpResponse:
    entries = AuditEntry.objects.filter(team=team)
    page = Paginator(entries, ROWS_OF_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "team": team,
        "page": page,
        "rows": [{"entry": entry, "changes": list_changes(entry)} for entry in page],
        "older": write(request.GET, page=page.number + 1) if page.has_next() else "",
        "newer": write(request.GET, page=page.number - 1) if page.has_previous() else "",
    }
    return render(request, "team/audit.html", context)


def list_changes(entry: AuditEntry) -> list[dict[str, str]]:
    before, after = entry.before, entry.after
    return [
        {"field": name, "before": _text(before.get(name)), "after": _text(after.get(name))}
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
@views.team_page(OWN)
def delete(request: HttpRequest, team: Team) -> HttpResponse:
    form = forms.ConfirmForm(request.POST or None, text=team.slug)
    name = team.name
    if views.submit_form(
        form, lambda _values: delete_team(views.get_access(request), team) or True
    ):
        views.clear_cached_access(request)
        messages.success(request, f"{name} is deleted.")
        return redirect("team")
    context = {"team": team, "form": form}
    return render(request, "team/leaving/delete.html", context, status=400 if form.errors else 200)


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
