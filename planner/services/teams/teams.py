"""Teams, members, invitations, and the prices and assumptions that a team shares."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Collection, Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from planner.contract.request.on_prem import Server
from planner.contract.validation import parse
from planner.models import (
    ALL_SCOPES,
    Access,
    ApiToken,
    Invitation,
    Membership,
    Role,
    ServerQuote,
    Team,
)
from planner.models.team import OwnTeamQuerySet
from planner.services.teams.access import (
    EDIT,
    OWN,
    WrongStateError,
    edit,
    record,
    require,
    require_room,
)
from planner.services.teams.team_rates import check_settings, list_team_money
from planner.services.teams.tokens import INVITATION_PREFIX, end_token, hash_secret, new_secret
from pricing.common.invalid_input import InvalidInput

INVITATION_DAYS = 14
MAX_INVITATION_DAYS = 90


def resolve_team(access: Access, slug: str | None, field: str = "team") -> Team:
    """The caller's team with this slug; a foreign one is refused like one that is not there."""
    teams: OwnTeamQuerySet = Team.objects.for_access(access)
    matching: list[Team] = list(teams.filter(slug=slug) if slug else teams[:2])
    if len(matching) != 1:
        named = f"{slug[:60]!r} is none of your teams" if slug else "is required"
        known = ", ".join(teams.order_by("slug").values_list("slug", flat=True)[:20]) or "none"
        raise InvalidInput(field, f"{named}; yours are {known}")
    return matching[0]


@transaction.atomic
def create_team(access: Access, name: str, slug: str = "", currency: str = "USD") -> Team:
    """A new team, its creator the owner. Only a person can found one."""
    if access.user_id is None or access.token_id is not None:
        raise PermissionDenied("Only a signed-in person can create a team, not a token.")
    owned = Membership.objects.filter(user_id=access.user_id, role=Role.OWNER)
    require_room("teams", owned)
    slug = slug or slugify(name)[:60]
    if not slug:
        raise InvalidInput("slug", f"cannot be made from {name[:60]!r}; give one")
    try:
        with transaction.atomic():
            team = Team.objects.create(name=name, slug=slug, currency=currency)
    except IntegrityError:
        raise InvalidInput("slug", f"{slug!r} is taken; choose another") from None
    member = Membership.objects.create(team=team, user_id=access.user_id, role=Role.OWNER)
    record(access, "team.created", team, after={"name": name, "slug": slug})
    record(access, "member.added", member, after={"user": access.name, "role": Role.OWNER})
    return team


def change_settings(
    access: Access, team: Team, changes: Mapping[str, Any], seen_version: int | None = None
) -> Team:
    """Name, currency, contract prices and default assumptions; each change is logged."""
    require(access, team.pk, OWN)
    check_settings(changes)
    # What is kept in a currency would be read as the new one.
    wanted = changes.get("currency", team.currency)
    defaults = changes.get("defaults", team.defaults)
    amounts = list_team_money(team, defaults) if wanted != team.currency else []
    if amounts:
        raise InvalidInput(
            "currency",
            f"{wanted} would turn what the team keeps in {team.currency} into {wanted}: "
            f"{', '.join(amounts[:10])}; remove that first, then enter it again in {wanted}",
        )
    return edit(access, team, changes, seen_version=seen_version, action="team.settings_changed")


# Members ----------------------------------------------------------------------------------


@transaction.atomic
def change_role(
    access: Access, member: Membership, role: Role, seen_version: int | None = None
) -> Membership:
    """Who is owner no more keeps no way back: the links that they made end too."""
    require(access, member.team_id, OWN)
    if role != Role.OWNER:
        _require_other_owner(member)
        _end_invitations_of(access, member)
    return edit(
        access, member, {"role": role}, seen_version=seen_version, action="member.role_changed"
    )


@transaction.atomic
def remove_member(access: Access, member: Membership) -> None:
    """An owner removes anyone; anyone removes themselves. Their tokens end with it, and the
    invitations that they made."""
    if member.user_id != access.user_id or access.token_id is not None:
        require(access, member.team_id, OWN)
    _require_other_owner(member)
    own = ApiToken.objects.filter(team_id=member.team_id, user_id=member.user_id)
    for token in own.filter(revoked_at=None):
        end_token(access, token)
    _end_invitations_of(access, member)
    record(access, "member.removed", member, before={"user": str(member.user), "role": member.role})
    member.delete()


def _require_other_owner(member: Membership) -> None:
    owners = Membership.objects.select_for_update().filter(team=member.team_id, role=Role.OWNER)
    if [owner.pk for owner in owners] == [member.pk]:
        raise WrongStateError("This is the team's only owner; make another member owner first.")


# Invitations ------------------------------------------------------------------------------


@transaction.atomic
def invite(
    access: Access, team: Team, role: Role, email: str = "", days: int = INVITATION_DAYS
) -> tuple[Invitation, str]:
    """An invitation and the secret of its link, which is shown only once."""
    require(access, team.pk, OWN)
    require_room("invitations", Invitation.objects.open().filter(team=team))
    secret = new_secret(INVITATION_PREFIX)
    invitation = Invitation.objects.create(
        team=team,
        role=role,
        email=email,
        digest=hash_secret(secret),
        invited_by_id=access.user_id,
        expires_at=timezone.now() + dt.timedelta(days=days),
    )
    record(access, "invitation.created", invitation, after={"role": role, "email": email})
    return invitation, secret


