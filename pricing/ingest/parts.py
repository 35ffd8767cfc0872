"""Optional parts of a provider: each is read whole, or not at all and said so.

A region, or a part such as spot, that fails must not take the rest with it. What was read of
it before it failed is dropped, so that no part is half new and half old.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from pricing.ingest.failures import AccessDenied
from pricing.ingest.provider import NotRead, ProviderUnavailable, RunStopped

log = logging.getLogger(__name__)

T = TypeVar("T")

PART_ERRORS = (
    *(ProviderUnavailable, ArithmeticError, AttributeError, LookupError),
    *(TypeError, ValueError),
)
"""How a part fails: what the client raises, and what an answer of another form raises."""


def read_part(part: NotRead, read: Callable[[], Iterable[T]]) -> Iterator[T | NotRead]:
    """All rows of `read`, or `part` with the cause added to its reason.

    `RunStopped` passes through.
    """
    try:
        rows = list(read())
    except PART_ERRORS as error:
        yield explain_unread(part, error)
    else:
        yield from rows


def explain_unread(part: NotRead, error: Exception) -> NotRead:
    """`part` with what happened; raises `RunStopped` again."""
    if isinstance(error, RunStopped):
        raise error
    if isinstance(error, AccessDenied):
        return replace(part, reason=f"{part.reason}: {error.what}. {error.hint}")
    if isinstance(error, ProviderUnavailable):
        return replace(part, reason=f"{part.reason}: {error.what}")
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s: %s\n%s", part.reason, type(error).__name__, frames)
    return replace(part, reason=f"{part.reason}: the answer is not understood")
