"""How much one person and one team may keep, so that nobody fills the database."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from planner.services.teams.errors import WrongStateError
from pricing.storage.locks import wait_in_line

VARIANTS_PER_PROJECT = 200
SAVED_COMPARISONS_PER_PROJECT = 1_000
PORTFOLIOS_PER_TEAM = 1_000
TOKENS_PER_TEAM = 500
"""That still work."""
QUOTES_PER_TEAM = 1_000
OPEN_INVITATIONS_PER_TEAM = 500


class QuotaError(WrongStateError):
    """There are so many already (409)."""


def require_room(rows: QuerySet[Any], most: int, limit: str) -> None:
    """Refuses one row more than `most`, in words such as "a team has at most 500 members"."""
    wait_in_line(rows.model._meta.label)
    if most and rows.count() >= most:
        raise QuotaError(
            f"{limit[:1].upper()}{limit[1:]}; remove one, or ask the operator of this server "
            "for more."
        )


def require_room_for_team(memberships: QuerySet[Any]) -> None:
    """Of the teams that a person owns."""
    most = settings.TEAMS_PER_PERSON
    require_room(memberships, most, f"one person owns at most {most:,} teams")


def require_room_for_member(memberships: QuerySet[Any]) -> None:
    most = settings.MEMBERS_PER_TEAM
    require_room(memberships, most, f"a team has at most {most:,} members")


def require_room_for_project(projects: QuerySet[Any]) -> None:
    most = settings.PROJECTS_PER_TEAM
    require_room(projects, most, f"a team has at most {most:,} projects")


def require_room_for_upload(uploads: QuerySet[Any]) -> None:
    most = settings.UPLOADS_PER_PROJECT
    require_room(uploads, most, f"a project has at most {most:,} uploads of actuals")


def require_room_to_save(saved_comparisons: QuerySet[Any]) -> None:
    most = SAVED_COMPARISONS_PER_PROJECT
    require_room(saved_comparisons, most, f"a project has at most {most:,} saved comparisons")


def require_room_for_portfolio(saved_portfolios: QuerySet[Any]) -> None:
    most = PORTFOLIOS_PER_TEAM
    require_room(saved_portfolios, most, f"a team has at most {most:,} saved portfolios")
