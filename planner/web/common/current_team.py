"""Who is at the page and for which of their teams."""

from __future__ import annotations

from django.http import HttpRequest

from planner.models import Access, Team, access_of

_CHOSEN = "team"
_ACCESS, _TEAMS = "_planner_access", "_planner_teams"


def get_access(request: HttpRequest) -> Access:
    """The rights of the person at the page, read once a request."""
    access: Access | None = getattr(request, _ACCESS, None)
    if access is None:
        access = access_of(request.user)
        setattr(request, _ACCESS, access)
    return access


def my_teams(request: HttpRequest) -> list[Team]:
    """The person's teams in order of name, read once a request; none for a visitor."""
    teams: list[Team] | None = getattr(request, _TEAMS, None)
    if teams is None:
        access = get_access(request)
        teams = list(Team.objects.for_access(access)) if access.roles else []
        setattr(request, _TEAMS, teams)
    return teams


def current_team(request: HttpRequest) -> Team | None:
    """The team that the person opened last, else their first; None for a visitor."""
    teams = my_teams(request)
    if not teams:
        return None
    chosen = request.session.get(_CHOSEN)
    return next((team for team in teams if team.slug == chosen), teams[0])


def remember_team(request: HttpRequest, team: Team) -> None:
    """Remembers the team for the plan page and the next visit."""
    if request.session.get(_CHOSEN) != team.slug:
        request.session[_CHOSEN] = team.slug


def clear_cached_access(request: HttpRequest) -> None:
    """Reads rights and teams anew after they changed within the request."""
    for name in (_ACCESS, _TEAMS):
        if hasattr(request, name):
            delattr(request, name)
