"""What stands beside a plan: credits, the life that a use is meant over, days and dates."""

from __future__ import annotations

import re
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import Verdict
from planner.web.answer.figure_rows import figure_rows
from pricing.bundled.catalog import bundled_catalog
from tests.planner.comparison.compared import compared
from tests.planner.costing.advice.test_decision import OWNING
from tests.planner.costing.market_of import CATALOG, catalog, offer

BUYING: dict[str, Any] = {"hours": 11_000, "horizon_months": 24, "on_prem": OWNING}


def _told(**fields: Any) -> Verdict:
    told = compared(**fields).answer.verdict
    assert told is not None
    return told


@pytest.mark.parametrize(
    ("amount", "words"), [(10_000, ", net of 10,000 USD of credits."), (50, "")]
)
def test_credits_that_count_stand_in_the_verdict(amount: int, words: str) -> None:
    credit = {"label": "Grant", "amount": amount, "provider": "aws", "expires": "2027-06"}
    existing = {"credits": [credit]}
    told = _told(hours=400, horizon_months=12, existing=existing, on_prem={"servers": []})
    assert ("of credits" in told.sentence) == bool(words)
    assert words in told.sentence


def test_the_use_from_which_servers_pay_is_of_their_whole_life() -> None:
    reasons = " ".join(_told(prices=catalog(offer("55.04")), **BUYING).reasons)
    words = r"; over their useful life they cost less than p5\.48xlarge \(.+ from \d+% use on\."
    assert re.search(words, reasons)


def test_what_is_bought_later_is_not_called_due_now() -> None:
    answer = compared(CATALOG, **BUYING).answer
    told = answer.verdict
    assert told is not None
    assert not {row.title: row.note for row in figure_rows(answer)}["Capital to approve now"]
    later = [one.model_copy(update={"starts": "2027-08"}) for one in told.decision]
    moved = answer.model_copy(update={"verdict": told.model_copy(update={"decision": later})})
    notes = {row.title: row.note for row in figure_rows(moved)}
    assert notes["Capital to approve now"] == "due in August 2027"


def test_servers_in_place_are_not_rented_at_a_price_without_date() -> None:
    answer = compared(CATALOG, **BUYING).answer
    told = answer.verdict
    assert told is not None
    bought = next(one for one in told.decision if one.action == "buy")
    kept = bought.model_copy(update={"action": "keep"})
    changed = told.model_copy(update={"decision": (bought, kept), "oldest_price": None})
    rows = figure_rows(answer.model_copy(update={"verdict": changed}))
    assert {row.title: row.words for row in rows}["Oldest rental price paid"] == "nothing is rented"


def test_notes_of_the_sizing_are_sentences() -> None:
    """They had begun in lower case and ended without a full stop beside sentences that do not."""
    work = {"kind": "training", "parameters": 7e9, "tokens": 2e10}
    found = compared(bundled_catalog(), workload=work, horizon_months=6, on_prem={"servers": []})
    plan = found.scenarios[ScenarioKey.HYBRID]
    kinds = {found.inputs.by_key[key].accelerator for key in plan.used_hours}
    notes = found.demand.warnings_on(kinds)
    assert any(not note.endswith(".") for note in notes)
    told = found.answer.warnings
    assert all(one.endswith(".") and not one[0].islower() for one in told)
