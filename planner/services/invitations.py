"""Invitations that reach whom they are for: by mail, beside the link that the owner sees."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from planner.contract.amounts import name_day
from planner.models import Access, AuditEntry, Invitation, Role, Team
from planner.services.jobs.background import queue_mail
from planner.services.teams import teams
from planner.services.teams.access import WrongStateError
from planner.services.teams.teams import INVITATION_DAYS

MAILED_PER_DAY = 200
"""Of one team: a mail bears a name that its owner chose, to an address that they chose."""
_MESSAGE = """{name} invites you to the team {team} of the GPU cost planner, as {role}.

Open this link and sign in to join; it works once, until {expires}:

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
        # Invitations that were revoked since count too: their mails are sent.
        day_ago = timezone.now() - dt.timedelta(days=1)
        made = AuditEntry.objects.filter(team=team, action="invitation.created", at__gte=day_ago)
        if made.exclude(after__email="").count() > MAILED_PER_DAY:
            raise WrongStateError(
                f"A team sends at most {MAILED_PER_DAY} invitations by mail a day; leave out the "
                "address and send the link yourself."
            )
        message = _MESSAGE.format(
            name=access.name,
            team=team.name,
            role=role.value,
            expires=name_day(invitation.expires_at),
            link=link_of(secret),
        )
        queue_mail(f"Invitation to the team {team.name}", message, [email])
    return invitation, secret
