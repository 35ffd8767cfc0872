"""Whose turn it is to compute: one caller's requests one after another, not beside each other.

The threads of a process share its processor time, so that many requests of one visitor at once are
answered no sooner than in turn, while everybody else waits for all of them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from django.conf import settings

from planner.services.teams.errors import WrongStateError

MOST_IN_LINE = 6
"""Requests of one caller that wait or compute in a process; one more is refused."""
LONGEST_WAIT_SECONDS = 30.0


class TooBusyError(WrongStateError):
    """The caller has too many requests at once (429)."""

    def __init__(self) -> None:
        super().__init__("Too many of your requests are being computed at once; wait for them.")


@dataclass
class _Line:
    turns: threading.Semaphore
    callers: int = field(default=0)


_lines: dict[str, _Line] = {}
_lock = threading.Lock()


def take_turn(who: str) -> None:
    """Waits until `who` may compute. Raises `TooBusyError`."""
    with _lock:
        line = _lines.setdefault(who, _Line(threading.Semaphore(settings.WORK_AT_ONCE)))
        if line.callers >= MOST_IN_LINE:
            raise TooBusyError
        line.callers += 1
    if not line.turns.acquire(timeout=LONGEST_WAIT_SECONDS):
        _leave(who, line)
        raise TooBusyError


def end_turn(who: str) -> None:
    """Lets the next request of `who` compute."""
    line = _lines[who]
    line.turns.release()
    _leave(who, line)


def _leave(who: str, line: _Line) -> None:
    with _lock:
        line.callers -= 1
        if line.callers == 0:
            del _lines[who]
