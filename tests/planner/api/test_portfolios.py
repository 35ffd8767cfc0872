"""Portfolios over the API: planned at once, kept, and seen by whoever may."""

import pytest

from planner.models import Role
from tests.planner.api.routes import PORTFOLIO
from tests.planner.api.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return World()


def test_a_portfolio_is_planned_without_saving_it(world):
    answer = world.clients["anonymous"].post("/api/v1/portfolios/", PORTFOLIO, format="json")
    assert answer.status_code == 200
    assert answer.json()["projects"][0]["share"] == answer.json()["net_present_cost"]


def test_a_refusal_names_the_project_s_field(world):
    wrong = {**PORTFOLIO, "projects": [{"name": "A", "workload": {"kind": "accelerator_hours"}}]}
    answer = world.clients["viewer"].post("/api/v1/portfolios/", wrong, format="json")
    assert answer.status_code == 400
    assert "projects.0.workload.accelerator" in str(answer.json())


def test_all_projects_of_a_team_are_kept_as_one_portfolio(world):
    body = {"team": "alpha", "name": "Everything"}
    answer = world.clients["approver"].post("/api/v1/saved-portfolios/", body, format="json")
    assert answer.status_code == 201
    assert [one["name"] for one in answer.json()["answer"]["projects"]] == [
        "Empty",
        "Model A",
    ]


def test_a_request_and_a_choice_of_projects_exclude_each_other(world):
    body = {
        "team": "alpha",
        "name": "Both",
        "request": PORTFOLIO,
        "projects": [str(world.ids["project"])],
    }
    answer = world.clients["editor"].post("/api/v1/saved-portfolios/", body, format="json")
    assert answer.status_code == 400
    assert "projects" in str(answer.json())


def test_a_viewer_reads_no_share_of_others_and_gets_an_etag_of_their_own(world):
    address = f"/api/v1/saved-portfolios/{world.ids['portfolio']}/"
    viewer, owner = world.clients["viewer"].get(address), world.clients["owner"].get(address)
    assert viewer.json()["answer"]["projects"] == []
    assert len(owner.json()["answer"]["projects"]) == 1
    assert viewer["ETag"] != owner["ETag"]
    replayed = world.clients["viewer"].post(f"{address}replay/").json()
    assert replayed["identical"]
    assert replayed["answer"]["projects"] == []


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


def test_the_editor_sees_the_share_of_the_project_that_they_made(world):
    project = world.alpha.project(name="vision")
    project.created_by = world.alpha.users[Role.EDITOR]
    project.save()
    body = {"team": "alpha", "name": "Everything"}
    made = world.clients["owner"].post("/api/v1/saved-portfolios/", body, format="json").json()
    seen = world.clients["editor"].get(f"/api/v1/saved-portfolios/{made['id']}/").json()
    assert [one["name"] for one in seen["answer"]["projects"]] == ["vision"]
    assert seen["answer"]["total_cost"] is None
