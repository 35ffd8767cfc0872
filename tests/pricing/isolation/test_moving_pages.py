"""Rows that move from page to page while a list is read: none is lost in silence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pricing.ingest.provider import NotRead
from pricing.providers.azure import provider as azure
from tests.pricing.isolation.after_publication import kept_after
from tests.pricing.providers import azure_tools
from tests.pricing.servers import azure_truth
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.base import Reply, Request

DECOY = next(row for name, row in azure_truth.OTHERS if name == "windows")


class MovingAzure(AzureServer):
    """Before each of `moves` pages after the first a row goes from the front, or comes to it."""

    def __init__(self, moves: int, page_size: int, *, away: bool) -> None:
        decoys = [dict(DECOY, skuId=f"DECOY/{n:04}") for n in range(moves)]
        super().__init__([*(decoys if away else ()), *azure_truth.price_rows()], page_size)
        self.moves, self.away = moves, away

    def answer(self, request: Request) -> Reply:
        if "$skip" in request.query and self.moves:
            self.moves -= 1
            self.rows = (
                self.rows[1:]
                if self.away
                else [dict(DECOY, skuId=f"NEW/{self.moves:04}"), *self.rows]
            )
        return super().answer(request)


def fetched(server: AzureServer) -> Iterator[object]:
    return iter(azure.fetch(azure_tools.context(server.settings)))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("away", [True, False])
@pytest.mark.parametrize("moves", [1, 5])
def test_rows_that_move_for_a_while_cost_nothing(moves: int, away: bool) -> None:
    with MovingAzure(moves, page_size=9, away=away) as server:
        kept, told = kept_after(fetched(server), azure_truth.truth(), azure_tools.bare)
    assert server.moves == 0
    assert (kept, told) == (set(), [])


@pytest.mark.parametrize("away", [True, False])
def test_a_region_whose_rows_go_on_moving_is_left_and_named(away: bool) -> None:
    with MovingAzure(400, page_size=9, away=away) as server:
        kept, told = kept_after(fetched(server), azure_truth.truth(), azure_tools.bare)
    assert kept
    assert {key.split(":")[1] for key in kept} == {"westeurope"}
    assert [part.regions for part in told] == [("westeurope",)]
    assert "changed each of the 3 times" in told[0].reason


def test_a_region_that_comes_half_is_left_and_named() -> None:
    class Halving(AzureServer):
        def answer(self, request: Request) -> Reply:
            everything = self.rows
            if "armRegionName eq 'westeurope'" in request.query.get("$filter", [""])[0]:
                self.rows = everything[::2]
            try:
                return super().answer(request)
            finally:
                self.rows = everything

    with Halving() as server:
        kept, told = kept_after(fetched(server), azure_truth.truth(), azure_tools.bare)
    assert {key.split(":")[1] for key in kept} == {"westeurope"}
    assert "rows came of the" in told[0].reason


def test_where_the_whole_list_fails_the_known_regions_are_read() -> None:
    class Endless(AzureServer):
        def answer(self, request: Request) -> Reply:
            wanted = request.query.get("$filter", [""])[0]
            if "armRegionName" not in wanted and "$skip" in request.query:
                return Reply(b"", 403)
            return super().answer(request)

    with Endless() as server:
        rows = list(azure.fetch(azure_tools.context(server.settings)))
    kept, told = kept_after(rows, azure_truth.truth(), azure_tools.bare)
    assert (kept, told) == (set(), [])
    (part,) = (row for row in rows if isinstance(row, NotRead))
    assert "the list of all regions" in part.reason
