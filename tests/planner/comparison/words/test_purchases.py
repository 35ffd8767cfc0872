"""What is said of what a plan signs and buys: shares left to others, lowest quotes, leases."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.comparison import ComparisonAnswer
from planner.web.answer.verdict import figure_rows
from pricing.market.snapshot import Catalog
from tests.golden.answers import answered
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

YEAR = catalog(offer("50"), offer("15", "reserved", term_months=12, upfront=Decimal(60_000)))
BOX = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
       "unit_price": 200_000, "running_cost_per_hour": 1}  # fmt: skip
LEASE = {"method": "lease", "months": 36, "interest_rate_per_year": 0.1}
NOTHING_OWNED: dict[str, Any] = {"servers": []}


def answer(prices: Catalog = YEAR, **fields: Any) -> ComparisonAnswer:
    return compared(prices, hours=8 * 730, **fields).answer


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("fields", "months"),
    [
        ({"horizon_months": 20, "on_prem": NOTHING_OWNED}, 4),
        ({"horizon_months": 24,
          "on_prem": {"servers": [BOX], "financing": LEASE, "lead_time_months": 0}}, 12),
        ({"horizon_months": 24,
          "on_prem": {"servers": [BOX], "financing": LEASE, "lead_time_months": 2}}, 14),
    ],
)  # fmt: skip
def test_what_is_left_to_others_is_the_first_warning(fields: dict[str, Any], months: int) -> None:
    """Named with the amount that the plan costs more where all of it counts."""
    part, full = (answer(term_end=end, **fields) for end in ("prorate", "full"))
    key = "on_prem" if "financing" in fields["on_prem"] else "committed"
    extra = full.by_key[key].require_total() - part.by_key[key].require_total()
    first = part.warnings[0]
    assert f"uses the remaining {months} months and pays {extra:,.0f} USD" in first
    assert part.verdict is not None
    assert f"{extra:,.0f} USD more is owed after " in part.verdict.sentence
    assert "othing is owed afterwards" not in part.verdict.sentence
    notes = {row.title: row.note for row in figure_rows(part)}
    assert notes["Contracts to sign now"] == "what they cost after the plan is not counted"
    assert notes["Owed afterwards"] == "of what is counted; contracts go on"
    assert not any("somebody else" in one for one in full.warnings)


def test_a_server_that_counts_with_its_lowest_quote_is_said_so() -> None:
    quotes = [{"unit_price": price, "quoted": "2026-10"} for price in (200_000, 250_000)]
    own = {"servers": [{**BOX, "quotes": quotes}], "payback_margin": 0}
    said = [one for one in answer(horizon_months=36, on_prem=own).warnings if "lowest" in one]
    assert said == [
        "Box: 200,000 USD is the lowest price known for it, 250,000 USD the highest of the last "
        "two years; ask for a current quote."
    ]
    own["servers"][0]["unit_price"] = 220_000  # type: ignore[index]
    said = [one for one in answer(horizon_months=36, on_prem=own).warnings if "lowest" in one]
    assert said == []


def test_leased_servers_are_not_said_to_be_bought() -> None:
    own = {"servers": [BOX], "financing": LEASE, "lead_time_months": 0}
    told = answer(horizon_months=36, on_prem=own).verdict
    assert told is not None
    assert "lease" in told.headline.lower()
    assert told.reasons[0].startswith("The servers leased are in use for 100%")


def test_plans_of_one_total_differ_in_present_value_alone() -> None:
    """A minimum spend that both leave a shortfall of costs both the same, later or sooner."""
    spend = {"label": "EDP", "provider": "aws", "amount": 3_000_000, "first": "2027-01",
             "last": "2028-12"}  # fmt: skip
    told = answer(existing={"minimum_spend": [spend]}, on_prem=NOTHING_OWNED).verdict
    assert told is not None
    assert told.against is not None
    assert told.against.difference == 0
    later = f"{told.against.difference_in_present_value:,.0f} USD less in present value."
    assert f"; that is as much as {told.against.words}, but {later} " in told.sentence


def test_what_tax_saves_after_the_plan_is_not_called_owed() -> None:
    """36 months paid in full at once, written off over them, in a plan of 30: a sixth of the tax
    on it is saved later."""
    verdict = answered("owed after the horizon").verdict
    assert verdict is not None
    assert verdict.owed_after is not None
    assert verdict.owed_after < 0
    saved = f"{-verdict.owed_after:,.0f} USD"
    assert f" {saved} of tax saved after June 2029 is already deducted." in verdict.sentence
    (row,) = [one for one in figure_rows(answered("owed after the horizon"))
              if one.title == "Owed afterwards"]  # fmt: skip
    assert row.words == "nothing"
    assert row.note.replace("\xa0", " ") == f"{saved} of tax saved later is counted"
