"""How long the worst request takes and how much memory: an adaptive search (`make fuzz`).

In the search every request is answered in a process of its own with the budget of somebody who
waits, and its processor time and growth in memory are measured: that is what units of work are
worth. Every run of the tests holds the work done by the worst requests known to a smaller
budget: seconds would tell how busy the machine is.
"""

import multiprocessing
import os
import resource
import time
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from django.conf import settings

from planner.comparison import TooMuchWork, compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.costing.optimizer.work import WorkMeter
from pricing.market.snapshot import Catalog
from tests.bench.bench_compare import TODAY, bundled
from tests.planner.worst_requests import (
    CUT_SHORT,
    LARGEST,
    WORST,
    Shape,
    build_request,
    mutate,
    random_shape,
)
from tests.properties import IS_LONG

MOST_CPU_SECONDS, MOST_MEGABYTES = 20.0, 500.0
TRIALS = 120
SHORT_UNITS, REFUSED_UNITS, SHORT_OVERRUN = 1_600_000, 600_000, 1.7
"""Budget of a short run, the one where the refusal alone is looked at, and how much more is done
where work is charged afterwards."""


@pytest.mark.parametrize(
    "shape", [WORST, *(pytest.param(one, marks=pytest.mark.sweep) for one in (LARGEST, CUT_SHORT))]
)
def test_the_worst_requests_known_do_the_same_work_within_their_budget(
    shape: Shape, catalog: Catalog
) -> None:
    units = SHORT_UNITS if shape is CUT_SHORT else REFUSED_UNITS
    first, again = (WorkMeter(units) for _ in range(2))

    outcome = _outcome(shape, catalog, first)

    assert first.done <= units * SHORT_OVERRUN
    assert _outcome(shape, catalog, again) == outcome
    assert again.done == first.done
    assert first.done > units / 2
    if shape is CUT_SHORT:
        assert isinstance(outcome, ComparisonAnswer)
        assert any(text.endswith("servers or limits.") for text in outcome.warnings)
    else:
        assert "fewer months" in str(outcome)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return bundled()


def _outcome(shape: Shape, catalog: Catalog, work: WorkMeter) -> ComparisonAnswer | str:
    try:
        return compare(build_request(shape), catalog, today=TODAY, work=work)
    except TooMuchWork as refusal:
        return str(refusal)


@pytest.mark.fuzz
@pytest.mark.skipif(not IS_LONG, reason="minutes: make fuzz")
@pytest.mark.parametrize("seed", range(3))
def test_no_request_takes_longer_or_more_memory_than_allowed(seed: int, catalog: Catalog) -> None:
    random = np.random.Generator(np.random.PCG64([seed, 2026]))
    worst: list[tuple[float, Shape]] = [(0.0, LARGEST)]
    for trial in range(TRIALS):
        shape = _next_shape(random, worst, trial)
        cpu_seconds, megabytes = measure(shape, catalog)
        assert cpu_seconds <= MOST_CPU_SECONDS, (shape, cpu_seconds)
        assert megabytes <= MOST_MEGABYTES, (shape, megabytes)
        share = max(cpu_seconds / MOST_CPU_SECONDS, megabytes / MOST_MEGABYTES)
        worst = sorted([*worst, (share, shape)], key=lambda one: -one[0])[:8]
    print("worst:", *worst[:3], sep="\n")


def _next_shape(random: np.random.Generator, worst: list[tuple[float, Shape]], trial: int) -> Shape:
    if trial == 0:
        return LARGEST
    if random.random() < 0.3:
        return random_shape(random)
    return mutate(worst[int(random.integers(len(worst)))][1], random)


def measure(shape: Shape, catalog: Catalog) -> tuple[float, float]:
    """Processor seconds and MB by which a process grows that answers the request of a shape."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_answer, args=(theirs, build_request(shape), catalog))
    process.start()
    theirs.close()
    try:
        cpu_seconds, megabytes = ours.recv()
    finally:
        process.join()
    return cpu_seconds, megabytes


def _answer(connection: Any, request: dict[str, Any], catalog: Catalog) -> None:
    before, began = peak_megabytes(), time.process_time()
    with suppress(TooMuchWork):
        compare(request, catalog, today=TODAY, work=WorkMeter(settings.WORK_SIGNED_IN)).to_json()
    connection.send((time.process_time() - began, peak_megabytes() - before))
    connection.close()
    os._exit(0)


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
