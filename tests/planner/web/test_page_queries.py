"""A page costs the same number of queries however much it lists."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from planner.models import Project, Role, WebhookEndpoint
from tests.planner.growing_team import grow, grow_refreshes, grow_within
from tests.planner.workspace import Workspace, market

pytestmark = pytest.mark.django_db
PAGES = (
    "/team/alpha/",
    "/team/alpha/portfolio/",
    "/team/alpha/projects/{project}/",
    "/team/alpha/settings/members/",
    "/team/alpha/settings/servers/",
    "/team/alpha/settings/tokens/",
    "/team/alpha/settings/webhooks/",
    "/team/alpha/settings/webhooks/{webhook}/",
    "/team/alpha/settings/audit/",
    "/account/",
    "/operator/",
    "/market/changes/",
)


@pytest.fixture
def work() -> Workspace:
    market()
    return Workspace("alpha")


def test_a_page_costs_a_fixed_number_of_queries(work: Workspace) -> None:
    operator = work.users[Role.OWNER]
    operator.is_staff = True
    operator.save()
    browser = Client()
    browser.force_login(operator)
    ids = grow(work, "first")
    grow_refreshes("first")
    project = Project.objects.get(pk=ids["project"])
    hook = WebhookEndpoint.objects.get(pk=ids["webhook"])

    def counted() -> dict[str, int]:
        counts = {}
        for path in PAGES:
            with CaptureQueriesContext(connection) as queries:
                assert browser.get(path.format(**ids)).status_code == 200, path
            counts[path] = len(queries)
        return counts

    counted()  # What a process reads once is read.
    few = counted()
    for number in range(3):
        grow(work, f"more-{number}")
        grow_within(work, project, hook, f"further-{number}")
        grow_refreshes(f"more-{number}")
    assert counted() == few
