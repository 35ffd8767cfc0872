"""Which plan is advised: by tables of costs in a few outcomes."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.costing.choice import Choice, Terms, choose, round_to_error

TERMS = Terms(
    certainty=0.9, hurdle_share=0.05, hurdle_chance=0.7, effort_cost=500.0, simplicity_share=0.01
)
SERVER, OTHER, SIGNED = ("servers", "dgx"), ("servers", "hgx"), ("contract", "aws")
RENT = [100_000.0] * 10


def candidate(binding: Mapping[Any, float] | None = None, machines: int = 1) -> Any:
    parts = dict(binding or {})
    return SimpleNamespace(
        binding=parts, bound=sum(parts.values()), machines=machines, has=parts.__contains__,
        beyond=lambda other: sum(n for k, n in parts.items() if n > other.binding.get(k, 0)),
    )  # fmt: skip


def chosen(*plans: tuple[Any, list[float]], kept: list[float] | None = None) -> Choice:
    candidates, costs = zip(*plans, strict=True)
    present = np.array(costs)
    share = np.ones(len(plans)) if kept is None else np.array(kept)
    return choose(Choice(candidates, present, present, share, share, TERMS))


@pytest.mark.parametrize(
    ("bound", "costs", "is_advised"),
    [
        (100_000.0, [94_000.0] * 10, True),
        (130_000.0, [94_000.0] * 10, False),  # 6,000 is less than a twentieth of 130,000
        (1_000.0, [99_600.0] * 10, False),  # 400 is less than the effort
        (10_000.0, [99_400.0] * 10, True),
        (100_000.0, [40_000.0] * 6 + [120_000.0] * 4, False),  # cheaper in six of ten
        (100_000.0, [40_000.0] * 7 + [120_000.0] * 3, True),
    ],
)
def test_what_cannot_be_undone_clears_the_hurdle(
    bound: float, costs: list[float], is_advised: bool
) -> None:
    found = chosen((candidate(), RENT), (candidate({SERVER: bound}), costs))
    assert (found.index == 1) is is_advised
    assert (1 in found.refusals) is not is_advised


def test_two_servers_that_do_the_same_do_not_keep_each_other_out() -> None:
    one = candidate({SERVER: 50_000.0}), [60_000.0] * 10
    other = candidate({OTHER: 50_000.0}), [60_400.0] * 10
    assert chosen((candidate(), RENT), one, other).index == 1


def test_each_of_several_purchases_saves_against_the_plan_without_it() -> None:
    """The contract beside the server saves 300 USD."""
    both = candidate({SERVER: 50_000.0, SIGNED: 4_000.0}), [59_700.0] * 10
    server = candidate({SERVER: 50_000.0}), [60_000.0] * 10
    found = chosen((candidate(), RENT), server, both)
    assert found.index == 1
    assert (found.refusals[2].rival, found.refusals[2].saving) == (1, 300.0)


@pytest.mark.parametrize(("cost", "index"), [(99_100.0, 0), (98_900.0, 1)])
def test_a_further_machine_saves_a_hundredth_of_the_plan(cost: float, index: int) -> None:
    several = candidate(machines=2)
    assert chosen((candidate(), RENT), (several, [cost] * 10)).index == index


@pytest.mark.parametrize(("cost", "index"), [(59_100.0, 0), (58_400.0, 1)])
def test_a_longer_contract_is_held_against_a_shorter_one(cost: float, index: int) -> None:
    """36 months bind to 30,000 more than two contracts of 12 months: they save 1,500 at least."""
    short = candidate({("contract", "aws", "12"): 60_000.0}), [60_000.0] * 10
    long = candidate({("contract", "aws", "36"): 90_000.0}), [cost] * 10
    assert chosen(short, long, (candidate(), RENT)).index == index


def test_what_is_refused_itself_is_no_rival() -> None:
    """The server is cheaper than the contract and binds to less, but wins in six of ten against
    the rent that the contract beats always."""
    server = candidate({SERVER: 50_000.0}), [40_000.0] * 6 + [120_000.0] * 4
    signed = candidate({SIGNED: 80_000.0}), [80_000.0] * 10
    assert chosen((candidate(), RENT), server, signed).index == 2


@pytest.mark.parametrize(("bound", "index"), [(66_000.0, 1), (120_000.0, 0)])
def test_what_is_bound_to_instead_of_as_much_is_cheaper_in_fewer_outcomes(
    bound: float, index: int
) -> None:
    """In half of them: 7 % are asked for where a tenth is extra, 35 % where half of it is."""
    short = candidate({SIGNED: 60_000.0}), [60_000.0] * 10
    other = candidate({SERVER: bound}), [30_000.0] * 3 + [62_000.0] * 7
    assert chosen(short, other, (candidate(), RENT)).index == index


@pytest.mark.parametrize(("cost", "index"), [(59_600.0, 0), (59_400.0, 1)])
def test_more_of_the_same_is_held_against_fewer(cost: float, index: int) -> None:
    """The last server costs 10,000: it saves 500 at least."""
    few = candidate({SERVER: 50_000.0}), [60_000.0] * 10
    many = candidate({SERVER: 60_000.0}), [cost] * 10
    assert chosen(few, many, (candidate(), RENT)).index == index


@pytest.mark.parametrize(("kept", "index"), [([1.0, 0.75], 0), ([1.0, 0.8], 1), ([0.5, 0.49], 1)])
def test_a_budget_is_kept_as_often_as_asked_or_as_can_be(kept: list[float], index: int) -> None:
    cheap = candidate(), [80_000.0] * 10
    found = chosen((candidate(), RENT), cheap, kept=kept)
    assert found.index == index
    assert found.is_too_uncertain(1) is (index == 0)


def test_where_nothing_can_be_held_against_a_purchase_it_is_advised() -> None:
    assert chosen((candidate({SERVER: 1e6}), RENT)).index == 0


def test_an_amount_is_rounded_to_its_error() -> None:
    assert round_to_error(1_234_567.0, 950.0) == 1_234_600.0
