"""Sheets show names that people know; what other systems match stands in columns of ids."""

from __future__ import annotations

import io

import openpyxl

from planner.contract.labels import cloud_title
from planner.exports import Context
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.portfolio.portfolio import plan_portfolio
from pricing.bundled.catalog import bundled_catalog
from tests.planner.exports.answers import answer
from tests.planner.exports.test_tables import REQUEST, sheets
from tests.planner.portfolio.portfolios import H100, TODAY, burst, project


def test_the_request_stands_in_words_beside_its_fields() -> None:
    book = sheets(answer(), context=Context(request=REQUEST))
    rows = [[cell.value for cell in row] for row in book["Request"].iter_rows(min_row=2)]
    provider = next(row for row in rows if row[4] == "price_adjustments.0.provider")
    assert provider[:3] == ["contract discounts", "contract discounts 1: provider", "AWS"]
    assert provider[5] == "aws"
    bought = {"on_prem": {"servers": [{"server": "dgx-h100"}]}}
    book = sheets(answer(), context=Context(request=bought))
    (server,) = book["Request"].iter_rows(min_row=2, max_row=2, values_only=True)
    assert (server[2], server[4:]) == (
        "DGX H100 (8x H100)",
        ("on_prem.servers.0.server", "dgx-h100"),
    )
    kind = next(row for row in rows if row[4] == "workload.kind")
    assert kind[1:3] == ["work: kind", "accelerator hours"]
    counted = answer() | {"inherited": [{"field": "price_adjustments", "source": "2 of the team"}]}
    book = sheets(counted, context=Context(request=REQUEST))
    told = {row[4].value: row[3].value for row in book["Request"].iter_rows(min_row=2)}
    assert told["price_adjustments.0.multiplier"] == "contract discounts: 2 of the team"


def test_the_workbook_of_a_portfolio_shows_names_beside_its_ids() -> None:
    request = {
        "start": "2027-01",
        "horizon_months": 12,
        "projects": [project("speech", burst(12, 2, 6, 96))],
        "what_if": False,
    }
    planned = plan_portfolio(request, bundled_catalog(), today=TODAY)
    book = openpyxl.load_workbook(io.BytesIO(PORTFOLIO_FORMATS["xlsx"].make(planned)))
    head, row = ([cell.value for cell in line] for line in book["Projects"].iter_rows(max_row=2))
    shown = dict(zip(head, row, strict=True))
    assert (shown["accelerator"], shown["accelerator (id)"]) == ("H100 SXM5 80 GB", H100)
    rows = list(book["Lines"].iter_rows(values_only=True))
    lines = [dict(zip(rows[0], line, strict=True)) for line in rows[1:]]
    assert {one["provider"] for one in lines} == {
        cloud_title(one["provider (id)"]) for one in lines
    }
    assert {one["category"] for one in lines if one["category (id)"] == "compute"} == {
        "machines rented"
    }
    head, *uses = book["Uses"].iter_rows(values_only=True)
    used = dict(zip(head, uses[0], strict=True))
    assert used["source"] == "p5.48xlarge at AWS us-east-1, on demand"
    assert used["source (id)"] == "aws:us-east-1:p5.48xlarge:on_demand"
    counted = [cell.value for cell in book["Machines"][1]]
    assert "accelerators" in counted
    assert "accelerators (id)" not in counted
    assert {one["purchase option"] for one in lines} == {"on demand"}
    assert {one["purchase option (id)"] for one in lines} == {"on_demand"}
