"""Who computed little goes first, and nobody waits longer than they computed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from planner.services import fair_use as courtesy
from planner.services.fair_use import Visit

HEAVY, LIGHT = "ip:192.0.2.1", "ip:192.0.2.2"


@pytest.fixture(autouse=True)
def _nobody_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courtesy, "_uses", {})
    monkeypatch.setattr(courtesy, "LEAST_SECONDS", 0.02)


@contextmanager
def somebody(who: str, at_work: Callable[[], object]) -> Iterator[Visit]:
    """A request in a thread of its own, which does so until the end of the block."""
    visits: list[Visit] = []
    is_there, may_leave = threading.Event(), threading.Event()

    def stay() -> None:
        with Visit(who) as visit:
            visits.append(visit)
            is_there.set()
            while not may_leave.is_set():
                at_work()

    thread = threading.Thread(target=stay)
    thread.start()
    is_there.wait()
    try:
        yield visits[0]
    finally:
        may_leave.set()
        thread.join()


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Somebody who takes little of the processor, and is here until the test ends."""
    monkeypatch.setattr(courtesy, "LEAST_WORK_SECONDS", 0)
    with somebody(LIGHT, lambda: time.sleep(0.001)):
        yield


def compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(1_000))


def paused(visit: Visit) -> float:
    began = time.perf_counter()
    visit.make_way()
    return time.perf_counter() - began


def test_it_pauses_as_long_as_it_computed_and_no_longer(other: None) -> None:
    with Visit(HEAVY) as visit:
        compute(0.06)
        assert paused(visit) >= 0.04
        assert visit._paused <= 0.06 + 2 * courtesy.PAUSE_SECONDS
        assert paused(visit) < 0.04, "what it computed is used up"


def test_it_goes_on_as_soon_as_the_other_one_has_left() -> None:
    def stay() -> None:
        with Visit(LIGHT):
            is_there.set()
            compute(0.02)

    is_there = threading.Event()
    light = threading.Thread(target=stay)
    with Visit(HEAVY) as visit:
        compute(0.5)
        light.start()
        is_there.wait()
        visit.make_way()
        assert courtesy.PAUSE_SECONDS <= visit._paused < 0.3
    light.join()


def test_who_computed_little_or_is_alone_never_pauses(other: None) -> None:
    with Visit(HEAVY) as visit:
        visit.make_way()
        assert visit._paused == 0
    with Visit(LIGHT) as visit:
        compute(0.05)
        visit.make_way()
        assert visit._paused == 0, "one does not make way for oneself"


def test_who_had_much_of_late_makes_way_from_the_start(other: None) -> None:
    with Visit(HEAVY):
        compute(0.1)
    with Visit(HEAVY) as visit:
        compute(0.01)
        visit.make_way()
        assert visit._paused > 0


def test_equals_share(other: None) -> None:
    courtesy._uses[LIGHT] = courtesy._Use(seconds=1.0)
    courtesy._uses[HEAVY] = courtesy._Use(seconds=3.0)
    with Visit(HEAVY) as visit:
        compute(0.05)
        visit.make_way()
        assert visit._paused == 0


def test_what_was_computed_is_forgotten_by_half() -> None:
    use = courtesy._Use(seconds=8.0, at=time.monotonic() - 2 * courtesy.HALF_LIFE_SECONDS)
    assert use.now() == pytest.approx(2.0, rel=0.01)


def test_no_more_callers_are_remembered_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courtesy, "MOST_CALLERS", 10)
    courtesy._uses["much"] = courtesy._Use(seconds=100.0)
    for number in range(30):
        with Visit(f"ip:198.51.100.{number}"):
            pass
    assert len(courtesy._uses) <= 10
    assert "much" in courtesy._uses
    assert not courtesy._present


def test_a_meter_makes_way_and_then_learns_whether_to_stop(other: None) -> None:
    with Visit(HEAVY) as visit:
        compute(0.05)
        assert visit.look_up(lambda: True)()
        assert visit._paused > 0
        assert not visit.look_up()()


def test_whoever_is_told_to_stop_stops_in_the_midst_of_a_pause(other: None) -> None:
    with Visit(HEAVY) as visit:
        compute(0.3)
        assert visit.look_up(lambda: visit._paused > 0)()
        assert visit._paused < 0.1


def test_nobody_pauses_for_who_only_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a request does whose body comes a byte at a time.

    What a thread takes to begin and to wake is no work, even where the machine is slow.
    """
    monkeypatch.setattr(courtesy, "LEAST_WORK_SECONDS", 0.1)
    with somebody(LIGHT, lambda: time.sleep(0.2)) as slow, Visit(HEAVY) as visit:
        slow._last_work_at -= courtesy.IDLE_SECONDS
        compute(0.2)
        visit.make_way()
        assert visit._paused == 0


@pytest.mark.sweep
def test_two_long_questions_of_newcomers_do_not_wait_for_each_other() -> None:
    """Both would pause at once, and nobody compute."""
    with somebody(LIGHT, lambda: compute(0.01)), Visit(HEAVY) as visit:
        compute(0.3)
        visit.make_way()
        assert visit._paused == 0
