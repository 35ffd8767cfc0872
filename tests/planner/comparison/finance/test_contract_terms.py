"""Terms of servers that cannot be kept: quotes of the future, leases that outlast the plan."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.common.invalid_input import InvalidInput
from tests.planner.costing.market_of import CATALOG, TODAY, request_of

BOX = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
       "unit_price": 100_000, "power_kw": 10}  # fmt: skip
LEASE = {"method": "lease", "months": 36, "interest_rate_per_year": 0.12}


def answer(server: dict[str, Any], *others: dict[str, Any], **own: Any) -> ComparisonAnswer:
    on_prem = {"servers": [server, *others], "lead_time_months": 0, **own}
    request = request_of(5840, term_end="within", on_prem=on_prem)
    return compare(request, CATALOG, today=TODAY)


def test_a_quote_of_the_future_is_refused_with_its_date() -> None:
    quotes = [{"unit_price": 90_000, "quoted": "2026-11"}, {"unit_price": 9, "quoted": "2026-12"}]
    with pytest.raises(InvalidInput) as refused:
        answer({**BOX, "quotes": quotes})
    assert str(refused.value) == (
        "on_prem.servers.0.quotes.1.quoted: 2026-12 is after today, 2026-11-20; give the month in "
        "which the seller asked this price, at most 2026-11"
    )
    answer({**BOX, "quotes": quotes[:1]})


def test_an_answer_of_before_with_such_a_quote_is_computed_again() -> None:
    quotes = [{"unit_price": 90_000, "quoted": "2026-11"}, {"unit_price": 9, "quoted": "2026-12"}]
    request = request_of(5840, on_prem={"servers": [{**BOX, "quotes": quotes}]})
    before = answer(BOX).assumptions
    assert compare(request, CATALOG, today=TODAY, previous_assumptions=before).by_key


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ({}, 'The lease of Box runs 36 months, so it does not end within the plan of 24 months, as '
             'term_end "within" asks: take a lease of at most 24 months, a plan of 36 months or '
             'more, or term_end "full".'),
        ({"lead_time_months": 2}, "runs 36 months and begins 2 months after it is signed, so it "
                                  "does not end within the plan of 24 months"),
        ({"lead_time_months": 2}, "take a lease of at most 22 months, a plan of 38 months or more"),
    ],
)  # fmt: skip
def test_a_lease_that_outlasts_the_plan_is_named(own: dict[str, Any], says: str) -> None:
    found = answer(BOX, financing=LEASE, useful_life_months=48, **own)
    assert any(says in warning for warning in found.warnings)
    on_prem = found.by_key["on_prem"]
    assert not on_prem.feasible
    assert any(says in reason for reason in on_prem.why_not)


def test_the_other_servers_stay() -> None:
    other = {**BOX, "label": "Other", "unit_price": 110_000}
    found = answer({**BOX, "financing": LEASE}, other, useful_life_months=48)
    assert found.by_key["on_prem"].feasible
    assert [line.label for line in found.by_key["on_prem"].lines if line.category == "capex"]
    assert any("The lease of Box runs 36 months" in warning for warning in found.warnings)


def test_a_lease_that_ends_in_time_needs_no_word() -> None:
    found = answer(BOX, financing={**LEASE, "months": 24}, useful_life_months=48)
    assert found.by_key["on_prem"].feasible
    assert not any("The lease" in warning for warning in found.warnings)
