"""How much a caller did within this minute: requests, and work that was computed for them.

Counted in Django's cache, which processes share where CACHE_URL names one.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache

WINDOW_SECONDS = 60
STORED_CHARACTERS = 200_000
"""What visitors of one address may leave in their visits within a minute. Visits lie in the
database for two weeks: without a limit one address fills 60 GB a day."""


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


def may_store(who: str, characters: int) -> bool:
    """Whether a visitor may leave so much more in their visit within this minute."""
    return not wait_for_requests("stored", who, STORED_CHARACTERS, characters)
