"""Comparisons that a process computes at the same time."""

from threading import Event, Thread
from typing import Any

import pytest

from planner.services.projects import comparisons


def test_two_compute_a_third_waits_and_then_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "MOST_WAIT_S", 0.2)
    started, over = [Event() for _ in range(3)], Event()

    def steps(number: int) -> Any:
        started[number].set()
        over.wait(10)
        yield number

    few_at_once: Any = comparisons._compute_few_at_once
    threads = [Thread(target=list, args=(few_at_once(steps(n)),)) for n in range(3)]
    for thread in threads[:2]:
        thread.start()
    assert all(one.wait(5) for one in started[:2])
    threads[2].start()
    assert not started[2].wait(0.05)
    assert started[2].wait(5)
    over.set()
    for thread in threads:
        thread.join(5)
    assert all(comparisons._places.acquire(timeout=1) for _ in range(comparisons.AT_ONCE))
    comparisons._places.release(comparisons.AT_ONCE)
