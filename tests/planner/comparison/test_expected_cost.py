"""What holds of the advised plan and its expected cost in any request."""

import itertools
import random
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner.contract.answer.common import ScenarioKey
from planner.costing.choice import Candidate, Choice, choose, round_to_error
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import cents
from planner.costing.scenarios import solve_scenario
from pricing.bundled.catalog import bundled_catalog
from tests.planner.comparison.compared import Compared, solved
from tests.planner.comparison.finance.random_requests import random_request
from tests.planner.costing.market_of import H100
from tests.properties import examples

KINDS = ["H100", "A100", "L4", "L40S", "H200", "A10G"]
QUICK = {"sensitivity": False, "cheaper_if": False, "decide_every_months": 0}
IRREVOCABLE = {
    "capex", "install", "network_storage", "spares", "commitment", "upfront", "lease",
}  # fmt: skip


def catalog_request(seed: int) -> dict[str, Any]:
    """Hours of some accelerators at listed prices, within limits of some kinds."""
    draw = random.Random(seed)
    months = draw.choice([3, 6, 12, 24, 36])
    machines = draw.choice([1, 2, 8, 16, 64])
    limits: dict[str, Any] = draw.choice(
        [{}, {}, {"providers": ["aws", "gcp"]}, {"max_spot_share": 0.5}, {"total_budget": 1}]
    )
    share = draw.choice([0.3, 0.8, 1.0])
    request = {
        "start": "2027-01", "horizon_months": months, **QUICK,
        "workload": {"kind": "accelerator_hours", "accelerator": draw.choice(KINDS),
                     "hours_per_month": round(730 * machines * share)},
    }  # fmt: skip
    if "total_budget" in limits:
        limits = {"total_budget": round(730 * machines * months * draw.uniform(1.5, 6))}
    return request | ({"constraints": limits} if limits else {})


def check(found: Compared) -> None:
    """The expected cost, the choice and what the first sentence says."""
    verdict, choice, simulation = found.answer.verdict, found.choice, found.simulation
    if verdict is None or choice is None or simulation is None or verdict.expected is None:
        return
    plan = found.scenarios[found.recommendation.scenario]
    present, total, paid, _ = simulation.cost([one.plan for one in choice.candidates])
    at = choice.find(plan)
    assert at is not None
    assert verdict.expected == cents(float(total[at].mean()))
    assert choice.bound is None or choice.bound <= choice.expected[at] + 0.01
    assert plan.total_cost + sum(verdict.risk_allowance.values(), Decimal(0)) == verdict.expected

    error = float(total[at].std(ddof=1) / np.sqrt(total.shape[1]))
    assert float(verdict.standard_error) == pytest.approx(error, rel=1e-3, abs=0.01)
    headline = float(
        re.search(r"Expect (-?[\d,]+(?:\.\d+)?)", verdict.sentence)[1].replace(",", "")
    )
    assert headline == pytest.approx(round_to_error(float(verdict.expected), error), abs=0.51)

    if verdict.against is not None:
        other = choice.find(found.scenarios[verdict.against.scenario])
        difference = float((total[other] - total[at]).mean())
        assert float(verdict.against.difference) == pytest.approx(difference, abs=0.011)

    terms, expected = found.terms, present.mean(axis=1)
    budget = found.request.constraints.total_budget
    kept = np.ones(len(paid)) if budget is None else (paid <= budget + 0.5).mean(axis=1)
    is_sure = kept + np.sqrt(kept * (1 - kept) / paid.shape[1]) >= terms.certainty
    is_sure |= kept >= kept.max() - 0.02
    assert is_sure[at]
    for one in found.answer.scenarios:
        i = choice.find(found.scenarios[one.key]) if one.feasible else None
        if i is not None and expected[i] < expected[at] - 0.01:
            assert not one.allowed
            assert one.why_not_allowed
            assert not is_sure[i] or worse_than_asked(found, i, present)
    if choice.refusals and not verdict.is_small:
        said = (*verdict.reasons, *(one.why_not_allowed for one in found.answer.scenarios))
        assert any("of expected present value" in sentence for sentence in said)
    if kept[at] < terms.certainty:
        assert f"is kept in {kept[at]:.0%} of outcomes" in verdict.sentence
    assert not worse_than_asked(found, at, present) or all(
        worse_than_asked(found, i, present) for i in choice.admissible
    )