@transaction.atomic
def revoke_invitation(access: Access, invitation: Invitation) -> None:
    """Its link works no longer, and nothing of it stays but what the audit log says."""
    require(access, invitation.team_id, OWN)
    if not invitation.is_open:
        raise WrongStateError("The invitation is no longer valid.")
    _end_invitation(access, invitation)


def _end_invitations_of(access: Access, member: Membership) -> None:
    """Those that `member` made and nobody took up: whoever made a link knows it."""
    made = Invitation.objects.open().filter(team=member.team_id, invited_by=member.user_id)
    for invitation in made:
        _end_invitation(access, invitation)


def _end_invitation(access: Access, invitation: Invitation) -> None:
    before = {"role": invitation.role, "email": invitation.email}
    record(access, "invitation.revoked", invitation, before=before)
    invitation.delete()


@transaction.atomic
def accept(access: Access, secret: str) -> Membership:
    """Makes the caller a member; a link works once, for one person, until it expires."""
    if access.user_id is None or access.token_id is not None:
        raise PermissionDenied("Only a signed-in person can accept an invitation.")
    invitation = Invitation.objects.select_for_update().filter(digest=hash_secret(secret)).first()
    if invitation is None or not invitation.is_open:
        raise InvalidInput("secret", "is not a valid invitation; ask for a new link")
    require_room("members", Membership.objects.filter(team=invitation.team_id))
    user = get_user_model().objects.get(pk=access.user_id)
    member, is_new = Membership.objects.get_or_create(
        team_id=invitation.team_id, user=user, defaults={"role": invitation.role}
    )
    if not is_new:
        raise WrongStateError("You are already a member of this team.")
    invitation.accepted_at = timezone.now()
    invitation.save()
    record(access, "member.added", member, after={"user": access.name, "role": member.role})
    return member


# Server quotes ------------------------------------------------------------------------


@transaction.atomic
def add_quote(access: Access, team: Team, values: Mapping[str, Any]) -> ServerQuote:
    """A supplier's quote, checked as a server of the comparison request would be."""
    require(access, team.pk, EDIT)
    require_room("server quotes", ServerQuote.objects.filter(team=team))
    parse(Server, values["server"], "server")
    try:
        with transaction.atomic():
            quote = ServerQuote.objects.create(team=team, **values)
    except IntegrityError:
        raise InvalidInput("slug", f"{values['slug']!r} is taken in this team") from None
    record(access, "server_quote.created", quote, after=values)
    return quote


def change_quote(
    access: Access, quote: ServerQuote, changes: Mapping[str, Any], seen_version: int | None = None
) -> ServerQuote:
    require(access, quote.team_id, EDIT)
    if "server" in changes:
        parse(Server, changes["server"], "server")
    return edit(access, quote, changes, seen_version=seen_version)


@transaction.atomic
def remove_quote(access: Access, quote: ServerQuote) -> None:
    require(access, quote.team_id, EDIT)
    record(access, "server_quote.removed", quote, before={"server": quote.server})
    quote.delete()


logger = logging.getLogger(__name__)
NAME = "company sign-in"
"""Who the audit log says it was."""


def read_groups(claims: Mapping[str, Any]) -> list[str]:
    """The groups that an issuer's answer names, in its userinfo or its id token.

    >>> read_groups({"userinfo": {"groups": ["ml"]}}), read_groups({"groups": "ml"})
    (['ml'], ['ml'])
    """
    for part in (claims.get("userinfo"), claims.get("id_token"), claims):
        value = part.get("groups") if isinstance(part, Mapping) else None
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return [one for one in value if isinstance(one, str)]
    return []


@transaction.atomic
def apply_groups(user: Any, groups: Collection[str]) -> None:
    """Gives a person the roles of their groups, and takes those that no group gives."""
    granted = [rule for rule in settings.OIDC_GROUPS if rule.group in groups]
    if any(rule.is_operator for rule in settings.OIDC_GROUPS):
        is_operator = any(rule.is_operator for rule in granted)
        if user.is_staff != is_operator:
            user.is_staff = is_operator
            user.save(update_fields=["is_staff"])
            logger.warning("%s is %s operator now.", user, "an" if is_operator else "no")
    for slug in sorted({rule.team for rule in settings.OIDC_GROUPS if not rule.is_operator}):
        team = Team.objects.filter(slug=slug).first()
        if team is None:
            logger.warning("OIDC_GROUPS names the team %r, which is not there.", slug)
            continue
        roles = [Role(rule.role) for rule in granted if rule.team == slug]
        _set_role(user, team, max(roles, key=lambda role: role.rank, default=None))


def _set_role(user: Any, team: Team, role: Role | None) -> None:
    access = Access(name=NAME, roles={team.pk: Role.OWNER}, scopes=ALL_SCOPES)
    member = Membership.objects.filter(team=team, user=user).first()
    try:
        if member is None and role is not None:
            member = Membership.objects.create(team=team, user=user, role=role)
            record(access, "member.added", member, after={"user": str(user), "role": role})
        elif member is not None and role is None:
            remove_member(access, member)
        elif member is not None and role is not None and member.role != role:
            change_role(access, member, role)
    except WrongStateError as refusal:
        logger.warning("%s keeps the role in %s: %s", user, team, refusal)
