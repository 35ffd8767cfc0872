"""One person and one team keep so much and no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.models import Role, access_of
from planner.services.teams import access as quotas
from planner.services.teams import teams
from planner.services.teams.access import QuotaError
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def work() -> Workspace:
    return Workspace("alpha")


def create_team(work: Workspace, name: str) -> None:
    teams.create_team(access_of(work.users[Role.VIEWER]), name)


def create_project(work: Workspace, name: str) -> None:
    work.project(name=name)


def invite(work: Workspace, name: str) -> None:
    teams.invite(work.access(), work.team, Role.VIEWER)


def create_token(work: Workspace, name: str) -> None:
    work.token("read")


@pytest.mark.parametrize(
    ("limit", "create", "words"),
    [
        ("teams", create_team, "One person owns at most 2 teams"),
        ("projects", create_project, "A team has at most 2 projects"),
        ("invitations", invite, "A team has at most 2 invitations"),
        ("tokens", create_token, "A team has at most 2 tokens"),
    ],
)
def test_the_one_beyond_the_limit_is_refused(
    work: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    create: Callable[[Workspace, str], None],
    words: str,
) -> None:
    monkeypatch.setitem(quotas.LIMITS, limit, (2, quotas.LIMITS[limit][1]))
    create(work, "First")
    create(work, "Second")
    with pytest.raises(QuotaError, match=words):
        create(work, "Third")
