"""Members, their roles, and the links that make more of them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from planner.models import Access, Invitation, Membership, Role, Team
from planner.services.invitations import invite_by_mail
from planner.services.teams import teams
from planner.services.teams.secrets import hash_secret
from planner.services.teams.tokens import count_service_tokens
from planner.web.common.current_team import clear_cached_access, get_access, remember_team
from planner.web.common.resume import sign_in_first
from planner.web.common.sign_in.accounts import INVITED
from planner.web.common.view_helpers import (
    REFUSALS,
    describe_refusal,
    get_owned_or_404,
    run_with_messages,
    submit_form,
    team_page,
)
from planner.web.team.forms import ROLE_WORDS, InviteForm
from pricing.common.pluralize import pluralize


@never_cache
@team_page()
def members(request: HttpRequest, team: Team) -> HttpResponse:
    """Who is in the team; owners invite with a link that is shown once."""
    access = get_access(request)
    form = InviteForm(request.POST or None)

    def link_of(secret: str) -> str:
        return request.build_absolute_uri(reverse("join", args=[secret]))

    created = submit_form(form, lambda values: _invite(access, team, values, link_of))
    may_own = access.has_role(team.pk, Role.OWNER)
    context = {
        "team": team,
        "members": Membership.objects.filter(team=team).select_related("user"),
        "me": access.user_id,
        "roles": list(ROLE_WORDS.items()),
        "may_own": may_own,
        "form": InviteForm() if created else form,
        "invitations": _invitations(team) if may_own else [],
    }
    if created is not None:
        context["link"] = link_of(created[1])
        context["sent_to"] = created[0].email
    return render(request, "team/members.html", context, status=400 if form.errors else 200)


def _invitations(team: Team) -> Any:
    return Invitation.objects.filter(team=team, revoked_at=None).select_related("invited_by")


def _invite(
    access: Access, team: Team, values: dict[str, Any], link_of: Callable[[str], str]
) -> tuple[Invitation, str]:
    role, email, days = Role(values["role"]), values["email"], values["days"]
    return invite_by_mail(access, team, role, email, days, link_of=link_of)


@team_page()
@require_POST
def change_role(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    member = get_owned_or_404(request, Membership, pk, "user", team=team)
    wanted = request.POST.get("role", "")
    if wanted not in Role.values:
        messages.error(request, f"{wanted!r} is no role; roles are {', '.join(Role.values)}.")
        return redirect("team-members", team.slug)
    message = f"{member.user} is {wanted} now."
    run_with_messages(
        request, lambda: teams.change_role(get_access(request), member, Role(wanted)), message
    )
    clear_cached_access(request)
    return redirect("team-members", team.slug)


@team_page()
@require_POST
def remove(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """An owner removes anyone; anyone leaves."""
    member = get_owned_or_404(request, Membership, pk, "user", team=team)
    leaves, person = member.user_id == request.user.pk, member.user
    message = f"You left {team.name}." if leaves else f"{member.user} is no longer a member."
    done = run_with_messages(
        request, lambda: teams.remove_member(get_access(request), member), message
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


@team_page()
@require_POST
def revoke_invitation(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    invitation = get_owned_or_404(request, Invitation, pk, team=team)
    message = "The link no longer works."
    run_with_messages(
        request, lambda: teams.revoke_invitation(get_access(request), invitation), message
    )
    return redirect("team-members", team.slug)


@never_cache
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """What an invitation link opens: sign in or up, then become a member."""
    existing = Invitation.objects.filter(digest=hash_secret(secret)).select_related("team").first()
    invitation = existing if existing and existing.is_open else None
    if not request.user.is_authenticated:
        if invitation:
            request.session[INVITED] = invitation.digest
        return sign_in_first(request)
    if request.method == "POST":
        return _accept(request, secret)
    status = 200 if invitation else 404
    return render(request, "team/join.html", {"invitation": invitation}, status=status)


def _accept(request: HttpRequest, secret: str) -> HttpResponse:
    try:
        member = teams.accept(get_access(request), secret)
    except REFUSALS as refusal:
        messages.error(request, describe_refusal(refusal))
        return redirect("team")
    clear_cached_access(request)
    remember_team(request, member.team)
    messages.success(request, f"Welcome to {member.team.name}: you are {member.role}.")
    return redirect("dashboard", member.team.slug)
