"""Who may do what: every route × method × caller, and no way into another team."""

import uuid
from typing import Any

import pytest
from django.db import transaction

from planner.models.team import TeamQuerySet
from tests.planner.api.routes import OPERATIONS, PRINCIPALS, Operation, routes_of_the_api
from tests.planner.api.world import World
from tests.planner.callers import CALLERS, SHORT_FORM, at_each_limit

pytestmark = pytest.mark.django_db
UNSEEN = {"uuid": uuid.UUID(int=4711), "slug": "no-such-team"}


@pytest.fixture(autouse=True)
def _nothing_leaves(settings):
    settings.TASKS_INLINE = False


def called(operation: Operation, world: World, principal: str, **instead: Any) -> Any:
    with transaction.atomic():
        response = operation.call(world, principal, **instead)
        response.render() if hasattr(response, "render") else None
        transaction.set_rollback(True)
    return response


def test_no_route_is_missing_from_the_table() -> None:
    assert routes_of_the_api() == {(o.route, o.method) for o in OPERATIONS}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
@pytest.mark.parametrize("callers", CALLERS)
def test_every_caller_gets_what_the_table_says(
    operation: Operation, callers: str, world: World
) -> None:
    expected = {p: operation.expected(p) for p in PRINCIPALS}
    if callers == SHORT_FORM:
        expected = at_each_limit(expected)
    assert {p: called(operation, world, p).status_code for p in expected} == expected


OF_OBJECTS = [o for o in OPERATIONS if o.stranger == 404]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("operation", OF_OBJECTS, ids=str)
def test_another_team_s_thing_answers_like_a_missing_one(
    operation: Operation, world: World
) -> None:
    where = operation.where or {}
    name = "pk" if "pk" in where else next(iter(where))
    missing = UNSEEN["slug" if name in ("team", "slug") else "uuid"]
    ours = called(operation, world, "stranger")
    theirs = called(operation, world, "stranger", **{name: missing})
    assert (ours.status_code, ours.content) == (theirs.status_code, theirs.content)
    assert sorted(ours.headers) == sorted(theirs.headers)


LISTS = [o for o in OPERATIONS if o.stranger == 200]


@pytest.mark.parametrize("operation", LISTS, ids=str)
def test_lists_hold_nothing_of_another_team(operation: Operation, world: World) -> None:
    assert called(operation, world, "owner").json()["results"]
    assert called(operation, world, "stranger").json()["results"] == []


@pytest.mark.one_in(5)
@pytest.mark.parametrize("operation", [*OF_OBJECTS, *LISTS], ids=str)
def test_no_view_reads_past_the_filter(
    operation: Operation, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a filter that lets nothing through even the owner finds nothing: a view that did
    not ask the filter would still answer."""
    monkeypatch.setattr(TeamQuerySet, "for_access", lambda rows, access: rows.none())
    monkeypatch.setattr(
        "planner.models.bookkeeping.JobQuerySet.for_access", TeamQuerySet.for_access
    )
    response = called(operation, world, "owner")
    if response.status_code == 200:
        assert response.json()["results"] == []
    else:
        assert response.status_code == 404


@pytest.mark.one_in(5)
@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.needs == "market"], ids=str)
def test_login_required_closes_the_market_too(operation: Operation, world: World, settings) -> None:
    settings.LOGIN_REQUIRED = True
    is_page = operation.route == "api:docs"
    assert called(operation, world, "anonymous").status_code == (302 if is_page else 401)
    assert called(operation, world, "viewer").status_code == operation.ok


def test_the_page_of_the_api_asks_visitors_to_sign_in_where_it_is_closed(client, db, settings):
    assert client.get("/api/v1/docs/").status_code == 200
    settings.LOGIN_REQUIRED = True
    answer = client.get("/api/v1/docs/")
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/api/v1/docs/")
    wrong = client.get("/api/v1/docs/", headers={"Authorization": "Bearer gcp_wrong"})
    assert wrong.status_code == 401
