"""Rate limits: so many requests a minute, and when to come back."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from planner.api.authentication import access_of_request

WINDOW_SECONDS = 60


class PerMinute(BaseThrottle):
    """Counts a caller's requests in windows of a minute; 0 in the settings means no limit.

    A view that computes much counts as several requests (`throttle_cost`).
    """

    def __init__(self) -> None:
        self._wait = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        access = access_of_request(request)
        limit = (
            settings.API_ANONYMOUS_REQUESTS_PER_MINUTE
            if access.is_anonymous
            else settings.API_REQUESTS_PER_MINUTE
        )
        if not limit:
            return True
        who = f"ip:{self.get_ident(request)}" if access.is_anonymous else access.key
        return self._count(who, getattr(view, "throttle_cost", 1)) <= limit

    def _count(self, who: str, cost: int) -> int:
        window, passed = divmod(time.time(), WINDOW_SECONDS)
        self._wait = WINDOW_SECONDS - passed
        key = f"rate:{who}:{int(window)}"
        cache.add(key, 0, timeout=WINDOW_SECONDS * 2)
        try:
            return int(cache.incr(key, cost))
        except ValueError:
            return cost

    def wait(self) -> float:
        return self._wait
