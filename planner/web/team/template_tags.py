"""The frame of the team's pages: which team, which other teams, which tabs."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django import template
from django.template import Context
from django.urls import reverse

from planner.models import Role, SavedComparison, State, Team
from planner.web.common.choices import server_title
from planner.web.common.current_team import get_access, my_teams
from planner.web.team.forms import SendBackForm

register = template.Library()

CUSTOM = "custom"
"""`server` of a quote that describes its machine itself."""
_BADGES = {
    State.DRAFT: "bg-secondary-lt",
    State.SUBMITTED: "bg-azure-lt",
    State.APPROVED: "bg-green-lt",
    State.SUPERSEDED: "bg-secondary-lt",
    "succeeded": "bg-green-lt",
    "published": "bg-green-lt",
    "delivered": "bg-green-lt",
    "failed": "bg-red-lt",
    "held": "bg-orange-lt",
    "interrupted": "bg-orange-lt",
    "running": "bg-azure-lt",
}
_TABS = (
    ("projects", "Projects", "dashboard", Role.VIEWER),
    ("portfolio", "Portfolio", "portfolio", Role.VIEWER),
    ("members", "Members", "team-members", Role.VIEWER),
    ("prices", "Prices and defaults", "team-prices", Role.VIEWER),
    ("servers", "Server quotes", "team-servers", Role.VIEWER),
    ("tokens", "Tokens", "team-tokens", Role.VIEWER),
    ("webhooks", "Webhooks", "team-webhooks", Role.OWNER),
    ("audit", "Audit log", "team-audit", Role.VIEWER),
    ("settings", "Team", "team-settings", Role.VIEWER),
)
TAB_TITLES = frozenset(title for _, title, _, _ in _TABS)


@register.simple_tag(takes_context=True)
def signup_is_open(context: Context) -> bool:
    """Whether this visitor may open an account: anybody, or because of an invitation opened."""
    return bool(get_adapter().is_open_for_signup(context["request"]))


@register.inclusion_tag("team/parts/tabs.html", takes_context=True)
def team_tabs(context: Context, team: Team | None, active: str) -> dict[str, Any]:
    """The team's name, a switch to other teams, and the tabs that the person may open."""
    request = context["request"]
    access = get_access(request)
    tabs = [
        {"title": title, "url": reverse(name, args=[team.slug]), "active": key == active}
        for key, title, name, role in _TABS
        if team is not None and access.has_role(team.pk, role)
    ]
    if access.is_operator:
        url, here = reverse("operator"), active == "operator"
        tabs.append({"title": "Refreshes", "url": url, "active": here})
    role = access.roles.get(team.pk) if team else None
    return {"team": team, "teams": my_teams(request), "tabs": tabs, "role": role}


@register.filter
def server_name(slug: str) -> str:
    """A server of the reference list by name; one that is none of them as such.

    >>> server_name("dgx-h100"), server_name("custom")
    ('DGX H100 (8x H100)', 'a server of its own')
    """
    return "a server of its own" if slug == CUSTOM else server_title(slug)


@register.simple_tag
def send_back_form(saved: SavedComparison, typed: SendBackForm | None = None) -> SendBackForm:
    """The box for the reason, empty or as it was `typed`."""
    return typed or SendBackForm(auto_id=f"back-{saved.pk}-%s")


@register.filter
def badge(state: str) -> str:
    """The colours of a state."""
    return _BADGES.get(state, "bg-secondary-lt")
