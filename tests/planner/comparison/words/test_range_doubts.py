"""What the range of a total leaves out, and that it does not hold, is said beside it."""

import re
from typing import Any

import pytest

from planner.contract.figures import verdict_facts
from planner.contract.labels import comes_first
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

HUGE = {"kind": "training", "parameters": 1e13, "tokens": 1e13, "accelerator": "H100"}


def training(*runs: dict[str, Any], months: int = 6, **work: Any) -> Compared:
    plain = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": "H100"}
    workload = plain | ({"runs": list(runs)} if runs else {}) | work
    fields = {"horizon_months": months, "on_prem": {"servers": []}, "risk": {"samples": 1000}}
    fields["choice"] = {"certainty": 0.5}
    return compared(catalog(offer("50")), workload=workload, **fields)


def late_words(found: Compared) -> list[str]:
    return [words for words in found.answer.warnings if "simulated outcomes the work" in words]


def test_a_deadline_that_may_be_missed_is_told_with_its_chance_and_what_helps() -> None:
    found = training({"start": "2027-01", "deadline": "2027-01"})
    (words,) = late_words(found)
    assert comes_first(words)
    factors = found.simulation.hours_factors if found.simulation else None
    assert factors is not None
    late = float((factors * found.inputs.hours[0] > 8 * 730).mean())
    assert 0.1 < late < 0.3
    assert words.startswith(f"In {late:.0%} of the simulated outcomes the work is not done by its")
    assert "the end of January 2027" in words
    assert found.answer.verdict
    assert found.answer.verdict.range
    assert f"in {late:.0%} of the simulated cases" in found.answer.verdict.range.note
    assert ("Of this range", found.answer.verdict.range.note, "") in verdict_facts(found.answer)


def test_the_accelerators_that_would_do_would_do() -> None:
    (words,) = late_words(training({"start": "2027-01", "deadline": "2027-01"}))
    more = re.search(r"least (\d+)% more accelerators", words)
    assert more
    found = training({"start": "2027-01", "deadline": "2027-01"})
    assert found.simulation is not None
    assert found.simulation.hours_factors is not None
    hours = found.simulation.hours_factors * found.inputs.hours[0]
    assert (hours <= 8 * 730 * (1 + int(more[1]) / 100)).mean() >= 0.9


@pytest.fixture(scope="module")
def huge() -> Compared:
    return training(months=24, **HUGE)


def test_a_range_that_does_not_hold_is_marked_wherever_it_stands(huge: Compared) -> None:
    answer = huge.answer
    assert answer.verdict
    assert answer.verdict.range
    assert answer.risk
    assert not (answer.verdict.range.holds)
    assert not (answer.risk.holds)
    assert not (answer.demand.range.holds)
    assert "comes from published runs and does not hold here" in answer.verdict.sentence
    assert "8 of 10" not in answer.verdict.sentence
    facts = {title: value for title, value, _ in verdict_facts(answer)}
    assert "Range that does not hold, from" in facts
    assert str(facts["Of this range"]).startswith("does not hold here")
