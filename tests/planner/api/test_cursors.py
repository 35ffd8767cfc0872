"""A cursor that somebody made up is refused by name, whatever it holds."""

import base64
from typing import Any

import pytest
from django.utils import timezone

from planner.api.views.documents import document
from planner.models import Project, Role
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("text", ["p=%00", "p=abc", "p=9999999999999999999", "r=1&p=1e999999"])
def test_a_cursor_of_a_list_of_the_team(client: Any, text: str) -> None:
    work = Workspace("alpha")
    work.project()
    client.force_login(work.users[Role.OWNER])
    cursor = base64.b64encode(text.encode()).decode()
    answer = client.get("/api/v1/projects/", {"cursor": cursor})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "cursor")


def test_each_link_leads_on_and_back_through_rows_of_one_time(client: Any) -> None:
    work = Workspace("alpha")
    client.force_login(work.users[Role.OWNER])
    for number in range(5):
        work.project(name=f"Project {number}")
    Project.objects.update(created_at=timezone.now())
    url, names, back = "/api/v1/projects/?page_size=2", [], []
    while url:
        page = client.get(url).json()
        names += [row["id"] for row in page["results"]]
        url, last = page["next"], page
    while last["previous"]:
        last = client.get(last["previous"]).json()
        back += [row["id"] for row in last["results"]]
    assert len(set(names)) == len(names) == 5
    assert set(back) <= set(names)
    assert names[0] in back


def test_what_does_not_come_in_pages_takes_no_page(client: Any) -> None:
    """`regions/?page_size=5` gave all of them, without a word about the five."""
    client.force_login(Workspace("alpha").users[Role.OWNER])
    for path, operations in document()["paths"].items():
        if "{" in path or "get" not in operations:
            continue
        names = [one["name"] for one in operations["get"].get("parameters", ())]
        errors = client.get(path, {"page_size": "1", "cursor": "AAAA"}).json()["errors"]
        refused = [error["field"] for error in errors]
        expected = ["cursor"] if "page_size" in names else ["page_size", "cursor"]
        assert refused == expected, path
