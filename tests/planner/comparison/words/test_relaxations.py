"""What an answer without a plan says would do: in words, and as a request takes it."""

from __future__ import annotations

from typing import Any

import pytest

from planner.commands.tables import comparison_tables
from planner.contract.answer.common import ScenarioKey
from pricing.market.snapshot import Catalog
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer

ALONE: dict[str, Any] = {"on_prem": {"servers": []}}
RENT = catalog(offer("60"))
BOTH = catalog(offer("60"), offer("20", "spot", zone="us-east-1a"))
QUOTA = {"provider": "aws", "region": "us-east-1", "accelerator": H100, "max_accelerators": 4}
NODE = 8 * 730


def asked(prices: Catalog = RENT, hours: float = NODE, **limits: Any) -> Compared:
    return compared(prices, hours, constraints=limits, **ALONE)


@pytest.mark.parametrize(
    ("limits", "field", "given", "required", "words"),
    [
        (
            {"monthly_budget": 100}, "constraints.monthly_budget", 100, 43_800,
            "a monthly budget of at least 43,800 USD instead of 100 USD",
        ),
        (
            {"total_budget": 1000}, "constraints.total_budget", 1000, 24 * 43_800,
            "a total budget of at least 1,051,200 USD instead of 1,000 USD",
        ),
        (
            {"quotas": [QUOTA]}, "constraints.quotas.0.max_accelerators", 4, 8,
            "a quota for H100 SXM5 80 GB at AWS us-east-1 of at least 8 accelerators instead of "
            "4 accelerators",
        ),
    ],
)  # fmt: skip
def test_the_least_that_would_do_in_words_and_as_a_request_takes_it(
    limits: dict[str, Any], field: str, given: float, required: float, words: str
) -> None:
    found = asked(**limits)
    hybrid = found.answer.by_key[ScenarioKey.HYBRID]
    (one,) = hybrid.relaxations
    assert (one.field, one.current_value, one.required_value) == (field, given, required)
    assert one.is_sufficient
    assert one.sentence == f"It takes {words}."
    assert hybrid.why_not[0] == f"it takes {words}"
    assert found.answer.verdict is not None
    assert one.sentence in found.answer.verdict.sentence
    shown = " ".join(comparison_tables(found.answer).split())
    assert f"it takes {words}" in shown
    assert f"To ask for it: {field} = {required}" in shown


def test_what_would_do_does() -> None:
    limits = {"monthly_budget": 30_000, "max_spot_share": 0.1}
    tight = asked(BOTH, **limits)
    money, spot = tight.answer.by_key[ScenarioKey.HYBRID].relaxations
    assert (money.field, spot.field) == (
        "constraints.monthly_budget", "constraints.max_spot_share",
    )  # fmt: skip
    for one in (money, spot):
        name = one.field.removeprefix("constraints.")
        wider = asked(BOTH, **limits | {name: one.required_value})
        assert wider.scenarios[ScenarioKey.HYBRID].feasible, one.sentence
        narrower = asked(BOTH, **limits | {name: one.required_value * 0.99})
        assert not narrower.scenarios[ScenarioKey.HYBRID].feasible, one.sentence


def test_what_must_change_together_is_said_so() -> None:
    quota = QUOTA | {"max_accelerators": 4}
    found = asked(quotas=[quota], monthly_budget=100)
    needed = found.answer.by_key[ScenarioKey.HYBRID].relaxations
    assert len(needed) == 2
    assert not any(one.is_sufficient for one in needed)
    assert all(one.sentence.endswith("together with the other limits named.") for one in needed)


def test_a_scenario_with_a_plan_needs_nothing() -> None:
    found = asked(monthly_budget=50_000).answer
    assert not any(one.relaxations for one in found.scenarios if one.feasible)
