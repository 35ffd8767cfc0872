"""Roles that follow from the groups of a company account, at each sign-in with it.

`OIDC_GROUPS` names groups with what they give: a role in a team, or to be an operator. A team that
it names is governed by it: who is in none of its groups is no member any more.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from planner.environment import GroupRole
from planner.models import ALL_SCOPES, Access, Membership, Role, Team
from planner.services.teams import teams
from planner.services.teams.audit import record
from planner.services.teams.errors import WrongStateError

logger = logging.getLogger(__name__)
NAME = "company sign-in"
"""Who the audit log says it was."""


def read_groups(claims: Mapping[str, Any]) -> list[str]:
    """The groups that an issuer's answer names, in its userinfo or its id token.

    >>> read_groups({"userinfo": {"groups": ["ml"]}}), read_groups({"groups": "ml"})
    (['ml'], ['ml'])
    """
    for part in (claims.get("userinfo"), claims.get("id_token"), claims):
        value = part.get(settings.OIDC_GROUPS_CLAIM) if isinstance(part, Mapping) else None
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
        _set_operator(user, any(rule.is_operator for rule in granted))
    for slug in sorted({rule.team for rule in settings.OIDC_GROUPS if not rule.is_operator}):
        team = Team.objects.filter(slug=slug).first()
        if team is None:
            logger.warning("OIDC_GROUPS names the team %r, which is not there.", slug)
            continue
        _set_role(user, team, _highest(rule for rule in granted if rule.team == slug))


def _set_operator(user: Any, is_operator: bool) -> None:
    if user.is_staff != is_operator:
        user.is_staff = is_operator
        user.save(update_fields=["is_staff"])
        logger.warning("%s is %s operator now.", user, "an" if is_operator else "no")


def _highest(rules: Iterable[GroupRole]) -> Role | None:
    roles = [Role(rule.role) for rule in rules]
    return max(roles, key=lambda role: role.rank, default=None)


def _set_role(user: Any, team: Team, role: Role | None) -> None:
    access = Access(name=NAME, roles={team.pk: Role.OWNER}, scopes=ALL_SCOPES)
    member = Membership.objects.filter(team=team, user=user).first()
    try:
        if member is None and role is not None:
            member = Membership.objects.create(team=team, user=user, role=role)
            record(access, "member.added", member, after={"user": str(user), "role": role})
        elif member is not None and role is None:
            teams.remove_member(access, member)
        elif member is not None and role is not None and member.role != role:
            teams.change_role(access, member, role)
    except WrongStateError as refusal:
        logger.warning("%s keeps the role in %s: %s", user, team, refusal)
