"""Portfolios over the API: planned at once, kept, and seen by whoever may."""

import pytest

from tests.planner.api.routes import PORTFOLIO
from tests.planner.api.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return World()


def test_a_refusal_names_the_project_s_field(world):
    wrong = {**PORTFOLIO, "projects": [{"name": "A", "workload": {"kind": "accelerator_hours"}}]}
    answer = world.clients["viewer"].post("/api/v1/portfolios/", wrong, format="json")
    assert answer.status_code == 400
    assert "projects.0.workload.accelerator" in str(answer.json())


def test_all_projects_of_a_team_are_kept_as_one_portfolio(world):
    body = {"team": "alpha", "name": "Everything"}
    answer = world.clients["approver"].post("/api/v1/saved-portfolios/", body, format="json")
    assert answer.status_code == 201
    assert [one["name"] for one in answer.json()["answer"]["projects"]] == ["Empty", "Model A"]


def test_a_job_plans_what_takes_longer(world):
    answer = world.clients["editor"].post(
        "/api/v1/portfolios/?team=alpha", PORTFOLIO, format="json", HTTP_PREFER="respond-async"
    )
    assert answer.status_code == 202
    assert answer.json()["kind"] == "portfolio"
    address = f"/api/v1/jobs/{answer.json()['id']}/"
    readers = {role: world.clients[role].get(address).status_code for role in
               ("editor", "approver", "owner", "viewer")}  # fmt: skip
    assert readers == {"editor": 200, "approver": 200, "owner": 200, "viewer": 404}
    listed = world.clients["viewer"].get("/api/v1/jobs/?kind=portfolio").json()["results"]
    assert listed == []
