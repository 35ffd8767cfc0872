"""Room and rights are judged again when an answer that took long to compute is stored."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from planner.models import (
    Access,
    ApiToken,
    Membership,
    Project,
    Role,
    SavedComparison,
    SavedPortfolio,
    Scope,
    access_of,
)
from planner.services.actuals import actuals
from planner.services.portfolio import portfolios
from planner.services.projects import projects
from planner.services.teams import access as quotas
from planner.services.teams import teams
from planner.services.teams.access import WrongStateError
from planner.services.teams.teams import access_for_token
from planner.usage.actuals_file import read_actuals_file
from tests.planner.workspace import PLAIN, WORKLOAD, Workspace

pytestmark = pytest.mark.django_db

Prepare = Callable[[Workspace, Access], Callable[[], Any]]


def prepare_comparison(work: Workspace, access: Access) -> Callable[[], Any]:
    project = Project.objects.filter(team=work.team).first() or work.project()
    return projects.prepare_comparison(access, project, name="Plan")


def prepare_portfolio(work: Workspace, access: Access) -> Callable[[], Any]:
    request = {
        "start": PLAIN["start"],
        "horizon_months": PLAIN["horizon_months"],
        "projects": [{"name": "A", "workload": WORKLOAD}],
    }
    return portfolios.prepare_portfolio(access, work.team, name="All", request=request)


BOTH = pytest.mark.parametrize("prepare", [prepare_comparison, prepare_portfolio])


def count_saved() -> int:
    return SavedComparison.objects.count() + SavedPortfolio.objects.count()


@BOTH
def test_saves_at_once_keep_to_the_limit(
    work: Workspace, prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(quotas.LIMITS, "saved comparisons", (1, "No more: at most {} saved ones"))
    monkeypatch.setitem(quotas.LIMITS, "saved portfolios", (1, "No more: at most {} saved ones"))
    first, second = prepare(work, work.access()), prepare(work, work.access())
    first()
    with pytest.raises(WrongStateError, match="at most 1 saved"):
        second()
    assert count_saved() == 1


def remove(work: Workspace) -> None:
    member = Membership.objects.get(team=work.team, user=work.users[Role.EDITOR])
    teams.remove_member(work.access(), member)


def make_viewer(work: Workspace) -> None:
    Membership.objects.filter(user=work.users[Role.EDITOR]).update(role=Role.VIEWER)


def close_account(work: Workspace) -> None:
    work.users[Role.EDITOR].is_active = False
    work.users[Role.EDITOR].save()


@BOTH
@pytest.mark.parametrize("end", [remove, make_viewer, close_account])
def test_who_may_no_longer_edit_keeps_nothing(
    work: Workspace, prepare: Prepare, end: Callable[[Workspace], None]
) -> None:
    store = prepare(work, work.access(Role.EDITOR))
    end(work)
    with pytest.raises(PermissionDenied):
        store()
    assert count_saved() == 0


@BOTH
def test_a_token_keeps_nothing_once_revoked(work: Workspace, prepare: Prepare) -> None:
    access = access_for_token(work.token(Scope.READ, Scope.WRITE, role=Role.EDITOR))
    assert access is not None
    prepare(work, access)()
    store = prepare(work, access)
    teams.revoke_token(work.access(), ApiToken.objects.get())
    with pytest.raises(PermissionDenied):
        store()
    assert count_saved() == 1


def test_an_upload_is_judged_again_once_it_is_read(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, read = work.project(), read_actuals_file
    rows = b"month,cost\n2026-10,%d\n"

    def upload(number: int, meanwhile: Callable[[], Any]) -> None:
        def read_slowly(*arguments: Any) -> Any:
            monkeypatch.setattr(actuals, "read_actuals_file", read)
            meanwhile()
            return read(*arguments)

        monkeypatch.setattr(actuals, "read_actuals_file", read_slowly)
        actuals.load_actuals(work.access(Role.EDITOR), project, BytesIO(rows % number))

    monkeypatch.setitem(quotas.LIMITS, "uploads", (1, quotas.LIMITS["uploads"][1]))
    with pytest.raises(WrongStateError, match="at most 1 uploads"):
        upload(1, lambda: actuals.load_actuals(work.access(), project, BytesIO(rows % 2)))
    monkeypatch.setitem(quotas.LIMITS, "uploads", (2, quotas.LIMITS["uploads"][1]))
    with pytest.raises(PermissionDenied):
        upload(3, lambda: remove(work))
    assert project.uploads.count() == 1


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
    with pytest.raises(WrongStateError, match=words):
        create(work, "Third")
