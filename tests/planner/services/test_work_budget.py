"""Who may ask for how much."""

from typing import Any

import pytest
from django.test import Client

from planner.models import JobState, Scope
from planner.services.jobs import jobs
from planner.services.work_budget import Budget, client_address
from tests.planner.workspace import REQUEST, Workspace

pytestmark = pytest.mark.django_db
LARGE = REQUEST | {"horizon_months": 120, "decide_every_months": 0}


@pytest.mark.parametrize(
    ("is_signed_in", "is_job", "limit", "hint"),
    [
        (False, False, 1, "Signed in"),
        (True, False, 2, "As a job"),
        (False, True, 2, "somebody signed in"),
        (True, True, 3, ""),
    ],
)
def test_the_budget_follows_who_asks(settings, is_signed_in, is_job, limit, hint):
    settings.WORK_ANONYMOUS, settings.WORK_SIGNED_IN, settings.WORK_JOB = 1, 2, 3
    budget = Budget(lambda: is_signed_in, is_job)

    assert budget.meter.limit == limit
    assert budget.meter is budget.meter
    assert hint in budget.hint
    assert bool(hint) == bool(budget.hint)


def test_the_api_refuses_an_anonymous_question_that_is_too_long(
    settings, client: Client, work: Workspace
):
    settings.WORK_ANONYMOUS = 9_000
    answer = client.post("/api/v1/comparisons/", LARGE, content_type="application/json")

    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert "it has 120 months" in error["message"]
    assert "Signed in you may ask for more" in error["message"]


def test_a_token_has_the_budget_of_somebody_signed_in(settings, client, work):
    settings.WORK_ANONYMOUS = 9_000

    answer = client.post(
        "/api/v1/comparisons/",
        REQUEST,
        content_type="application/json",
        headers={"Authorization": f"Bearer {work.token(Scope.READ)}"},
    )

    assert answer.status_code == 200


def test_a_job_spends_its_own_budget(settings, work):
    settings.WORK_JOB = 9_000
    refused = jobs.start(work.access(), "comparison", {"request": LARGE}, work.team)
    settings.WORK_JOB = 10_000_000
    done = jobs.start(work.access(), "comparison", {"request": LARGE}, work.team)

    assert refused.state == JobState.FAILED
    assert "takes more work" in refused.error["errors"][0]["message"]
    assert done.state == JobState.SUCCEEDED


FORGED = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "1.1.1.1, 198.51.100.7"}


@pytest.mark.parametrize(
    ("proxies", "address"), [(0, "10.0.0.1"), (1, "198.51.100.7"), (2, "1.1.1.1")]
)
def test_only_what_our_own_proxies_say_is_believed(
    settings: Any, proxies: int, address: str
) -> None:
    settings.NUM_PROXIES = proxies
    assert client_address(FORGED) == address


def test_a_customer_cannot_choose_among_addresses_of_their_network(settings: Any) -> None:
    first, second = (client_address({"REMOTE_ADDR": f"2001:db8:1:2::{n}"}) for n in ("1", "ffff"))
    assert first == second == "2001:db8:1:2::"
