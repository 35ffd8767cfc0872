"""Who computed little goes first, and nobody waits longer than they computed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from planner.services.fair_use import courtesy
from planner.services.fair_use.courtesy import Visit

HEAVY, LIGHT = "ip:192.0.2.1", "ip:192.0.2.2"


@pytest.fixture(autouse=True)
def _nobody_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courtesy, "_uses", {})
    monkeypatch.setattr(courtesy, "LEAST_SECONDS", 0.02)


@pytest.fixture
def other() -> Iterator[Visit]:
    """Somebody who had nothing yet, and is here until the test ends."""
    with Visit(LIGHT) as visit:
        yield visit


def compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(1_000))


def paused(visit: Visit) -> float:
    began = time.perf_counter()
    visit.make_way()
    return time.perf_counter() - began


def test_it_pauses_as_long_as_it_computed_and_no_longer(other: Visit) -> None:
    with Visit(HEAVY) as visit:
        compute(0.06)
        assert paused(visit) >= 0.04
        assert visit._paused <= 0.06 + 2 * courtesy.PAUSE_SECONDS
        assert paused(visit) < 0.04, "what it computed is used up"


def test_it_goes_on_as_soon_as_the_other_one_has_left() -> None:
    light = Visit(LIGHT)
    light.__enter__()
    leaves = threading.Timer(0.02, light.__exit__, (None, None, None))
    with Visit(HEAVY) as visit:
        compute(0.3)
        leaves.start()
        visit.make_way()
        assert courtesy.PAUSE_SECONDS <= visit._paused < 0.2
    leaves.join()


def test_who_computed_little_or_is_alone_never_pauses(other: Visit) -> None:
    with Visit(HEAVY) as visit:
        visit.make_way()
        assert visit._paused == 0
    with Visit(LIGHT) as visit:
        compute(0.05)
        visit.make_way()
        assert visit._paused == 0, "one does not make way for oneself"


def test_who_had_much_of_late_makes_way_from_the_start(other: Visit) -> None:
    with Visit(HEAVY):
        compute(0.1)
    with Visit(HEAVY) as visit:
        compute(0.01)
        visit.make_way()
        assert visit._paused > 0


def test_equals_share(other: Visit) -> None:
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


def test_a_meter_makes_way_and_then_learns_whether_to_stop(other: Visit) -> None:
    with Visit(HEAVY) as visit:
        compute(0.05)
        assert visit.look_up(lambda: True)()
        assert visit._paused > 0
        assert not visit.look_up()()
