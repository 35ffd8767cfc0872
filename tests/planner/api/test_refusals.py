"""A refusal names what was sent and what would do, also where the framework refuses."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from planner.models import Role
from planner.services.projects import projects
from tests.planner.workspace import WORKLOAD, Workspace, market

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("document")]
ALPHA = "/api/v1/teams/alpha/"
ID = "8ede26a9-4a3d-40fd-b51c-9d915440dcec"
EVENTS = "saved_comparison.approved, project.price_moved"


@pytest.fixture
def client() -> APIClient:
    market()
    client = APIClient()
    client.force_login(Workspace("alpha").users[Role.OWNER])
    return client


REFUSED: list[tuple[str, Any, dict[str, str]]] = [
    (f"{ALPHA}webhooks/", {"url": "x", "events": ["y"]}, {"events.0": f"allowed are {EVENTS}"}),
    (
        "/api/v1/projects/",
        {
            "team": "alpha",
            "name": "x",
            "watch_threshold": "much",
            "workload": [],
            "archived": "no!",
        },
        {
            "watch_threshold": "'much' is not a number",
            "workload": "a list is not an object",
            "archived": "'no!' is not true or false",
        },
    ),
    (
        "/api/v1/saved-comparisons/",
        {"project": "mine", "name": "x", "request": 5},
        {"project": f"'mine' is not an id like {ID}", "request": "5 is not an object"},
    ),
    (
        f"{ALPHA}servers/",
        {"slug": "x", "label": "x", "server": {}, "quoted_on": "2026-13-01"},
        {"quoted_on": "'2026-13-01' is not a day like 2026-11-20"},
    ),
]


@pytest.mark.parametrize(("path", "body", "told"), REFUSED)
def test_a_value_that_cannot_be_used_is_named_with_what_can(
    client: APIClient, path: str, body: Any, told: dict[str, str]
) -> None:
    answer = client.post(path, body, format="json")
    assert answer.status_code == 400
    messages = {error["field"]: error["message"] for error in answer.json()["errors"]}
    for field, words in told.items():
        assert words in messages[field]


COMPARISON = {"workload": WORKLOAD, "start": "2027-01"}
MACHINE_READABLE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"horizon_months": 200},
        {"field": "horizon_months", "code": "out_of_range", "value": 200,
         "remedy": "must be at most 120"},
    ),
    ({"colour": "blue"}, {"field": "colour", "code": "unknown_field", "value": "blue"}),
    ({"workload": {"kind": "x"}}, {"field": "workload.kind", "code": "unknown_value"}),
    ({"name": 5}, {"field": "name", "code": "wrong_type", "value": 5}),
    ({"workload": {"kind": "accelerator_hours"}}, {"code": "required", "value": None}),
]  # fmt: skip


@pytest.mark.parametrize(("change", "told"), MACHINE_READABLE)
def test_a_machine_reads_the_code_the_value_and_the_remedy(
    change: dict[str, Any], told: dict[str, Any]
) -> None:
    market()
    answer = APIClient().post("/api/v1/comparisons/", COMPARISON | change, format="json")
    body = answer.json()
    assert body["type"] == "urn:gpu-cost-planner:problem:invalid_request"
    assert body["errors"][0].items() >= told.items()


SHAPE = {"type", "title", "status", "code", "detail", "remedy", "errors"}
CODES = [
    ("get", "/api/v1/projects/", "", 401, "not_authenticated"),
    ("get", "/api/v1/nothing/", "", 404, "not_found"),
    ("put", "/api/v1/offers/", "", 405, "method_not_allowed"),
    ("post", "/api/v1/comparisons/", "{", 400, "parse_error"),
    ("post", "/api/v1/comparisons/", "[]", 400, "invalid_request"),
    ("get", "/api/v1/offers/?colour=red", "", 400, "invalid_request"),
    ("get", "/api/v1/offers/?colour=%00", "", 400, "invalid_request"),
    ("post", "/api/v1/comparisons/", "<a/>", 415, "unsupported_media_type"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "code"), CODES)
def test_every_refusal_has_one_shape(
    method: str, path: str, body: str, status: int, code: str
) -> None:
    kind = "application/xml" if body.startswith("<") else "application/json"
    answer = APIClient().generic(method.upper(), path, body, kind)
    assert answer["Content-Type"] == "application/problem+json"
    told = answer.json()
    assert set(told) == SHAPE
    assert (answer.status_code, told["code"]) == (status, code)


def test_every_throttled_answer_says_what_is_left(settings: Any) -> None:
    settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 2
    answers = [APIClient().get("/api/v1/regions/") for _ in range(3)]
    left = [
        (one.status_code, one["RateLimit-Policy"], one["RateLimit"].partition(";t=")[0])
        for one in answers
    ]
    policy = '"all";q=2;w=60'
    assert left == [
        (200, policy, '"all";r=1'),
        (200, policy, '"all";r=0'),
        (429, policy, '"all";r=0'),
    ]
    assert 0 < int(answers[-1]["RateLimit"].partition(";t=")[2]) <= 60
    assert set(answers[-1].json()) == SHAPE
    assert answers[-1].json()["code"] == "throttled"


@pytest.mark.parametrize(
    ("method", "path", "headers", "told"),
    [
        ("put", "/api/v1/offers/", {}, "'PUT' is not answered here; allowed are GET, HEAD."),
        ("get", "/api/v1/offers/", {"Accept": "text/csv"}, "'text/csv' is not answered here; send"),
        ("get", "/api/v1/offers/?format=xml", {}, "in the format 'xml'; leave format out."),
        ("get", "/api/v1/projects/", {}, "send a token as Authorization: Bearer, or sign in."),
        (
            "post",
            "/api/v1/comparisons/",
            {"Content-Type": "text/xml"},
            "Content-Type 'text/xml' is not read here; send application/json.",
        ),
    ],
)
def test_a_call_that_is_not_answered_says_what_is(
    method: str, path: str, headers: dict[str, str], told: str
) -> None:
    kind = headers.get("Content-Type", "application/json")
    body = "<request/>" if method == "post" else ""
    answer = APIClient().generic(method.upper(), path, body, kind, headers=headers)
    assert answer.status_code >= 400
    assert told in answer.json()["detail"]


def test_a_reason_of_sending_back_is_bounded_and_answered(client: APIClient) -> None:
    work = Workspace("gamma")
    client.force_login(work.users[Role.APPROVER])
    plan = projects.submit(work.access(Role.EDITOR), work.saved())
    address = f"/api/v1/saved-comparisons/{plan.pk}/send-back/"
    for reason, told in (("a" * 501, "is longer than 500 characters"), ("a\u200bb", "reason")):
        refused = client.post(address, {"reason": reason}, format="json")
        assert refused.status_code == 400
        assert told in str(refused.json()["errors"])
    answer = client.post(address, {"reason": "Too dear."}, format="json").json()
    assert (answer["state"], answer["sent_back_reason"]) == ("draft", "Too dear.")
    assert answer["sent_back_by"] == work.access(Role.APPROVER).name


@pytest.mark.parametrize("path", ["comparisons", "portfolios", "usage"])
def test_a_team_named_by_nobody_asks_for_a_token(path: str) -> None:
    answer = APIClient().post(f"/api/v1/{path}/?team=alpha", {}, format="json")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert "send a token of the team as Authorization: Bearer" in answer.json()["detail"]
