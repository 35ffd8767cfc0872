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


class Cancelled(Exception):  # noqa: N818 - it is asked for, not an error
    """The run was stopped while this provider was read."""


@dataclass(frozen=True)
class ServerTime:
    """What a provider's `Date` header said, and what our clock said at that moment."""

    server_time: dt.datetime
    local_time: dt.datetime

    @property
    def ahead_s(self) -> float:
        """Seconds by which our clock is ahead of theirs."""
        return (self.local_time - self.server_time).total_seconds()


@dataclass(frozen=True)
class FetchResult:
    """All that one fetch brought."""

    offers: tuple[Offer, ...]
    skipped: tuple[SkippedRow, ...]
    not_read: tuple[NotRead, ...]
    retrieved_at: dt.datetime
    server_times: tuple[ServerTime, ...] = ()


def fetch(
    provider: Provider,
    context: FetchContext,
    cancelled: threading.Event | None = None,
    now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
) -> FetchResult:
    """Everything `provider` gives; `ProviderUnavailable` once the deadline has passed."""
    times: list[ServerTime] = []

    def note_server_time(seen: dt.datetime) -> None:
        seen_utc = seen if seen.tzinfo else seen.replace(tzinfo=dt.UTC)
        times.append(ServerTime(seen_utc, now()))

    offers: list[Offer] = []
    skipped: list[SkippedRow] = []
    not_read: list[NotRead] = []
    for item in provider.fetch(replace(context, server_time=note_server_time)):
        if cancelled is not None and cancelled.is_set():
            raise Cancelled(f"{provider.name}: the run was stopped")
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
    return FetchResult(
        tuple(offers), tuple(skipped), tuple(not_read), context.retrieved_at, tuple(times)
    )


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
