"""The cache that several servers share (CACHE_URL), and what stands in while it is down.

Limits are counted in it. Without it each process counts by itself, so that a request is slower to
be refused and none fails.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
MAX_ENTRIES = 100_000
"""Counts that a process keeps; with fewer, many visitors would drop each other's."""
TRY_AGAIN_SECONDS = 10.0
"""For how long a cache that failed is left alone."""
_METHODS = (
    *("add", "get", "set", "touch", "delete", "incr", "has_key"),
    *("get_many", "set_many", "delete_many", "clear"),
)


def _with_stand_in(name: str) -> Callable[..., Any]:
    """The method of Redis, and that of the process's own cache where Redis fails."""

    def call(self: SharedCache, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= self.down_until:
            try:
                return getattr(RedisCache, name)(self, *args, **kwargs)
            except (RedisError, OSError) as failure:
                self.note_failure(failure)
        return getattr(self.stand_in, name)(*args, **kwargs)

    return call


class SharedCache(RedisCache):
    """Redis; while it does not answer, a cache of this process."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.stand_in = LocMemCache("stand-in", {"OPTIONS": {"MAX_ENTRIES": MAX_ENTRIES}})

    def check(self) -> None:
        """Asks Redis itself, also while something stands in. Raises what it raises."""
        RedisCache.get(self, "readiness")

    @property
    def down_until(self) -> float:
        return _down_until.moment

    def note_failure(self, failure: Exception) -> None:
        with _down_until.lock:
            if time.monotonic() >= _down_until.moment:
                logger.warning("The cache does not answer, so this process counts: %s", failure)
            _down_until.moment = time.monotonic() + TRY_AGAIN_SECONDS


class _DownUntil:
    """Shared by all threads, each of which has a cache object of its own."""

    def __init__(self) -> None:
        self.moment = 0.0
        self.lock = threading.Lock()


_down_until = _DownUntil()
for _name in _METHODS:
    setattr(SharedCache, _name, _with_stand_in(_name))
