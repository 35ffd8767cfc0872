"""The hardware page: a few accelerators at first, others by filter or on request."""

from __future__ import annotations

import pytest

from planner.web.market.hardware_list import ROWS
from planner.web.market.lowest_prices import POPULAR
from tests.planner.costing.market_of import H100
from tests.planner.web.asking import get, text


def slugs(page):
    return [row.accelerator.slug for _, rows in page.context["listed"].groups for row in rows]


def test_the_first_look_shows_what_teams_train_on_most(client, prices):
    page = get(client, "hardware")
    assert set(slugs(page)) == set(POPULAR)
    assert all(one.on_sale for one in page.context["listed"].servers)
    told = f"The {len(POPULAR)} accelerators that teams train on most, of {page.context['every']}"
    assert told in text(page)


def test_others_come_so_many_at_a_time_from_where_the_last_ended(client, prices):
    first = get(client, "hardware", {"rows": str(ROWS)})
    assert len(slugs(first)) == ROWS
    more = get(client, "hardware", {"rows": str(first.context["listed"].rows_with_more)})
    assert slugs(more)[: ROWS + 1] == [*slugs(first), first.context["listed"].next_slug]
    assert f"#{first.context['listed'].next_slug}" in text(first)
    every = get(client, "hardware", {"rows": "500"})
    assert len(slugs(every)) == every.context["every"]
    assert every.context["listed"].next_slug == ""
    assert "Show more" not in text(every)


@pytest.mark.parametrize(
    ("asked", "takes"),
    [
        ({"name": "h100"}, lambda row: "H100" in row.accelerator.name),
        ({"min_memory_gib": "100"}, lambda row: row.accelerator.memory_gib >= 100),
        ({"use": "tpu"}, lambda row: row.accelerator.accelerator_class == "tpu"),
        ({"prices": "known"}, lambda row: row.providers),
    ],
)
def test_each_filter_leaves_what_it_names(client, prices, asked, takes):
    every = get(client, "hardware", {"rows": "500"}).context["listed"].groups
    expected = [row.accelerator.slug for _, rows in every for row in rows if takes(row)]
    assert 0 < len(expected) < 103
    assert slugs(get(client, "hardware", {**asked, "rows": "500"})) == expected


def test_what_is_ticked_stays_whatever_else_is_asked_for(client, prices):
    page = get(client, "hardware", {"compare": H100, "use": "tpu"})
    assert H100 in slugs(page)
    assert [row.accelerator.slug for row in page.context["compared"]] == [H100]


def test_servers_are_found_by_name_and_by_their_accelerators(client, prices):
    by_name = get(client, "hardware", {"name": "DGX Spark"}).context["listed"].servers
    assert [one.slug for one in by_name] == ["dgx-spark"]
    by_card = get(client, "hardware", {"name": "H100 SXM5"}).context["listed"].servers
    assert {one.accelerator for one in by_card} == {H100}


@pytest.mark.parametrize(
    "asked",
    [{"min_memory_gib": "much"}, {"use": "toaster"}, {"prices": "cheap"}, {"rows": "0"}],
)
def test_what_a_box_does_not_take_is_said(client, prices, asked):
    page = get(client, "hardware", asked)
    assert page.status_code == 400
    assert "is not" in text(page)


def test_nothing_that_matches_is_said(client, prices):
    assert "No accelerator matches" in text(get(client, "hardware", {"name": "abacus"}))
