"""What an answer says of commitments depends on what its catalog knows of them."""

from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from pricing.bundled.catalog import bundled_catalog
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer


@pytest.mark.parametrize(("limits", "is_said"), [({}, False), ({"total_budget": 1}, True)])
def test_prices_that_nobody_rents_at_are_counted_only_without_a_plan(
    limits: dict[str, Any], is_said: bool
) -> None:
    fields = {"constraints": limits, "on_prem": {"servers": []}}
    found = compared(bundled_catalog(), **fields)
    assert (found.recommendation.scenario is None) is is_said
    assert any("are not offered: retired machines" in one for one in found.warnings) is is_said


def test_coverage_is_of_what_the_request_may_use() -> None:
    limits = {"regions": ["us-east-1"], "purchase_options": ["on_demand", "reserved"]}
    rows = compared(constraints=limits).answer.coverage
    found = {(row.provider, row.purchase_option): (row.state, row.count) for row in rows}
    assert found["aws", "on_demand"] == ("priced", 2)
    assert found["aws", "reserved"] == ("priced", 3)
    assert found["azure", "reserved"] == ("sold_price_unknown", 0)


def test_what_is_sold_elsewhere_is_not_called_unknown() -> None:
    """Its price of another region stands in the same answer."""
    other = offer("1", count=1, region="eu-west-1", accelerator="nvidia-l4", instance_type="g6")
    asked = {"constraints": {"regions": ["eu-west-1"]}, "on_prem": {"servers": []}}
    told = compared(catalog(offer("50"), other), **asked)
    why_not = told.scenarios[ScenarioKey.ON_DEMAND].why_not
    words = "AWS sells machines on demand for p5 elsewhere; the catalog has none in the places"
    assert f"{words} allowed." in why_not
    assert not any("is not known" in text for text in why_not)
    prices = catalog(offer("50", region="eu-west-1"), offer("40", "savings_plan", term_months=12))
    verdict = compared(prices, 5840, **asked).answer.verdict
    assert verdict
    assert "AWS sells savings plans for p5 elsewhere;" in " ".join(verdict.unknown_prices)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"horizon_months": 24}, "AWS sells savings plans and Capacity Blocks for p5;"),
        ({"horizon_months": 6}, "AWS sells Capacity Blocks for p5;"),  # no term fits
        ({"horizon_months": 6, "term_end": "full"}, "AWS sells savings plans and Capacity"),
        ({"horizon_months": 1, "hours": 8}, ""),  # nobody commits for a day's work
    ],
)
def test_it_names_what_a_plan_of_such_a_length_could_take(
    fields: dict[str, Any], words: str
) -> None:
    asked = {"hours": 5840, "on_prem": {"servers": []}} | fields
    told = compared(catalog(offer("50")), **asked).answer.verdict
    assert told
    assert bool(told.unknown_prices) == bool(words)
    assert "".join(told.unknown_prices[:1]).startswith(words)
