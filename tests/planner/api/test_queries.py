"""A list costs the same number of queries however long it is."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from planner.models import Job, Role
from planner.services.projects import projects
from planner.services.teams import teams, tokens
from planner.services.webhooks import webhooks
from tests.planner.api.world import SERVER
from tests.planner.workspace import Workspace, market, person

pytestmark = pytest.mark.django_db
# Session and user: 2. Roles: 1. The team of the address: 1. The rows: 1.
FLAT, NESTED = 4, 5
QUERIES = {
    "teams/": FLAT,
    "projects/": FLAT,
    "variants/": FLAT,
    "scenarios/": FLAT,
    "saved-comparisons/": FLAT + 1,  # The revisions in force, for the stale mark.
    "saved-portfolios/": FLAT,
    "jobs/": FLAT + 2,  # Jobs whose process is gone, jobs that waited a day for nobody.
    "alerts/": FLAT,
    "teams/alpha/members/": NESTED,
    "teams/alpha/invitations/": NESTED,
    "teams/alpha/tokens/": NESTED,
    "teams/alpha/servers/": NESTED,
    "teams/alpha/audit-log/": NESTED,
    "teams/alpha/webhooks/": NESTED,
    "teams/alpha/webhooks/{webhook}/deliveries/": NESTED + 1,  # The webhook.
    "projects/{project}/actuals/": NESTED,
}


def grow(work: Workspace, name: str) -> dict[str, Any]:
    """One more of everything that is listed."""
    owner = work.access()
    project = work.project(name=name)
    projects.create_variant(owner, project, {"name": name, "changes": {}})
    work.saved(project)
    work.portfolio()
    Job.objects.create(team=work.team, kind="comparison")
    project.alerts.create(team=work.team, kind="price_move", message=name, currency="USD")
    project.uploads.create(
        team=work.team, format="csv", rows=1, digest=name, currency="USD",
        uploaded_by=work.users[Role.OWNER],
    )  # fmt: skip
    member = person(name)
    member.memberships.create(team=work.team, role=Role.VIEWER)
    teams.invite(owner, work.team, Role.VIEWER)
    tokens.create_token(owner, work.team, name=name, scopes=["read"], days=3)
    teams.add_quote(owner, work.team, {"slug": name, "label": name, "server": SERVER})
    hook = webhooks.add_endpoint(
        owner, work.team, {"url": "https://a.example.com/", "events": ["project.price_moved"]}
    )
    hook.deliveries.create(team=work.team, event="test", payload={}, state="failed")
    return {"project": project.pk, "webhook": hook.pk}


@pytest.fixture
def work() -> Workspace:
    market()
    return Workspace("alpha")


def test_every_list_costs_a_fixed_number_of_queries(work: Workspace) -> None:
    client = APIClient()
    client.force_login(work.users[Role.OWNER])
    ids = grow(work, "first")

    def counted() -> dict[str, int]:
        found = {}
        for path in QUERIES:
            with CaptureQueriesContext(
                connection,
            ) as queries:
                assert client.get(f"/api/v1/{path.format(**ids)}").status_code == 200
            found[path] = len(queries)
        return found

    assert counted() == QUERIES
    for number in range(3):
        grow(work, f"more-{number}")
    assert counted() == QUERIES


def test_every_list_of_the_api_is_counted() -> None:
    from planner.api import urls

    lists = {p.pattern._route for p in urls.router.urls if p.name.endswith("-list")}
    kinds = {"slug:team": "alpha", "uuid:webhook": "{webhook}", "uuid:project": "{project}"}
    for converter, value in kinds.items():
        lists = {route.replace(f"<{converter}>", value) for route in lists}
    assert lists == set(QUERIES)
