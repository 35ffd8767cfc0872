"""Questions as teams ask them, through the library: no answer breaks what a practitioner asks.

`questions.json` holds the examples of the pages and ten questions each in the words of a team
lead, a finance analyst, an ML engineer and a purchasing officer, and more of teams of other kinds
and countries. What every plan must keep to is worked out here from the request and the plan's
parts, not by the rules of the planner.
"""

import json
import os
import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpu_cost_planner import compare
from planner.contract.accelerator_names import find_software
from planner.contract.amounts import format_money
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.tables import leave_out
from planner.contract.answer.verdict import DecisionPart
from planner.costing.choice import round_to_error
from pricing.bundled import catalog
from pricing.market.clouds import find_partition
from pricing.market.offers import PurchaseOption

QUESTIONS = json.loads(Path(__file__).with_name("questions.json").read_text(encoding="utf-8"))
IS_LONG = os.environ.get("FUZZ") == "1"
ASKED = QUESTIONS if IS_LONG else QUESTIONS[4::7]
LARGEST_NODE, WORD = 8, 45
INTERRUPTIBLE = {"spot", "low_priority", "dws_flex_start"}
NO_PLAN = {"Train a 7B model twice next year in the EU for 300,000.": "It takes a total budget of"}
"""Questions that no plan answers, and what is said of it."""
SHARE = 0.05
"""Of what it binds to, that a purchase saves at least."""


def job_size(request: dict[str, Any], answer: ComparisonAnswer, accelerator: str) -> float:
    """Accelerators of one job: what the request says, or the sizing found for a kind."""
    stated = request["workload"].get("accelerators_per_job")
    sized = {one.accelerator: one.min_accelerators for one in answer.demand.candidates}
    joined = 1
    if request.get("constraints", {}).get("interconnect"):
        hours = request["workload"].get("hours_per_month", 0)
        joined = min(LARGEST_NODE, round(hours / 730))
    return max(stated or 1, sized.get(accelerator) or 1, joined)


def check_part(part: DecisionPart, request: dict[str, Any], answer: ComparisonAnswer) -> None:
    """One thing to do, against what was asked."""
    months = request["horizon_months"]
    limits, workload = request.get("constraints", {}), request["workload"]
    if part.action in ("commit", "reserve"):
        assert (part.term_months or 0) <= months, part.sentence
    if part.provider in ("aws", "azure"):
        assert find_partition(part.provider, part.region) == "commercial", part.sentence
    consents = workload.get("interruptible") or limits.get("max_spot_share")
    assert consents or part.purchase_option not in INTERRUPTIBLE, part.sentence
    for field, value in (("providers", part.provider), ("regions", part.region)):
        assert not part.provider or value in limits.get(field, [value]), part.sentence
    offer = answer.offers.get(part.source)
    if offer is None:  # a server
        assert workload.get("software", "cuda") == "cuda", part.sentence
        return
    named = workload.get("accelerator")
    asked_for = workload.get("software") or (find_software(named) if named else "cuda")
    assert find_software(offer.accelerator) == asked_for, part.sentence
    per_machine = (part.accelerators or 0) / (part.units or 1)
    size = job_size(request, answer, offer.accelerator)
    in_rack = offer.accelerator == "nvidia-gb200"  # 18 trays of 4 are one NVLink domain
    assert per_machine >= min(size, LARGEST_NODE) or in_rack, part.sentence
    if part.action == "commit" and not offer.source.startswith("request"):
        assert (offer.provider, offer.region, offer.instance_type) in sold_on_demand()


@cache
def sold_on_demand() -> frozenset[tuple[str, str, str]]:
    """Provider, region and machine of every offer that nobody has to sign for."""
    return frozenset(
        (offer.provider, offer.region, offer.instance_type)
        for offer in catalog.read_offers()
        if offer.purchase_option is PurchaseOption.ON_DEMAND
    )


def check_purchase(answer: ComparisonAnswer) -> None:
    """Nothing shown that may be advised is expected to cost less; what is bought is expected to
    save a twentieth of its price against the best plan that buys nothing."""
    assert answer.risk is not None
    expected = {one.key: answer.risk.range_of(one.key) for one in answer.scenarios if one.allowed}
    means = {key: float(row.mean) for key, row in expected.items() if row is not None}
    advised = means[answer.recommendation.scenario]
    assert advised <= min(means.values()) * (1 + 1e-9)
    plan = answer.by_key[str(answer.recommendation.scenario)]
    price = float(plan.cost_by_category.get("capex", 0))
    rents = [
        means[one.key]
        for one in answer.scenarios
        if one.key in means and not {"capex", "lease"} & set(one.cost_by_category)
    ]
    if price and rents:
        assert advised + SHARE * price <= min(rents) + 1.0, answer.verdict.sentence


def check_words(answer: ComparisonAnswer) -> None:
    """The first sentence holds what all four readers look for."""
    verdict = answer.verdict
    assert verdict.expected is not None
    shown = round_to_error(float(verdict.expected), float(verdict.standard_error))
    words = {format_money(shown, answer.currency), f"{shown:,.0f} {answer.currency}"}
    assert any(f"Expect {amount}" in verdict.sentence for amount in words)
    allowance = sum(verdict.risk_allowance.values())
    assert verdict.total + allowance == verdict.expected
    said = re.sub(r"The chance to miss .*? make it 10%\. ", "", verdict.sentence)
    said = said.partition(" is sold only in machines of ")[0]
    assert len(said.split()) <= (65 if len(verdict.decision) > 1 else 45), said
    assert "  " not in verdict.sentence
    assert len(verdict.reasons) <= 3
    for text in (*verdict.reasons, *(one.why for one in answer.cheaper_if)):
        assert text.endswith(".")
        assert not re.search(r"[a-z]_[a-z]", text), text
    plan = answer.by_key[str(answer.recommendation.scenario)]
    assert sum(line.amount for line in plan.lines) == verdict.total
    if {part.action for part in verdict.decision} == {"reserve"}:
        assert verdict.range.p10 >= verdict.total * Decimal("0.9")  # it is signed
    if verdict.decision:
        assert max(part.share_of_hours for part in verdict.decision) > 0.0


@pytest.mark.one_in(3)
@pytest.mark.fuzz
@pytest.mark.parametrize("question", ASKED, ids=lambda one: one["words"][:WORD])
def test_a_practitioner_would_sign(question: dict[str, Any]) -> None:
    request = question["request"]
    answer = compare(request).answer
    if question["words"] in NO_PLAN:
        assert answer.recommendation.scenario is None
        assert NO_PLAN[question["words"]] in answer.verdict.sentence
        return
    assert answer.recommendation.scenario is not None, answer.verdict.sentence
    for part in answer.verdict.decision:
        check_part(part, request, answer)
    check_purchase(answer)
    check_words(answer)
    by_default = answer.model_dump_json(exclude=leave_out(type(answer), ()))
    assert len(by_default) <= 10_000


def test_each_reader_asks_ten() -> None:
    readers = [one["reader"] for one in QUESTIONS]
    people = ("team lead", "finance analyst", "ML engineer", "purchasing officer")
    assert all(readers.count(reader) == 10 for reader in people)
    assert (readers.count("worked example"), readers.count("README")) == (5, 1)
    assert len({one["words"] for one in QUESTIONS}) == len(QUESTIONS)
    assert {one["words"] for one in QUESTIONS} > set(NO_PLAN)
