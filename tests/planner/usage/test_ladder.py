"""How much to commit to: against hindsight on generated use, and against what is proven."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from planner.usage.ladder import Price, cost_of, hindsight, levels, plan_ladder
from pricing.common.invalid_input import InvalidInput

WEEK, WEEKS = 168, 130
DISCOUNTED = Price(0.6, 52)
SEEDS = range(12)


def hourly(seed: int, growth: float, swing: float, weeks: int = WEEKS) -> Any:
    """[weeks, hours] a use with days and weeks in it, that grows or shrinks with detours and has a
    step: a project that comes or goes."""
    random = np.random.default_rng(seed)
    hours = np.arange(weeks * WEEK)
    trend = growth * hours / (52 * WEEK)
    detour = np.repeat(np.cumsum(random.normal(0, 0.03, weeks)), WEEK)
    day = swing * np.sin(2 * np.pi * (hours % 24) / 24)
    weekend = -swing * (hours % WEEK >= 120)
    step = random.normal(0, 0.3) * (hours > random.integers(26, weeks - 26) * WEEK)
    mean = 60.0 * np.exp(trend + detour + day + weekend + step)
    return random.poisson(mean).astype(float).reshape(weeks, WEEK)


GENERATED = [
    hourly(seed, growth, swing)
    for seed in SEEDS
    for growth, swing in ((0.4, 0.1), (0.0, 0.2), (-0.3, 0.1))
]


def ratios(rule: Any, price: Price = DISCOUNTED) -> Any:
    shares = [levels(use)[0] for use in GENERATED]
    return np.array([cost_of(one, price, rule) / hindsight(one, price) for one in shares])


def test_the_newsvendor_ladder_is_near_hindsight() -> None:
    found = ratios("newsvendor")
    assert found.min() >= 1.0
    assert found.mean() <= 1.12
    assert found.max() <= 1.30


def cheapest(shares: list[float], price: Price) -> float:
    """By trying every set of weeks in which a contract of one unit begins."""
    best = np.inf
    for begins in product((False, True), repeat=len(shares)):
        left, cost = 0, 0.0
        for begin, share in zip(begins, shares, strict=True):
            left = price.periods if begin and not left else left
            cost += price.share if left else share
            left = max(left - 1, 0)
        best = min(best, cost)
    return float(best)


@pytest.mark.parametrize("seed", range(6))
def test_hindsight_is_the_least_of_all_plans(seed: int) -> None:
    shares = np.random.default_rng(seed).random(9).round(2)
    price = Price(0.5, 3)
    found = hindsight(shares[:, None], price)
    assert found == pytest.approx(cheapest(shares.tolist(), price))


def bursts(length: int) -> Any:
    """One level that stops being used as soon as its contract is signed: the worst case."""
    pattern = [1.0] * length + [0.0] * 60
    return np.array(pattern * 4)[:, None]


@pytest.mark.parametrize("length", [1, 10, 31, 32, 33, 52])
def test_break_even_keeps_what_is_proven(length: int) -> None:
    price, shares = DISCOUNTED, bursts(length)
    contract, overshoot = price.share * price.periods, 1.0 + 1.0 / (price.share * price.periods)
    most = 2.0 * overshoot * hindsight(shares, price) + contract
    assert cost_of(shares, price, "break_even") <= most
    for use in GENERATED[:6]:
        one = levels(use)[0]
        most = 2.0 * overshoot * hindsight(one, price) + contract * one.shape[1]
        assert cost_of(one, price, "break_even") <= most


def test_the_worst_case_is_nearly_twice_hindsight() -> None:
    """Else the promise would be too weak to tell anybody."""
    shares = bursts(32)
    assert cost_of(shares, DISCOUNTED, "break_even") > 1.9 * hindsight(shares, DISCOUNTED)


def test_a_steady_use_is_committed_at_once_and_renewed() -> None:
    ladder = plan_ladder([8.0] * WEEK * 53, 4.0, 2.4, term_months=12, months=24)
    assert ladder.sign_now == 8.0
    signed = {row.month: row.sign for row in ladder.months if row.sign}
    assert list(signed.values()) == [8.0, 8.0]
    assert ladder.cost == pytest.approx(0.6 * ladder.on_demand_cost, rel=0.01)
    assert ladder.past_ratio is not None
    assert ladder.past_ratio < 1.03
    assert "Commit 8 again in month 13" in ladder.sentence


def test_a_contract_is_paid_to_its_end_and_a_part_of_it_judges_no_rule() -> None:
    use = [8.0] * WEEK * 70
    year, long = (plan_ladder(use, 4.0, 2.4, term) for term in (12, 36))
    assert year.past_ratio is not None
    assert long.past_ratio is None
    assert year.owed_after == 0
    whole = long.cost + long.owed_after
    assert whole == pytest.approx(8.0 * 2.4 * 730 * 36, rel=0.01)


def test_what_is_held_is_not_signed_again_before_it_ends() -> None:
    use = [8.0] * WEEK * 30
    ladder = plan_ladder(use, 4.0, 2.4, held=[(5.0, 6)])
    assert ladder.sign_now == 3.0
    assert {row.month: row.sign for row in ladder.months if row.sign} == {0: 3.0, 6: 5.0}


def test_a_growing_use_is_committed_step_by_step() -> None:
    use = [20.0 * 1.05 ** (hour / 730) for hour in range(730 * 18)]
    ladder = plan_ladder(use, 4.0, 2.4)
    assert 30.0 < ladder.sign_now <= max(use)
    assert sum(row.sign > 0 for row in ladder.months) >= 4
    assert ladder.cost < 0.75 * ladder.on_demand_cost


def test_use_by_month_is_planned_as_well() -> None:
    """By hand: of 18 months at 10, 4 and 6 units break-even costs 86.0, hindsight 68.4."""
    use = [10.0] * 3 + [4.0] * 9 + [6.0] * 6
    ladder = plan_ladder(use, 4.0, 2.4, every_hours=730)
    assert (ladder.rule, ladder.sign_now) == ("break_even", 4.0)
    assert ladder.past_ratio == pytest.approx(86.0 / 68.4)


def test_a_short_history_takes_the_rule_that_is_proven() -> None:
    ladder = plan_ladder([8.0] * WEEK * 3, 4.0, 2.4)
    assert (ladder.rule, ladder.sign_now, ladder.past_ratio) == ("break_even", 0.0, None)
    assert "never costs more than twice" in ladder.sentence


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"use": [1.0] * 10}, "use"),
        ({"use": [float("nan")] * WEEK}, "use"),
        ({"committed_per_hour": 4.0}, "committed_per_hour"),
        ({"on_demand_per_hour": 0.0}, "on_demand_per_hour"),
        ({"term_months": 0}, "term_months"),
        ({"months": 99}, "months"),
        ({"every_hours": 0.1}, "every_hours"),
        ({"held": [(-1.0, 5)]}, "held"),
    ],
)
def test_what_cannot_be_planned_is_refused(fields: dict[str, Any], field: str) -> None:
    plain: dict[str, Any] = {
        "use": [1.0] * WEEK * 9, "on_demand_per_hour": 4.0, "committed_per_hour": 2.4,
    }  # fmt: skip
    with pytest.raises(InvalidInput, match=field):
        plan_ladder(**plain | fields)
