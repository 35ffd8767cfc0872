"""Invitations that reach whom they are for: by mail, beside the link that the owner sees."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from planner.models import Access, Invitation, Role, Team
from planner.services.jobs.mail import queue_mail
from planner.services.teams import teams
from planner.services.teams.teams import INVITATION_DAYS

_MESSAGE = """{name} invites you to the team {team} of the GPU cost planner, as {role}.

Open this link and sign in to join; it works once, until {expires:%Y-%m-%d}:

{link}

If you do not know what this is about, leave it: nothing happens unless you open the link.
"""


@transaction.atomic
def invite_by_mail(
    access: Access,
    team: Team,
    role: Role,
    email: str = "",
    days: int = INVITATION_DAYS,
    *,
    link_of: Callable[[str], str],
) -> tuple[Invitation, str]:
    """The invitation and its secret; with an address the link is sent there too."""
    invitation, secret = teams.invite(access, team, role, email, days)
    if email:
        message = _MESSAGE.format(
            name=access.name,
            team=team.name,
            role=role.value,
            expires=invitation.expires_at,
            link=link_of(secret),
        )
        queue_mail(f"Invitation to the team {team.name}", message, [email])
    return invitation, secret
