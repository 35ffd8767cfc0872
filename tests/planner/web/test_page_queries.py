"""A page costs the same number of queries however much it lists."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from planner.models import Project, Role, WebhookEndpoint
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish
from tests.planner.costing.market_of import H100, offer
from tests.planner.growing_team import grow, grow_refreshes, grow_within
from tests.planner.workspace import SEEN, Workspace

pytestmark = pytest.mark.django_db
PAGES = (
    "/team/alpha/",
    "/team/alpha/portfolio/",
    "/team/alpha/projects/{project}/",
    "/team/alpha/prices/",
    "/team/alpha/settings/",
    "/account/",
    "/operator/",
    "/market/changes/",
)


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
    grow(work, "more")
    grow_within(work, project, hook, "further")
    grow_refreshes("more")
    assert counted() == few


MARKET_PAGES = (
    "/",
    "/market/",
    f"/market/accelerator/{H100}/",
    "/plan/accelerators/?workload.kind=training&workload.parameters~bn=7&workload.tokens~bn=20",
)


def test_a_page_of_the_market_costs_the_same_however_much_is_sold(client: Client) -> None:
    def publish_rows(*accelerators: str) -> None:
        rows = (
            offer(price, option, accelerator=name, instance_type=name, provider=provider)
            for name in accelerators
            for price, option in (("55.04", "on_demand"), ("22.00", "spot"))
        )
        batch = OfferBatch(provider, tuple(rows), as_of=SEEN)
        assert publish(batch, force=True, today=SEEN).outcome == "published"

    def counted() -> dict[str, int]:
        counts = {}
        client.get("/")  # The catalog is read once for all pages.
        for path in MARKET_PAGES:
            with CaptureQueriesContext(connection) as queries:
                assert client.get(path).status_code == 200, path
            counts[path] = len(queries)
        return counts

    provider = "aws"
    publish_rows(H100)
    few = counted()
    publish_rows(H100, "nvidia-a100-80gb-sxm", "nvidia-l4", "nvidia-l40s", "nvidia-h200-141gb-sxm")
    provider = "gcp"
    publish_rows(H100, "nvidia-a100-80gb-sxm")
    assert counted() == few
