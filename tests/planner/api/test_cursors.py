"""A cursor that somebody made up is refused by name, whatever it holds."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from planner.models import Role
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


def test_a_nested_cursor_of_the_market(client: Any) -> None:
    cursor = base64.urlsafe_b64encode(b"[" * 5000).decode()
    answer = client.get("/api/v1/offers/", {"cursor": cursor})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "cursor")
