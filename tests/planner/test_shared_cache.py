"""The cache that processes share goes, and comes back: nothing fails, limits go on."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import ConnectionError as RedisGone

from planner import backends as shared_cache
from planner.backends import SharedCache
from planner.services.observability.readiness import check_readiness


class Clock:
    now = 1000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(shared_cache.time, "monotonic", lambda: Clock.now)
    monkeypatch.setattr(shared_cache._down_until, "moment", 0.0)
    return Clock()


def test_a_process_counts_by_itself_while_the_cache_is_down(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(_: Any, key: str, *args: Any, **kwargs: Any) -> Any:
        asked.append(key)
        raise RedisGone("nobody listens")

    for name in ("add", "incr", "get"):
        monkeypatch.setattr(RedisCache, name, refuse)
    cache = SharedCache("redis://127.0.0.1:1/0", {})
    cache.stand_in.clear()
    assert cache.add("visits", 0)
    assert [SharedCache("redis://127.0.0.1:1/0", {}).incr("visits") for _ in range(3)] == [1, 2, 3]
    assert asked == ["visits"], "it is left alone for a while"
    clock.__class__.now += 11
    assert cache.get("visits") == 3
    assert asked == ["visits", "visits"]


def test_no_server_is_waited_for_that_is_not_there(clock: Clock) -> None:
    cache = SharedCache("redis://127.0.0.1:1/0", {"OPTIONS": {"socket_connect_timeout": 1}})
    cache.set("a", 1)
    assert (cache.get("a"), cache.get_many(["a", "b"])) == (1, {"a": 1})
    cache.delete("a")
    assert cache.get("a") is None


@pytest.mark.django_db
def test_readiness_tells_of_the_cache_itself(clock: Clock, settings: Any) -> None:
    """And not of what stands in for it."""
    settings.CACHE_URL = "redis://127.0.0.1:1/0"
    settings.CACHES = {
        "default": {"BACKEND": "planner.backends.SharedCache", "LOCATION": settings.CACHE_URL}
    }
    for _ in range(2):
        check = check_readiness().checks["cache"]
        assert (check.state, check.required) == ("failed", False)


@pytest.mark.parametrize("name", ["stand-in", "default"])
def test_many_visitors_drop_no_count_of_one_another(clock: Clock, name: str) -> None:
    """Of Django's 300 entries a third goes at random when one more comes."""
    shared = SharedCache("redis://127.0.0.1:1/0", {})
    cache: Any = shared.stand_in if name == "stand-in" else caches["default"]
    cache.clear()
    for n in range(1_000):
        cache.add(f"visitor-{n}", 0)
    assert sum(cache.get(f"visitor-{n}") == 0 for n in range(1_000)) == 1_000
    cache.clear()
