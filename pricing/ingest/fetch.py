"""One provider read to the end, or not at all. Runs in a thread; no database here."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pricing.ingest.provider import FetchContext, NotRead, Provider, RunStopped, SkippedRow
from pricing.market.offers import Offer


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
    unchanged: tuple[str, ...] = ()
    """Names of pages that were not fetched again because they have not changed."""


def fetch(
    provider: Provider,
    context: FetchContext,
    cancelled: threading.Event | None = None,
    now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
) -> FetchResult:
    """Everything `provider` gives; `ProviderUnavailable` once the deadline has passed."""
    times: list[ServerTime] = []
    unchanged: list[str] = []

    def note_server_time(seen: dt.datetime) -> None:
        seen_utc = seen if seen.tzinfo else seen.replace(tzinfo=dt.UTC)
        times.append(ServerTime(seen_utc, now()))

    offers: list[Offer] = []
    skipped: list[SkippedRow] = []
    not_read: list[NotRead] = []
    for item in provider.fetch(
        replace(context, server_time=note_server_time, unchanged=unchanged.append)
    ):
        _check_may_continue(provider.name, context, cancelled)
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
        tuple(offers),
        tuple(skipped),
        tuple(not_read),
        context.retrieved_at,
        tuple(times),
        tuple(unchanged),
    )


def _check_may_continue(
    name: str, context: FetchContext, cancelled: threading.Event | None
) -> None:
    if cancelled is not None and cancelled.is_set():
        raise Cancelled(f"{name}: the run was stopped")
    if context.deadline is not None and time.monotonic() > context.deadline:
        raise RunStopped(
            name,
            "the run's deadline passed while it was read",
            "Try again when the network is faster, or limit it with --region.",
        )
