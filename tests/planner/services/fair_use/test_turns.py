"""One caller computes one question at a time, and keeps nobody else from computing."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from planner.services import fair_use as turns
from planner.services.fair_use import TooBusyError, end_turn, take_turn


@pytest.fixture(autouse=True)
def _one_at_once(settings: Any) -> None:
    settings.WORK_AT_ONCE = 1


def test_requests_of_one_caller_wait_for_each_other_and_for_nobody_else() -> None:
    order: list[str] = []
    take_turn("ada")

    def compute() -> None:
        take_turn("ada")
        order.append("second of ada")
        end_turn("ada")

    waiting = threading.Thread(target=compute)
    waiting.start()
    take_turn("bob")
    order.append("bob")
    end_turn("bob")
    order.append("first of ada")
    end_turn("ada")
    waiting.join(5)
    assert order == ["bob", "first of ada", "second of ada"]
    assert turns._lines == {}


def test_a_caller_with_too_many_at_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST_IN_LINE", 1)
    take_turn("ada")
    with pytest.raises(TooBusyError, match="wait for them"):
        take_turn("ada")
    end_turn("ada")
    take_turn("ada")
    end_turn("ada")


def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LONGEST_WAIT_SECONDS", 0.01)
    take_turn("ada")
    with pytest.raises(TooBusyError):
        take_turn("ada")
    end_turn("ada")
    assert turns._lines == {}
