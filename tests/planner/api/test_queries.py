"""A list costs the same number of queries however long it is."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from planner.models import Role
from tests.planner.growing_team import grow
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db
# Session and user: 2. Roles: 1. The team of the address: 1. The rows: 1.
FLAT, NESTED = 4, 5
QUERIES = {
    "teams/": FLAT,
    "projects/": FLAT,
    "saved-comparisons/": FLAT + 1,  # The revisions in force, for the stale mark.
    "saved-portfolios/": FLAT,
    # Jobs whose process is gone, jobs that waited a day for nobody, sweeps that are done.
    "jobs/": FLAT + 3,
    "alerts/": FLAT,
    "teams/alpha/servers/": NESTED,
    "teams/alpha/audit-log/": NESTED,
    "teams/alpha/webhooks/": NESTED,
    "projects/{project}/actuals/": NESTED,
}


def test_every_list_costs_a_fixed_number_of_queries(work: Workspace) -> None:
    client = APIClient()
    client.force_login(work.users[Role.OWNER])
    ids = grow(work, "first")

    def counted() -> dict[str, int]:
        found = {}
        for path in QUERIES:
            with CaptureQueriesContext(connection) as queries:
                assert client.get(f"/api/v1/{path.format(**ids)}").status_code == 200
            found[path] = len(queries)
        return found

    assert counted() == QUERIES
    for number in range(3):
        grow(work, f"more-{number}")
    assert counted() == QUERIES


def test_every_list_of_the_api_is_counted() -> None:
    from planner.api import urls

    routes = [p for p in urls.router.urls if "list" in p.callback.actions.values()]
    lists = {p.pattern._route for p in routes}
    kinds = {"slug:team": "alpha", "uuid:webhook": "{webhook}", "uuid:project": "{project}"}
    for converter, value in kinds.items():
        lists = {route.replace(f"<{converter}>", value) for route in lists}
    assert lists == set(QUERIES)
