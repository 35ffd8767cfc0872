"""Pages are limited as the API is: so many a minute, and so much work for them."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from math import ceil

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from planner.services.fair_use.rates import wait_for_requests, wait_for_work
from planner.services.work_budget import payer_of


class FairUse:
    """Answers 429 to a visitor who asks for too much; the API counts its own requests."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/api/") and (wait := _wait(request)):
            return refuse(wait)
        return self.get_response(request)


def _wait(request: HttpRequest) -> float:
    is_anonymous = not request.user.is_authenticated
    most = settings.PAGES_ANONYMOUS_PER_MINUTE if is_anonymous else settings.PAGES_PER_MINUTE
    who = payer_of(request)
    return wait_for_requests("pages", who, most) or wait_for_work(who, is_anonymous)


def refuse(wait: float) -> HttpResponse:
    """A page that says when to come back."""
    seconds = ceil(wait)
    problem = (
        f"You asked for more than one visitor may within a minute. Come back in {seconds} seconds."
    )
    page = render_to_string("400.html", {"title": "Too many requests", "problem": problem})
    answer = HttpResponse(page, status=HTTPStatus.TOO_MANY_REQUESTS)
    answer["Retry-After"] = str(seconds)
    return answer
