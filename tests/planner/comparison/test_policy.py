"""What to buy when, at prices of the market and at those of the large clouds."""

from functools import cache
from typing import Any

import pytest

from planner.contract.answer.policy import PolicyAnswer
from planner.contract.copies import replace
from planner.costing.analysis.simulation import simulation_of
from planner.costing.policy.least_squares import best_fixed, bound, fit_policy, follow
from planner.costing.policy.policy import list_decisions
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import catalog, offer

FLAT = {"server_price_trend_per_year": 0, "cloud_price_trend_per_year": 0}
CERTAIN = {"residual_sd": 0, "hours_spread": 0, "demand_growth_sd": 0, "slip_months_sd": 0}
UNSEEN, MANY = 4242, 8000


@cache
def eight_h100(usd_per_hour: float, **fields: Any) -> Compared:
    """48 months of eight H100 at a price of the market by the GPU-hour; servers at a flat price,
    without delivery time."""
    market = {
        "label": "Market",
        "provider": "market",
        "accelerator": "H100 SXM",
        "accelerator_count": 8,
        "purchase_option": "on_demand",
        "usd_per_hour": 8 * usd_per_hour,
    }
    own = {"lead_time_months": 0, "late_delivery_probability": 0, "utilisation_ceiling": 1}
    asked = {
        "horizon_months": 48,
        "use_catalog": False,
        "custom_offers": [market],
        "on_prem": {**own, "servers": [{"server": "hgx-h100-8"}]},
        "risk": CERTAIN,
        "finance": FLAT,
        "decide_every_months": 3,
    }
    return compared(hours=8 * 730, **asked | fields)


def policy_of(one: Compared) -> PolicyAnswer:
    found = one.answer.policy
    assert found is not None
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize("usd_per_hour", [2.0, 2.5, 3.0, 3.5])
def test_at_prices_of_the_market_it_pays_to_decide_again(usd_per_hour: float) -> None:
    """On paths that neither the policy nor the answer has seen."""
    one = eight_h100(usd_per_hour)
    assert one.choice is not None
    assert one.simulation is not None
    decisions = list_decisions(one.choice, one.simulation, 3)
    assert decisions is not None
    plans = [decisions.waiting, *(bundle.plan for bundle in decisions.bundles)]

    def drawn(seed: int, samples: int) -> Any:
        parameters = replace(one.risk_parameters, seed=seed, samples=samples)
        simulation = simulation_of(one.inputs, parameters, plans)
        return replace(decisions, simulation=simulation).paths()

    fitted_on, unseen = drawn(one.risk_parameters.seed + 1, 2000), drawn(UNSEEN, MANY)
    policy = fit_policy(fitted_on)
    cost, least = follow(policy, unseen).mean(), bound(policy, fitted_on, unseen).mean()
    assert cost <= 1.03 * least
    assert least <= 1.01 * cost  # else it would be no bound
    assert cost <= 0.95 * best_fixed(unseen)[0]


def test_the_answer_says_what_to_wait_for() -> None:
    one = eight_h100(2.75)
    found = policy_of(one)
    (trigger,) = found.triggers
    assert (trigger.action, trigger.is_above, trigger.unit) == ("buy", True, "per accelerator-hour")
    assert trigger.today == pytest.approx(2.75)
    assert trigger.today < trigger.at < 4.0
    assert found.bound <= found.expected < found.best_fixed
    assert found.worth == found.best_fixed - found.expected
    assert one.answer.verdict is not None
    assert one.answer.verdict.waiting == found.sentence
    assert found.sentence in one.answer.advice
    words = f"if H100 rent is above {trigger.at:.2f} USD an hour. Being able to wait is worth"
    assert found.sentence.startswith("Rent now. Buy 1 × HGX H100 server in April 2027")
    assert words in found.sentence


def test_what_is_bought_now_may_be_sold_and_the_advice_is_not_contradicted() -> None:
    """At 3.50 the plan that rents is advised, as buying is too often the dearer one."""
    one = eight_h100(3.5)
    found = policy_of(one)
    assert [trigger.action for trigger in found.triggers] == ["sell"]
    assert not found.triggers[0].is_above
    assert found.sentence.startswith(
        "An alternative, better only if you decide again every 3 months: buy 1 × HGX H100"
    )
    assert "Being able to sell is worth" in found.sentence


def test_what_follows_a_contract_is_said_where_deciding_again_is_worth_something() -> None:
    """A year is signed at once; of the year after it the price of a server decides."""
    prices = catalog(offer("40.00"), offer("20.00", "reserved", term_months=12, upfront="60000"))
    box = {"server": "custom", "label": "Box", "accelerator": "H100 SXM", "accelerator_count": 8,
           "unit_price": 230_000, "running_cost_per_hour": 5, "lead_time_months": 0}  # fmt: skip
    own = {"servers": [box], "useful_life_months": 24, "residual_rate": 0}
    capital = {"capex_months": ["2028-01"]}
    one = compared(prices, 8 * 730, on_prem=own, constraints=capital, decide_every_months=3)
    first, bought, again, *_ = policy_of(one).sentence.split(". ")
    assert first.endswith(" for 12 months now")
    assert bought.startswith("Buy 1 × Box in January 2028 if the price of Box is below")
    assert " in January 2028 unless H100 rent is below" in again
    assert "Being able to decide again is worth" in policy_of(one).sentence


def test_at_prices_of_large_clouds_nothing_is_waited_for() -> None:
    one = eight_h100(6.88)
    found = policy_of(one)
    assert found.triggers == ()
    assert found.sentence.startswith("Decide now")
    assert found.worth < found.best_fixed / 50
    assert one.answer.verdict is not None
    assert one.answer.verdict.waiting == ""


def test_a_plan_that_makes_a_move_which_no_policy_has_is_decided_now() -> None:
    """Capital comes in the second month, between two dates of a decision."""
    found = policy_of(eight_h100.__wrapped__(6.88, constraints={"capex_months": ["2027-02"]}))
    assert (found.worth, found.triggers) == (0, ())
    assert found.expected == found.best_fixed == found.bound
    assert found.sentence.startswith("Decide now")


@pytest.mark.parametrize(
    "fields", [{"horizon_months": 3}, {"decide_every_months": 0}, {"decide_every_months": 48}]
)
def test_where_all_is_decided_at_once_there_is_no_policy(fields: dict[str, int]) -> None:
    asked = {"use_catalog": True, **fields}
    one = compared(hours=8 * 730, **{"horizon_months": 48, "decide_every_months": 3} | asked)
    assert one.answer.policy is None
    assert one.answer.verdict is not None
    assert one.answer.verdict.waiting == ""
