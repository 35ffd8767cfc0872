"""Which prices are known, on the market page and in an answer."""

from __future__ import annotations

from django.utils.html import strip_tags

from planner.web.common.formatting import arrange_coverage, describe_state
from pricing.market.coverage import CoverageRow, PriceState
from tests.planner.costing.market_of import H100
from tests.planner.web.asking import HOURS, get, text


def test_market_and_answer_show_which_prices_are_known(client, prices):
    everything = text(get(client, "market"))
    assert "Which prices are known" not in everything
    searched = " ".join(strip_tags(text(get(client, "market", {"accelerator": H100}))).split())
    answered = " ".join(strip_tags(text(get(client, "plan", HOURS))).split())
    for page in (searched, answered):
        assert "Which prices are known" in page
        assert "sold, price not known" in page


def test_terms_of_a_cloud_that_no_source_speaks_of_are_not_called_not_sold():
    rows = [
        CoverageRow(H100, "denvr", "on_demand", PriceState.PRICED, count=1),
        CoverageRow(H100, "aws", "reserved", PriceState.PRICED, count=2),
        CoverageRow(H100, "azure", "low_priority", PriceState.PRICED, count=2),
    ]
    table = arrange_coverage(rows)
    said = {
        row.provider: dict(zip(table.columns, map(describe_state, row.cells), strict=True))
        for row in table.rows
    }
    assert said["Denvr"]["Reserved"] == said["Denvr"]["Low priority"] == "not known"
    assert said["AWS"]["Low priority"] == "not sold"
