"""Who computed little goes first: a long question makes way for the requests of others.

The threads of a process share its processor time. Beside a question that takes seconds, a page
that takes 0.4 s alone would take twice that, or three times. Where whoever asks the long one has
had much of this process's time of late, it pauses while somebody who has had little is answered.
It pauses no longer than it has computed itself, so that it takes at most twice its time, which is
what sharing the processor would have cost it.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

HALF_LIFE_SECONDS = 30.0
"""After how long what somebody computed counts half."""
LEAST_SECONDS = 0.5
"""Of processor time of late, below which nobody makes way."""
RATIO = 4.0
"""How much more than the other one somebody must have had to make way."""
PAUSE_SECONDS = 0.004
JOBS = "jobs"
"""Who asks for what is worked on in the background."""
MOST_CALLERS = 10_000
"""Remembered at once; beyond it those who had least are forgotten."""


@dataclass
class _Use:
    """Processor seconds, of which half is forgotten each half-life."""

    seconds: float = 0.0
    at: float = field(default_factory=time.monotonic)

    def now(self) -> float:
        return float(self.seconds * 0.5 ** ((time.monotonic() - self.at) / HALF_LIFE_SECONDS))

    def add(self, seconds: float) -> None:
        self.seconds, self.at = self.now() + seconds, time.monotonic()


_uses: dict[str, _Use] = {}
_present: Counter[str] = Counter()
_lock = threading.Lock()


class Visit:
    """One request or job, from its beginning to its end, in the thread that works on it."""

    def __init__(self, who: str) -> None:
        self.who = who
        self._began = self._paused = 0.0

    def __enter__(self) -> Visit:
        self._began = time.thread_time()
        with _lock:
            _present[self.who] += 1
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Counts what was computed."""
        with _lock:
            _present[self.who] -= 1
            if _present[self.who] <= 0:
                del _present[self.who]
            _uses.setdefault(self.who, _Use()).add(self._computed)
            if len(_uses) > MOST_CALLERS:
                _forget()

    def make_way(self) -> None:
        """Pauses while others are to go first."""
        while self._paused < self._computed and self._is_second():
            time.sleep(PAUSE_SECONDS)
            self._paused += PAUSE_SECONDS

    def look_up(self, is_cancelled: Callable[[], bool] | None = None) -> Callable[[], bool]:
        """What a meter of work asks now and then: makes way, then tells whether to stop."""

        def look() -> bool:
            self.make_way()
            return is_cancelled is not None and is_cancelled()

        return look

    @property
    def _computed(self) -> float:
        return time.thread_time() - self._began

    def _is_second(self) -> bool:
        """Whether somebody is here who had far less of late."""
        with _lock:
            if len(_present) < 2:
                return False
            own = self._computed + _use_of(self.who)
            if own < LEAST_SECONDS:
                return False
            return any(_use_of(other) * RATIO < own for other in _present if other != self.who)


def _use_of(who: str) -> float:
    use = _uses.get(who)
    return use.now() if use is not None else 0.0


def _forget() -> None:
    by_use = sorted(_uses, key=_use_of)
    for who in by_use[: MOST_CALLERS // 2]:
        del _uses[who]