def worse_than_asked(found: Compared, at: int, present: Any) -> bool:
    """Whether a candidate saves less than it has to against a plan that binds to less money, or to
    as much and rents fewer machines, and that is itself worth what it binds to."""
    choice, terms = found.choice, found.terms
    assert choice is not None
    bound = [bound_money(one) for one in choice.candidates]
    rented = [machines_rented(one) for one in choice.candidates]
    for i in choice.admissible:
        more, further = bound[at] - bound[i], rented[at] - rented[i]
        if more < 0 or (more == 0 and further <= 0) or worse_than_asked(found, i, present):
            continue
        saved = present[i] - present[at]
        asked = [terms.effort_cost, terms.hurdle_share * more]
        asked.append(terms.simplicity_share * abs(present[at].mean()) * further)
        if saved.mean() < max(asked) - 1e-6:
            return True
        instead = max(beyond(choice.candidates[at], choice.candidates[i]), more)
        if more > 0 and (saved > 0).mean() < terms.hurdle_chance * more / instead - 1e-6:
            return True
    return False


def bound_money(candidate: Candidate) -> int:
    """What the new sources of a plan are paid for that cannot be undone, in whole units."""
    new = {s.key for s in candidate.used if s.existing is None}
    lines = (line for line in candidate.plan.lines if line.source in new)
    return round(float(sum(line.amount for line in lines if line.category.value in IRREVOCABLE)))


def beyond(one: Candidate, other: Candidate) -> float:
    """What one plan binds to in the parts of which the other binds to less."""
    rows = one.binding.items()
    return sum(money for part, money in rows if money > other.binding.get(part, 0.0))


def machines_rented(candidate: Candidate) -> int:
    rented = [s for s in candidate.used if s.provider and s.capacity and s.existing is None]
    return len({(s.provider, s.region, s.instance_type) for s in rented})


@examples(2, 250)
@given(st.integers(0, 10**6))
def test_any_request_of_offers_in_hand(seed: int) -> None:
    check(solved(random_request(seed)))


@examples(4, 250)
@given(st.integers(0, 10**6))
def test_any_request_at_listed_prices(seed: int) -> None:
    check(solved(catalog_request(seed), bundled_catalog()))


def small_request(seed: int) -> dict[str, Any]:
    """A year or two of a few machines: on demand, a contract, a server."""
    draw = random.Random(seed)
    months = draw.choice([12, 18, 24])
    level = draw.choice([1, 2, 3, 4]) * 5840 * draw.uniform(0.6, 1.0)
    hours = [round(level * draw.choice([0.5, 1.0, 1.0, 1.5]), 1) for _ in range(months)]
    offer = {"provider": "aws", "accelerator": H100, "accelerator_count": 8}
    rent = draw.uniform(20, 60)
    return {
        "start": "2027-01", "horizon_months": months, "use_catalog": False, **QUICK,
        "risk": {"hours_spread": draw.choice([0.15, 0.4]), "samples": 1000},
        "workload": {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": hours},
        "custom_offers": [
            {**offer, "label": "Rent", "purchase_option": "on_demand", "usd_per_hour": rent},
            {**offer, "label": "Year", "purchase_option": "reserved", "term_months": 12,
             "usd_per_hour": rent * draw.uniform(0.4, 0.8)},
        ],
        "on_prem": {"servers": [{
            "server": "custom", "label": "Box", "accelerator": H100, "accelerator_count": 8,
            "unit_price": round(rent * draw.uniform(2_000, 8_000)), "power_kw": 10,
            "lead_time_months": draw.choice([0, 3]),
        }]},
    }  # fmt: skip


@examples(1, 200)
@given(st.integers(0, 10**6))
@example(1016)  # two servers and two contracts for a year, in the place of four servers
@example(1060)  # a contract in the place of a server
@example(1030)  # two contracts, where the best plan at stated values signs four
def test_no_plan_that_is_tried_by_itself_costs_half_a_percent_less(seed: int) -> None:
    found = solved(small_request(seed))
    choice, simulation = found.choice, found.simulation
    assert choice is not None
    assert simulation is not None
    units = [key for key in found.inputs.units if not found.inputs.by_key[key].existing]
    plans = [one.plan for one in choice.candidates]
    for counts in itertools.product(range(7), repeat=len(units)):
        excluded = frozenset(key for key, n in zip(units, counts, strict=True) if not n)
        started = {key: n for key, n in zip(units, counts, strict=True) if n}
        plan = solve_scenario(
            found.inputs, ScenarioKey.HYBRID, WorkMeter(), excluded=excluded, units=started
        )
        if plan.feasible and not any(plan.lines == one.lines for one in plans):
            plans.append(plan)
    present, total, *_ = simulation.cost(plans)
    candidates = tuple(Candidate(plan, found.inputs.by_key) for plan in plans)
    sure = np.ones(len(plans))
    every = choose(Choice(candidates, present, total, sure, sure, found.terms))
    assert choice.expected[choice.index] <= every.expected[every.index] * 1.005 + 0.01
