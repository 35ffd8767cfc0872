"""What one visitor sees is kept by no cache; what everybody sees may be."""

import pytest
from django.test import Client

from planner.models import Role, Scope
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db


def test_what_belongs_to_a_team_is_not_stored(work: Workspace, client: Client) -> None:
    saved = work.saved()
    client.force_login(work.users[Role.VIEWER])
    for path in (
        "/team/alpha/",
        f"/c/{saved.pk}/",
        f"/c/{saved.pk}/export/csv/",
        f"/api/v1/saved-comparisons/{saved.pk}/",
        f"/api/v1/saved-comparisons/{saved.pk}/exports/xlsx/",
        "/market/",
    ):
        answer = client.get(path)
        assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (200, True), path


def test_an_answer_to_a_token_is_not_stored(work: Workspace, client: Client) -> None:
    headers = {"Authorization": f"Bearer {work.token(Scope.READ)}"}
    answer = client.get("/api/v1/projects/", headers=headers)
    assert answer["Cache-Control"] == "private, no-store"


def test_prices_for_everybody_may_be_stored(work: Workspace, client: Client) -> None:
    assert client.get("/api/v1/offers/")["Cache-Control"] == "no-cache"
    assert "no-store" not in client.get("/market/").get("Cache-Control", "")


def test_a_part_of_a_page_is_not_kept_in_its_place(work: Workspace, client: Client) -> None:
    """Of the same address a visitor gets the page, and a page that is open a part of it."""
    query = "workload.kind=accelerator_hours&workload.accelerator=H100&workload.hours_per_month=9"
    whole = client.get(f"/plan/?{query}")
    part = client.get(f"/plan/?{query}", headers={"HX-Request": "true"})
    assert len(part.content) < len(whole.content)
    for answer in (whole, part):
        varies = answer["Vary"].split(", ")
        assert {"HX-Request", "HX-History-Restore-Request", "HX-Target", "HX-Trigger"} <= {*varies}
    assert "HX-Request" not in client.get("/api/v1/offers/").get("Vary", "")
