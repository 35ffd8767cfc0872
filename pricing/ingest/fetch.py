from __future__ import annotations

import datetime as dt
import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TypeVar

from pricing.ingest.http import AccessDenied
from pricing.ingest.provider import (
    FetchContext,
    NotRead,
    Provider,
    ProviderUnavailable,
    RunStopped,
    SkippedRow,
)
from pricing.market.offers import Offer

log = logging.getLogger(__name__)


T = TypeVar("T")
R = TypeVar("R")


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


@dataclass(frozen=True)
class FetchResult:
    offers: tuple[Offer, ...]
    skipped: tuple[SkippedRow, ...]
    not_read: tuple[NotRead, ...]
    retrieved_at: dt.datetime
    server_time: dt.datetime | None = None
    """What a `Date` header said when it was farthest from our clock."""
    ahead_s: float = 0.0
    """Seconds by which our clock was ahead of it."""


def fetch(
    provider: Provider, context: FetchContext, cancelled: threading.Event | None = None
) -> FetchResult:
    """Everything `provider` gives; `ProviderUnavailable` once the deadline has passed."""
    readings: list[tuple[float, dt.datetime]] = []

    def note_server_time(seen: dt.datetime) -> None:
        seen_utc = seen if seen.tzinfo else seen.replace(tzinfo=dt.UTC)
        readings.append(((dt.datetime.now(dt.UTC) - seen_utc).total_seconds(), seen_utc))

    offers: list[Offer] = []
    skipped: list[SkippedRow] = []
    not_read: list[NotRead] = []
    for item in provider.fetch(replace(context, server_time=note_server_time)):
        if cancelled is not None and cancelled.is_set():
            raise RunStopped(provider.name, "it was stopped", "Run it again.")
        if context.deadline is not None and time.monotonic() > context.deadline:
            raise RunStopped(
                provider.name,
                "the run's deadline passed while it was read",
                "Try again when the network is faster, or limit it with --region.",
            )
        match item:
            case Offer():
                offers.append(item)
            case SkippedRow():
                skipped.append(item)
            case NotRead():
                not_read.append(item)
            case _:  # an adapter outside this repository, which no type checker has seen
                raise TypeError(f"{provider.name} gave a {type(item).__name__} instead of an offer")
    ahead_s, seen = max(readings, key=lambda one: abs(one[0]), default=(0.0, None))
    rows = tuple(offers), tuple(skipped), tuple(not_read)
    return FetchResult(*rows, context.retrieved_at, seen, ahead_s)


def map_side_by_side(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """`function` of each item in order, at most `workers` at once.

    An exception is raised when its item's turn comes; nothing is begun after that. The threads
    are daemons, which those of an executor are not: a run that is stopped does not wait for them.

    >>> list(map_side_by_side(str.upper, ["a", "b"], workers=2))
    ['A', 'B']
    """
    calls: list[tuple[T, Future[R]]] = [(item, Future()) for item in items]
    waiting = deque(calls)

    def work() -> None:
        while True:
            try:
                item, future = waiting.popleft()
            except IndexError:
                return
            try:
                future.set_result(function(item))
            except BaseException as error:
                future.set_exception(error)

    for _ in range(min(workers, len(calls))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _, future in calls:
            yield future.result()
    finally:
        waiting.clear()
