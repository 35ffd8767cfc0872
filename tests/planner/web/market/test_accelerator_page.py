"""One accelerator: the cheapest of each provider in each way of paying."""

from django.urls import reverse

from planner.web.market.accelerator import WAYS, list_providers
from pricing import catalog
from pricing.market.accelerators import get
from tests.planner.costing.market_of import CATALOG, H100


def page_of(client, slug=H100):
    return client.get(reverse("market-accelerator", args=[slug]))


def test_each_cell_is_the_cheapest_of_its_provider_and_way(client, prices):
    known = catalog.current().offers
    rows = list_providers(get(H100), catalog.current())
    assert rows
    for row in rows:
        for cell, way in zip(row.cells, WAYS, strict=True):
            fitting = [
                float(known.usd_per_accelerator_hour[index])
                for index, one in enumerate(known.offers)
                if one.accelerator == H100
                and one.sold_now
                and row.address.endswith(f"provider={one.provider}")
                and one.purchase_option.value in way.options
                and one.term_months == way.term_months
            ]
            assert cell.usd_per_accelerator_hour == (min(fitting) if fitting else None)


def test_terms_of_one_and_of_three_years_stand_below_their_titles():
    assert [(way.title, way.term_months) for way in WAYS[2:]] == [
        ("One year", 12),
        ("Three years", 36),
    ]
    aws = next(row for row in list_providers(get(H100), CATALOG) if row.title == "AWS")
    terms = [cell.offer.term_months for cell in aws.cells[2:]]
    prices = [round(cell.usd_per_accelerator_hour, 4) for cell in aws.cells[2:]]
    assert (terms, prices) == ([12, 36], [4.25, round(600_000 / (36 * 730 * 8), 4)])


def test_a_name_that_is_none_is_not_found(client, prices):
    assert page_of(client, "no-such-card").status_code == 404
