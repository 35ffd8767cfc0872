"""Every request gets its budget of work, makes way, and stops where its client has left."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponse

from planner.costing.optimizer.work import WorkCancelledError
from planner.services.fair_use.addresses import client_address
from planner.services.fair_use.courtesy import Visit
from planner.services.fair_use.turns import TooBusyError
from planner.services.jobs.limits import COME_BACK_SECONDS
from planner.services.work_budget import (
    SOCKET,
    Budget,
    client_has_left,
    payer_of,
    spend_from,
)
from planner.web.fair_use import refuse

CLIENT_LEFT = 499
"""Status in the log of a request whose client had left, as nginx writes it."""


class WorkBudget:
    """What is computed for a request spends from one budget, that of who asks."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        has_left = partial(client_has_left, request.META) if SOCKET in request.META else None
        with Visit(client_address(request.META)) as visit:
            budget = Budget(
                is_signed_in=lambda: bool(request.user.is_authenticated),
                payer=partial(payer_of, request),
                is_cancelled=visit.look_up(has_left),
            )
            with spend_from(budget):
                try:
                    return self.get_response(request)
                finally:
                    budget.settle()

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Nobody reads the answer to a request whose client has left; one too many at once is
        told to come back."""
        if isinstance(exception, WorkCancelledError):
            return HttpResponse(status=CLIENT_LEFT)
        if isinstance(exception, TooBusyError):
            return refuse(COME_BACK_SECONDS)
        return None
