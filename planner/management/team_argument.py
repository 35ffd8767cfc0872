"""The team that a command names, and the rights under which an operator's command acts."""

from __future__ import annotations

from django.core.management.base import CommandError

from planner.models import ALL_SCOPES, Access, Role, Team

OPERATOR = "operator's command"
"""Who the audit log names."""


def pick_team(slug: str) -> Team:
    team: Team | None = Team.objects.filter(slug=slug).first()
    if team is None:
        known = ", ".join(Team.objects.order_by("slug").values_list("slug", flat=True)[:20])
        raise CommandError(f"There is no team {slug[:60]!r}; teams are {known or 'none'}.")
    return team


def operator_access(team: Team) -> Access:
    """Those of an owner of this team."""
    return Access(name=OPERATOR, roles={team.pk: Role.OWNER}, scopes=ALL_SCOPES)
