"""Shares of a plan's hours are the same and add up wherever an answer tells them."""

from __future__ import annotations

import re

import pytest

from planner.comparison_steps.verdict_words import VerdictWords
from planner.contract.answer.common import ScenarioKey
from planner.costing.advice.shares import split_rent
from planner.web.answer.verdict_facts import decision_parts
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

SERVER = {"server": "hgx-h100-8", "unit_price": 200_000}


@pytest.fixture(scope="module")
def found() -> Compared:
    """Eight at work for 24 months, on a server from the tenth on: 37.5 % are rented, which alone
    would be told as 38 %, beside 62 % or, with noise, 63 %."""
    on_prem = {"servers": [SERVER], "lead_time_months": 9}
    return compared(catalog(offer("50")), 5840, horizon_months=24, on_prem=on_prem)


def test_bought_and_rented_hours_add_up_in_every_sentence(found: Compared) -> None:
    bought, rented, *_ = found.recommendation.because
    assert bought.endswith(" It serves 63% of the hours.")
    assert rented == "Rent p5.48xlarge in us-east-1, on demand, for 37% of the hours."
    verdict = found.answer.verdict
    assert verdict is not None
    assert "to September 2027 for 37% of the hours. " in verdict.sentence
    until = "37% of the hours are rented until the servers go live in October 2027."
    assert until in verdict.reasons


def test_only_what_is_rented_counts_as_rented_until_servers_serve() -> None:
    """A server in place does half of the work in the three months until one that is bought serves,
    and is retired half a year before the end: 3 and 6 months of 36 with 4,000 of 8,000 h."""
    on_prem = {
        "servers": [{**SERVER, "max_units": 1}],
        "already_owned": [{"server": "hgx-h100-8", "bought": "2024-07"}],
        "useful_life_months": 60,
        "lead_time_months": 3,
        "count_on_resale": True,
    }
    workload = {
        "kind": "accelerator_hours",
        "accelerator": "H100",
        "hours_per_month": 8000,
        "peak_accelerators": 16,
    }
    results = compared(
        catalog(offer("60")), 8000, horizon_months=36, on_prem=on_prem, workload=workload
    )
    verdict = results.answer.verdict
    assert verdict is not None
    assert any(
        reason.startswith("4% of the hours are rented until the servers go live in April 2027, 8%")
        for reason in verdict.reasons
    ), verdict.reasons


def test_the_page_tells_the_shares_of_the_sentences(found: Compared) -> None:
    shown = {one.part.action: one.share for one in decision_parts(found.answer)}
    assert shown == {"buy": "63%", "rent": "37%"}


def test_rent_is_split_into_what_the_decision_tells_of_it() -> None:
    """Two offers of 15.3 % are told as 15 % each and stand for 30.6 %, not for 31 %."""
    shares = {"server": 0.694, "one": 0.153, "other": 0.153}
    for before in (0.0, 0.1, 0.153, 0.2, 0.306):
        told = split_rent(shares, ["one", "other"], before)
        assert sum(int(re.sub(r"\D", "", part)) for part in told) == 30, told


def test_rivals_for_the_cheapest_plan_are_rounded_together(found: Compared) -> None:
    """50.5 and 49.5 % would be 50 and 50 %, or 51 and 50 %, each by itself."""
    verdict = found.answer.verdict
    advised = found.recommendation.scenario
    assert verdict is not None
    assert advised is not None
    facts = verdict.model_copy(update={"confidence": 0.495})
    words = VerdictWords(found, found.scenarios[advised], facts)
    told = words.contested((ScenarioKey.ON_DEMAND, 0.505))
    assert "in 51% of the simulated cases, this plan in 49%" in told
