"""What every client may count on: keys, versions, limits, problem details."""

import csv
import io
import json

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from planner.exports import FORMATS
from planner.exports.saved_context import export_saved
from planner.models import Role, Scope
from planner.services.actuals import actuals
from planner.services.projects import projects
from tests.planner.api.creating import COMPARE, PROJECTS, create, errors
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("document")]


@pytest.fixture
def client(work: Workspace) -> APIClient:
    client = APIClient()
    client.force_login(work.users[Role.OWNER])
    return client


def test_a_stale_edit_fails(client: APIClient) -> None:
    created = create(client, "k")
    where, seen = created["Location"], created["ETag"]
    changed = client.patch(where, {"name": "B"}, format="json", headers={"If-Match": seen})
    assert changed.status_code == 200
    assert changed["ETag"] != seen
    stale = client.patch(where, {"name": "C"}, format="json", headers={"If-Match": seen})
    assert stale.status_code == 412
    assert client.get(where).json()["name"] == "B"
    assert client.delete(where, headers={"If-Match": seen}).status_code == 412


@pytest.mark.parametrize(("held", "status"), [("*", 204), (",*", 204), ('"x"', 412)])
def test_what_has_no_version_matches_anything_or_nothing(
    client: APIClient, work: Workspace, held: str, status: int
) -> None:
    address = f"/api/v1/projects/{work.project().pk}/actuals/"
    made = client.post(address, b"month,cost\n2026-10,5\n", content_type="text/csv")
    assert "ETag" not in made
    gone = client.delete(f"{address}{made.json()['id']}/", headers={"If-Match": held})
    assert gone.status_code == status


def test_what_the_caller_holds_is_not_sent_again(client: APIClient) -> None:
    created = create(client, "k")
    held = client.get(created["Location"], headers={"If-None-Match": created["ETag"]})
    assert (held.status_code, held.content) == (304, b"")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("path", ["offers/", "regions/", "freshness/"])
