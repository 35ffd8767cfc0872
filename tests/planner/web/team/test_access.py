"""Who may open and do what: every page × caller, and no way into another team."""

import uuid
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from pricing.models import QuarantinedPart
from tests.planner.api.world import World
from tests.planner.callers import CALLERS, SHORT_FORM, at_each_limit, refused_of
from tests.planner.web.team.pages import BY_OTHER_MEANS, PAGES, PRINCIPALS, Page, names_of_all
from tests.planner.workspace import person

pytestmark = pytest.mark.django_db
MISSING = uuid.UUID(int=4711)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    """One world for the whole module; each request is undone."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = World()
        made.ids["quarantined"] = QuarantinedPart.objects.create(
            provider="aws", purchase_option="spot", reason="spot: odd", offer_count=1, digest="0",
            payload=b"",
        ).pk  # fmt: skip
        operator = Client()
        operator.force_login(person("operator", is_staff=True))
        made.clients = {name: as_browser(one) for name, one in made.clients.items()}
        made.clients["operator"] = operator
        yield made
        transaction.set_rollback(True)


def as_browser(api_client: Any) -> Client:
    browser = Client()
    browser.cookies = api_client.cookies
    return browser


@pytest.fixture(autouse=True)
def _nothing_leaves(settings, monkeypatch):
    settings.TASKS_INLINE = False
    monkeypatch.setattr("planner.services.jobs.price_refreshes.publish_parts", lambda held: None)


def called(page: Page, world: World, principal: str, **instead: Any) -> Any:
    browser = world.clients[principal]
    address = page.address(world, **instead)
    with transaction.atomic():
        if page.method == "get":
            answer = browser.get(address)
        else:
            answer = browser.post(address, page.data(world))
        transaction.set_rollback(True)
    return answer


def outcome(answer: Any) -> int:
    """2 for what was asked for, also by way of a redirect; 302 for the way to sign in."""
    if answer.status_code == 302:
        return 302 if "/accounts/login/" in answer["Location"] else 2
    return 2 if answer.status_code == 200 else int(answer.status_code)


def test_no_page_is_missing_from_the_table() -> None:
    assert {page.name for page in PAGES} | BY_OTHER_MEANS == set(names_of_all())


@pytest.mark.one_in(5)
@pytest.mark.parametrize("page", [p for p in PAGES if p.need != "nobody"], ids=str)
@pytest.mark.parametrize("callers", CALLERS)
def test_every_caller_gets_what_the_table_says(page: Page, callers: str, world: World) -> None:
    expected = {p: page.expected(p) for p in PRINCIPALS}
    if callers == SHORT_FORM:
        expected = at_each_limit(expected)
    assert {p: outcome(called(page, world, p)) for p in expected} == expected


@pytest.mark.sweep
def test_who_is_refused_is_refused_everywhere(world: World) -> None:
    """At every page the last who is refused, and a stranger; who is let in at one of five here, and
    everybody at all of them in `make sweep`."""
    wrong = []
    for page in PAGES:
        expected = refused_of({p: page.expected(p) for p in PRINCIPALS})
        outcomes = {p: outcome(called(page, world, p)) for p in expected}
        if page.need != "nobody" and outcomes != expected:
            wrong.append(f"{page}: {outcomes}, not {expected}")
    assert wrong == []


OF_THINGS = [p for p in PAGES if "pk" in p.ids and p.need != "operator"]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("page", OF_THINGS, ids=str)
def test_another_team_s_thing_answers_like_a_missing_one(page: Page, world: World) -> None:
    theirs = called(page, world, "stranger")
    missing = called(page, world, "stranger", pk=MISSING)
    assert theirs.status_code == missing.status_code == 404
    assert without_address(theirs, page, world) == without_address(missing, page, world, MISSING)


def without_address(answer: Any, page: Page, world: World, pk: Any = None) -> str:
    """The page without the two places that name its own address, and without its token."""
    address = page.address(world, **({"pk": pk} if pk else {}))
    lines = answer.content.decode().replace(address, "").splitlines()
    return "\n".join(line for line in lines if "csrf" not in line.lower())


IN_TEAM = [p for p in PAGES if p.in_team and p.ids]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("page", IN_TEAM, ids=str)
def test_a_thing_is_not_found_under_another_team(page: Page, world: World) -> None:
    answer = called(page, world, "stranger", slug=world.beta.slug)
    assert answer.status_code == 404


@pytest.mark.parametrize("page", [p for p in PAGES if p.method == "post"], ids=str)
def test_nothing_is_done_without_the_token_of_a_form(page: Page, world: World) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = world.clients["owner"].cookies
    assert strict.post(page.address(world), page.data(world)).status_code == 403


ACTIONS = [p for p in PAGES if p.method == "post" and (p.name, "get") not in
           {(other.name, other.method) for other in PAGES}]  # fmt: skip


@pytest.mark.one_in(5)
@pytest.mark.parametrize("page", ACTIONS, ids=str)
def test_an_action_is_not_done_by_opening_its_address(page: Page, world: World) -> None:
    caller = "operator" if page.need == "operator" else "owner"
    assert world.clients[caller].get(page.address(world)).status_code == 405
