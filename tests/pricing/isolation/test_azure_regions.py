"""Where Azure's list of all regions fails, each region is read by itself."""

from __future__ import annotations

from pricing.ingest.provider import NotRead
from pricing.providers.azure import provider as azure
from tests.pricing.isolation.after_publication import kept_after
from tests.pricing.providers import azure_tools, read_rows
from tests.pricing.servers import azure_truth
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import Reply, Request


class WholeListFails(AzureServer):
    """Its list of all regions ends after one page."""

    def answer(self, request: Request) -> Reply:
        wanted = request.query.get("$filter", [""])[0]
        if "armRegionName" not in wanted and "$skip" in request.query:
            return Reply(b"", 403)
        return super().answer(request)


def test_where_the_whole_list_fails_the_known_regions_are_read() -> None:
    with WholeListFails() as server:
        rows = list(azure.fetch(azure_tools.context(server.settings)))
    kept, told = kept_after(rows, azure_truth.truth(), read_rows.bare)
    assert (kept, told) == (set(), [])
    (part,) = (row for row in rows if isinstance(row, NotRead))
    assert "the list of all regions" in part.reason
