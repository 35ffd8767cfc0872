"""Every comparison ends within its work: with a true bound, with what it has, or refused."""

from typing import Any

import numpy as np
import pytest

from planner.comparison import TooMuchWork, compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.costing.optimizer.work import WorkMeter
from pricing.market.snapshot import Catalog
from tests.bench.bench_compare import bundled
from tests.planner.costing.market_of import CATALOG, TODAY, request_of
from tests.planner.worst_requests import Shape, build_request, mutate, random_shape
from tests.properties import IS_LONG

LIMIT = 600_000
SHAPES = 3
"""Shapes of the short search, the last one changed from the worst of the others."""
OVERRUN = 2
"""What is done at one go is charged afterwards."""


def answer(work: WorkMeter, **fields: Any) -> ComparisonAnswer:
    request = request_of(4000, horizon_months=36, cheaper_if=True, **fields)
    return compare(request, CATALOG, today=TODAY, work=work)


@pytest.mark.sweep
def test_an_ordinary_answer_is_the_same_with_and_without_a_limit():
    limited, free = WorkMeter(10_000_000), WorkMeter()
    fields = {"risk": {"samples": 500}}

    assert answer(limited, **fields) == answer(free, **fields)
    assert limited.done == free.done
    assert not limited.left_out


@pytest.mark.sweep
def test_the_risk_takes_as_many_samples_as_there_is_work_for_and_says_so():
    work = WorkMeter(300_000)
    short = answer(work, risk={"samples": 1_000_000})

    assert short.risk is not None
    assert 1_000 < short.risk.samples < 1_000_000
    assert any(
        text.startswith(f"{short.risk.samples:,} of 1,000,000 outcomes") for text in short.warnings
    )
    exact = answer(WorkMeter(), risk={"samples": short.risk.samples})
    assert exact.risk == short.risk
    assert work.done <= 300_000


def test_what_is_too_large_is_refused_by_what_is_large_in_it():
    request = build_request(Shape(horizon=120, offers=40, servers=20, quotas=15))

    with pytest.raises(TooMuchWork) as refusal:
        compare(request, CATALOG, today=TODAY, work=WorkMeter(20_000))

    assert "120 months, 40 private offers, 20 servers to consider, 15 quotas" in str(refusal.value)


def test_comparisons_asked_together_share_what_is_allowed():
    free = WorkMeter()
    one = answer(free)
    work = WorkMeter(free.done * 1.05)

    assert answer(work).scenarios == one.scenarios
    with pytest.raises(TooMuchWork, match="share what is allowed"):
        [answer(work) for _ in range(5)]  # what is left allows for a shorter answer at first


@pytest.mark.sweep
@pytest.mark.fuzz
def test_the_worst_requests_found_end_within_their_work():
    """An adaptive search: random shapes, then changes of those that took the most."""
    random, catalog = np.random.Generator(np.random.PCG64(11)), bundled()
    worst: list[tuple[int, Shape]] = []
    for i in range(40 if IS_LONG else SHAPES):
        is_new = i < SHAPES - 1
        shape = random_shape(random) if is_new else mutate(worst[i % len(worst)][1], random)
        work = WorkMeter(LIMIT)
        first = _outcome(shape, catalog, work)
        assert work.done <= LIMIT * OVERRUN, shape
        worst = sorted([*worst, (work.done, shape)], key=lambda one: -one[0])[:5]
        if i == SHAPES - 1:
            assert _outcome(shape, catalog, WorkMeter(LIMIT)) == first, shape
    assert worst[0][0] > LIMIT / 3


def _outcome(shape: Shape, catalog: Catalog, work: WorkMeter) -> ComparisonAnswer | str:
    """The answer, whose bounds hold, or the refusal."""
    try:
        found = compare(build_request(shape), catalog, today=TODAY, work=work)
    except TooMuchWork as refusal:
        return str(refusal)
    for scenario in found.scenarios:
        if scenario.feasible:
            assert scenario.gap is not None
            assert 0 <= scenario.gap <= 1
    return found
