"""The services' refusals about state, as the problem details of every other refusal."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response

from planner.services.errors import StaleError, WrongStateError
from pricing import rest


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(exc, WrongStateError):
        exc = rest.Conflict(str(exc))
    elif isinstance(exc, StaleError):
        exc = rest.PreconditionFailed()
    return rest.exception_handler(exc, context)