def test_the_market_is_read_again_at_no_cost_until_it_changes(path: str, work: Workspace) -> None:
    address = f"/api/v1/{path}"
    first = APIClient().get(address)
    assert first.status_code == 200
    again = APIClient().get(address, headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    if path in ("offers/", "freshness/"):
        market("60.00")
        now = APIClient().get(address, headers={"If-None-Match": first["ETag"]})
        assert now.status_code == 200


@pytest.mark.parametrize("depth", [40, 100_000])
def test_deep_json_is_refused(client: APIClient, depth: int) -> None:
    body = b'{"name": "A", "workload": ' + b"[" * depth + b"]" * depth + b"}"
    assert client.post(PROJECTS, body, content_type="application/json").status_code == 400


@pytest.mark.parametrize("size", [1_000_001, 20_000_000])
def test_a_body_beyond_the_limit_is_too_large(client: APIClient, size: int) -> None:
    refused = client.post(PROJECTS, {"name": "A", "description": "x" * size}, format="json")
    assert (refused.status_code, refused["Content-Type"]) == (413, "application/problem+json")


@pytest.mark.parametrize("prefer", ["respond-async", "wait=10, Respond-Async; x=1"])
def test_a_caller_who_prefers_gets_a_job_to_poll(client: APIClient, prefer: str) -> None:
    sent = client.post(COMPARE, REQUEST, format="json", headers={"Prefer": prefer})
    assert sent.status_code == 202
    assert sent["Retry-After"] == "1"
    done = client.get(sent["Location"]).json()
    assert done["state"] == "succeeded"
    direct = client.post(COMPARE, REQUEST, format="json").json()
    assert done["result"]["scenarios"] == direct["scenarios"]


def test_a_job_that_is_refused_says_why(client: APIClient) -> None:
    bad = {**REQUEST, "horizon_months": 0}
    sent = client.post(COMPARE, bad, format="json", headers={"Prefer": "respond-async"})
    done = client.get(sent["Location"]).json()
    assert done["state"] == "failed"
    assert done["error"]["errors"][0]["field"] == "horizon_months"


def test_a_tenth_of_the_requests_may_compute(settings) -> None:
    settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 20
    cache.clear()
    answers = [APIClient().post(COMPARE, {}, format="json") for _ in range(3)]
    assert [a.status_code for a in answers] == [400, 400, 429]
    assert APIClient().get("/api/v1/regions/").status_code == 200


@pytest.mark.parametrize("secret", ["", "gcp_wrong", "\u2603"])
def test_a_wrong_token_is_refused(secret: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    refused = client.get(PROJECTS)
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"].startswith("Bearer")


def test_a_refused_caller_is_told_which_role_or_scope_it_takes(work: Workspace) -> None:
    client, body = APIClient(), {"name": "A", "team": "alpha"}
    client.force_login(work.users[Role.VIEWER])
    refused = client.post(PROJECTS, body, format="json")
    assert refused.status_code == 403
    assert refused.json()["detail"] == "This needs the role editor in the team."
    client = APIClient(headers={"Authorization": f"Bearer {work.token(Scope.READ)}"})
    refused = client.post(PROJECTS, body, format="json")
    assert refused.json()["detail"] == "This needs a token with the scope write."


def test_focus_rows_are_of_the_scenario_that_is_asked_for(
    client: APIClient, work: Workspace
) -> None:
    address = f"/api/v1/saved-comparisons/{work.saved().pk}/exports/focus/"
    text = client.get(address, {"scenario": "on_demand"}).content.decode()
    assert ",on_demand," in text
    for form in FORMATS:
        refused = client.get(address.replace("focus", form), {"scenario": "cheapest"})
        assert (refused.status_code, [*errors(refused)]) == (400, ["scenario"])


def test_a_team_s_feed_has_approved_forecasts_and_what_was_paid(work: Workspace) -> None:
    paying, owner = work.project(name="Paying", cost_centre="4711"), work.access()
    saved = projects.approve(owner, projects.submit(owner, work.saved()))
    work.saved(paying)  # a draft is no forecast
    bill = (
        b"month,cost,hours,provider,category\n2027-01,900.30,30,aws,commitment\n2027-02,70,,,capex"
    )
    actuals.load_actuals(owner, paying, io.BytesIO(bill + b"\n2027-02,5,,,gifts\n"))

    def read(secret: str, since: str) -> tuple[int, str]:
        client = APIClient(headers={"Authorization": f"Bearer {secret}"})
        answer = client.get(f"/api/v1/teams/alpha/focus/?since={since}")
        return answer.status_code, answer.content.decode()

    token, planned = work.token(Scope.READ), export_saved(saved, "focus").decode()
    (_, feed), (_, later) = (read(token, month) for month in ("2020-01", "2027-02"))
    assert feed.startswith(planned)
    rows = list(csv.DictReader(feed.splitlines()))
    columns = "x_IsForecast ChargePeriodStart EffectiveCost x_Category x_CapexOpex PricingUnit"
    assert [[row[name] for name in columns.split()] for row in rows[-3:]] == [
        ["false", "2027-01-01T00:00:00Z", "900.30", "commitment", "opex", "Accelerator-Hours"],
        ["false", "2027-02-01T00:00:00Z", "70", "capex", "capex", "Month"],
        ["false", "2027-02-01T00:00:00Z", "5", "other", "opex", "Month"],
    ]
    tags = {"team": "Alpha", "project": "Paying", "cost_centre": "4711"}
    assert json.loads(rows[-1]["Tags"]) == tags
    assert read(token, "2027-01&version=1.2")[1].count(",ProviderName,") == 1
    assert len(rows) == planned.count("\r\n") - 1 + 3
    expected = [row for row in rows if row["ChargePeriodStart"] >= "2027-02"]
    assert list(csv.DictReader(later.splitlines())) == expected
    assert read(token, "2027-02-01")[0] == read(token, "2027-02&version=1.0")[0] == 400
    assert read(Workspace("beta").token(Scope.READ), "2027-02")[0] == 404
