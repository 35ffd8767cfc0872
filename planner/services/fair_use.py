"""A disk that is full: said in words, with nothing half-written left behind."""

from __future__ import annotations

import errno
import ipaddress
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple

from django.conf import settings
from django.core.cache import cache

from planner.services.teams.access import WrongStateError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DiskFullError(WrongStateError):
    """The server has no room for a file (507)."""

    def __init__(self) -> None:
        super().__init__("The server's disk is full, so nothing was stored; tell its operator.")


def is_disk_full(failure: BaseException) -> bool:
    """Whether this error of the system says that there is no room."""
    return isinstance(failure, OSError) and failure.errno in _FULL


def raise_if_disk_is_full(failure: BaseException) -> None:
    if is_disk_full(failure):
        raise DiskFullError from failure


_PREFIX_OF_A_CUSTOMER = 64
"""Bits of an IPv6 address that one customer is given; the rest is theirs to choose (RFC 6177)."""


def client_address(meta: Mapping[str, Any]) -> str:
    """The address that limits count for: `ip:192.0.2.7`, of IPv6 the network of a customer.

    Of `X-Forwarded-For` as many entries are believed as there are proxies of ours (NUM_PROXIES).
    """
    return f"ip:{_network(_forwarded(meta) or str(meta.get('REMOTE_ADDR', '')))}"


def _forwarded(meta: Mapping[str, Any]) -> str:
    proxies: int = settings.NUM_PROXIES
    entries = str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",") if proxies else []
    return entries[-min(proxies, len(entries))].strip()[:60] if entries else ""


def _network(text: str) -> str:
    """
    >>> _network("2001:db8:1:2:3:4:5:6"), _network("192.0.2.7"), _network("::ffff:192.0.2.7")
    ('2001:db8:1:2::', '192.0.2.7', '192.0.2.7')
    >>> _network("unix:")
    'unknown'
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "unknown"
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    network = ipaddress.ip_network((address, _PREFIX_OF_A_CUSTOMER), strict=False)
    return str(network.network_address)


WINDOW_SECONDS = 60


class Use(NamedTuple):
    """What a caller used of a limit, and when it begins anew."""

    total: int
    seconds_left: float


def count(what: str, who: str, amount: int = 1) -> Use:
    """Adds to what `who` did of `what`; 0 asks how much it is."""
    window, passed = divmod(time.time(), WINDOW_SECONDS)
    key = f"rate:{what}:{who}:{int(window)}"
    left = WINDOW_SECONDS - passed
    if amount == 0:
        return Use(int(cache.get(key, 0)), left)
    cache.add(key, 0, timeout=WINDOW_SECONDS * 2)
    try:
        return Use(int(cache.incr(key, amount)), left)
    except ValueError:  # it ended between the two calls
        return Use(amount, left)


def wait_for_requests(what: str, who: str, most: int, amount: int = 1) -> float:
    """Counts a request; seconds to wait where it is one too many, else 0. No limit for 0."""
    if not most:
        return 0.0
    use = count(what, who, amount)
    return use.seconds_left if use.total > most else 0.0


def wait_for_work(who: str, is_anonymous: bool) -> float:
    """Seconds to wait where all the work of this minute is spent, else 0."""
    most = (
        settings.WORK_ANONYMOUS_PER_MINUTE if is_anonymous else settings.WORK_SIGNED_IN_PER_MINUTE
    )
    if not most:
        return 0.0
    use = count("work", who, 0)
    return use.seconds_left if use.total >= most else 0.0


def count_work(who: str, units: int) -> None:
    """Adds work that was computed for a caller."""
    if units > 0:
        count("work", who, units)


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
_courtesy_lock = threading.Lock()


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
        with _courtesy_lock:
            _present.append(self)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Counts what was computed."""
        with _courtesy_lock:
            _present.remove(self)
            _uses.setdefault(self.who, _Use()).add(self._computed)
            if len(_uses) > MOST_CALLERS:
                by_use = sorted(_uses, key=_use_of)
                for who in by_use[: MOST_CALLERS // 2]:
                    del _uses[who]

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
        with _courtesy_lock:
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
