"""Numbers and texts typed into addresses, forms and logs: refused at once, never a 500."""

import time
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from planner.models import Project, Role
from planner.services.projects.projects import compose
from planner.web.common.query_codec import flatten
from tests.planner.web.asking import HOURS, get, text
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("workload.hours_per_month", "1e999999", "'1e999999' cannot be used; allowed are numbers"),
        ("workload.hours_per_month", "9" * 5000, "cannot be used; allowed are numbers"),
        ("horizon_months", "1e9999999", "'1e9999999' cannot be used; allowed are numbers"),
        ("constraints.total_budget", "1e-300000000", "'1e-300000000' cannot be used"),
        ("workload." + "." * 3000, "1", "which names no question"),
        ("servers" + ".0" * 1500, "1", "which names no question"),
        ("custom_offers.²", "1", "not a list"),
        ("custom_offers." + "9" * 5000 + ".label", "1", "not a list"),
    ],
)
def test_a_hostile_address_is_refused_in_words(client: Any, name, value, words) -> None:
    began = time.process_time()
    response = get(client, "plan", HOURS | {name: value})
    assert response.status_code == 400
    assert words in text(response)
    assert time.process_time() - began < 5


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", ["²", "9" * 5000, "-1"])
def test_a_count_of_rows_that_is_none_counts_as_one(client: Any, rows: str) -> None:
    assert get(client, "plan", HOURS | {"rows.servers": rows}).status_code == 200


@pytest.mark.parametrize("path", ["/market/offer/?id=%00", "/%00/", "/plan/?%00=1", "/?a=%00"])
def test_a_nul_in_an_address_is_refused_by_name(client: Any, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 400
    assert "holds a NUL or an incomplete surrogate pair; remove it" in text(response)


def test_the_api_says_so_in_its_own_words(client: Any) -> None:
    response = client.get("/api/v1/offers/?region=%00")
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")
    assert response.json()["errors"][0]["field"] == "region"


def test_a_nul_in_a_cookie_or_a_form_is_refused(client: Any) -> None:
    assert client.post("/theme/", {"theme": "\0"}).status_code == 400
    client.cookies["sessionid"] = "\0abcdefghijk"
    assert client.get("/").status_code == 400


def test_what_cannot_be_seen_is_refused_in_an_address_and_in_a_form(client: Any) -> None:
    disguised = "Own \u202e%5 evas"
    for answer in (
        get(client, "plan", HOURS | {"name": disguised}),
        client.post("/theme/", {"theme": disguised}),
    ):
        assert answer.status_code == 400
        assert "holds U+202E (right-to-left override)" in text(answer)


def test_a_password_and_a_cookie_may_hold_what_cannot_be_seen(client: Any) -> None:
    """Whoever has such a password types it again as it is."""
    password = "long\u00adpass word 4711"
    get_user_model().objects.create_user("ada", password=password)
    client.cookies["other"] = "a\u00adb"
    answer = client.post("/accounts/login/", {"login": "ada", "password": password})
    assert answer.status_code == 302


def test_a_row_from_before_is_shown_and_opened_without_what_cannot_be_seen(client: Any) -> None:
    work = Workspace("alpha")
    project = work.project()
    Project.objects.filter(pk=project.pk).update(name="Own \u202eit")
    project.refresh_from_db()
    client.force_login(work.users[Role.OWNER])
    assert client.get(reverse("project", args=["alpha", project.pk])).status_code == 200
    address = urlencode(flatten(compose(project)))
    assert client.get(f"/plan/?{address}").status_code == 200
    path = f"/api/v1/projects/{project.pk}/"
    changed = client.patch(path, {"watched": True}, content_type="application/json")
    assert (changed.status_code, changed.json()["name"]) == (200, "Own \u202eit")
    renamed = client.patch(path, {"name": "\u2066B"}, content_type="application/json")
    assert renamed.json()["errors"][0]["field"] == "name"
