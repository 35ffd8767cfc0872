"""Who computed little goes first: a long question makes way for the requests of others.

The threads of a process share its processor time. Beside a question that takes seconds, a page
that takes 0.4 s alone would take twice that, or three times. Where whoever asks the long one has
had much of this process's time of late, it pauses while somebody who has had little is answered.
It pauses no longer than it has computed itself, so that it takes at most twice its time, which is
what sharing the processor would have cost it. Nobody pauses for who is not computing either, such
as a request whose body comes a byte at a time, nor for whose question is as long as one's own.
"""

from __future__ import annotations

import threading
import time
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
IDLE_SECONDS = 0.05
"""After how long without `LEAST_WORK_SECONDS` of processor time nobody waits for a request."""
LEAST_WORK_SECONDS = 0.001
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
_present: list[Visit] = []
_lock = threading.Lock()


class Visit:
    """One request or job, from its beginning to its end, in the thread that works on it."""

    def __init__(self, who: str) -> None:
        self.who = who
        self._clock = 0
        self._began = self._paused = 0.0
        self._last_work = self._last_work_at = 0.0

    def __enter__(self) -> Visit:
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._began = time.clock_gettime(self._clock)
        self._last_work_at = time.monotonic()
        with _lock:
            _present.append(self)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Counts what was computed."""
        with _lock:
            _present.remove(self)
            _uses.setdefault(self.who, _Use()).add(self._computed)
            if len(_uses) > MOST_CALLERS:
                _forget()

    def make_way(self, is_cancelled: Callable[[], bool] | None = None) -> bool:
        """Pauses while others are to go first; whether it was told to stop meanwhile."""
        while self._paused < self._computed and self._is_second():
            time.sleep(PAUSE_SECONDS)
            self._paused += PAUSE_SECONDS
            if is_cancelled is not None and is_cancelled():
                return True
        return False

    def look_up(self, is_cancelled: Callable[[], bool] | None = None) -> Callable[[], bool]:
        """What a meter of work asks now and then: makes way, then tells whether to stop."""

        def look() -> bool:
            return self.make_way(is_cancelled) or (is_cancelled is not None and is_cancelled())

        return look

    @property
    def _computed(self) -> float:
        """Processor seconds of its thread, also as another thread asks."""
        return time.clock_gettime(self._clock) - self._began

    def _is_second(self) -> bool:
        """Whether somebody is computing here who had far less of late."""
        with _lock:
            if len(_present) < 2:
                return False
            own = _use_of(self.who)
            if own < LEAST_SECONDS:
                return False
            return any(
                _use_of(other.who) * RATIO < own and other._is_at_work()
                for other in _present
                if other.who != self.who
            )

    def _is_at_work(self) -> bool:
        """Whether it took processor time of late, rather than wait for its sender."""
        computed, now = self._computed, time.monotonic()
        if computed - self._last_work >= LEAST_WORK_SECONDS:
            self._last_work, self._last_work_at = computed, now
        return now - self._last_work_at < IDLE_SECONDS


def _use_of(who: str) -> float:
    """What somebody had of late, with what is being computed for them."""
    use = _uses.get(who)
    before = use.now() if use is not None else 0.0
    return before + sum(visit._computed for visit in _present if visit.who == who)


def _forget() -> None:
    by_use = sorted(_uses, key=_use_of)
    for who in by_use[: MOST_CALLERS // 2]:
        del _uses[who]
