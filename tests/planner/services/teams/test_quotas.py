"""One person and one team keep so much and no more."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from planner.models import Role, SavedPortfolio, access_of
from planner.services.actuals import actuals
from planner.services.portfolio import portfolios
from planner.services.teams import access as quotas
from planner.services.teams import teams
from planner.services.teams.access import QuotaError
from tests.planner.workspace import Workspace, market, person

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


def test_a_full_team_takes_no_member_in(work: Workspace, settings: Any) -> None:
    settings.MEMBERS_PER_TEAM = 4
    _, secret = teams.invite(work.access(), work.team, Role.VIEWER)
    newcomer = person("newcomer")
    with pytest.raises(QuotaError, match="at most 4 members"):
        teams.accept(access_of(newcomer), secret)
    settings.MEMBERS_PER_TEAM = 5
    assert teams.accept(access_of(newcomer), secret).role == Role.VIEWER


def test_a_project_takes_so_many_uploads(work: Workspace, settings: Any) -> None:
    settings.UPLOADS_PER_PROJECT = 1
    project = work.project()
    rows = b"month,cost\n2027-01,%d\n"
    actuals.load_actuals(work.access(), project, BytesIO(rows % 1))
    with pytest.raises(QuotaError, match="at most 1 uploads"):
        actuals.load_actuals(work.access(), project, BytesIO(rows % 2))


def test_a_team_keeps_so_many_portfolios(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    market()
    monkeypatch.setitem(
        quotas.LIMITS, "saved portfolios", (1, "A team has at most {} saved portfolios")
    )
    work.portfolio()
    monkeypatch.setattr(portfolios, "plan_for_team", None)  # refused before anything is computed
    with pytest.raises(QuotaError, match="A team has at most 1 saved portfolios"):
        work.portfolio()
    assert SavedPortfolio.objects.count() == 1
