"""Rate limits: so many requests and so much work a minute, and when to come back."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from planner.api.authentication import access_of_request
from planner.services.fair_use.addresses import client_address
from planner.services.fair_use.rates import wait_for_requests, wait_for_work


class PerMinute(BaseThrottle):
    """Counts a caller's requests in windows of a minute; 0 in the settings means no limit.

    A view that computes much counts as several requests (`throttle_cost`), and asks whether the
    caller has work left.
    """

    def __init__(self) -> None:
        self._wait = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        access = access_of_request(request)
        is_anonymous = access.is_anonymous
        who = client_address(request.META) if is_anonymous else access.key
        most = (
            settings.API_ANONYMOUS_REQUESTS_PER_MINUTE
            if is_anonymous
            else settings.API_REQUESTS_PER_MINUTE
        )
        cost = getattr(view, "throttle_cost", 1)
        self._wait = wait_for_requests("api", who, most, cost)
        if not self._wait and cost > 1:
            self._wait = wait_for_work(who, is_anonymous)
        return not self._wait

    def wait(self) -> float:
        return self._wait
