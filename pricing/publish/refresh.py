"""fetch → check → publish: brings providers up to date, side by side, each on its own.

Each provider is fetched in a thread of its own; this thread alone touches the database. One
provider's failure leaves the others, and its own last revision with its date, as they are.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
import queue
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from django.db import close_old_connections, connection
from django.utils import timezone

from pricing.ingest.endpoints import Secrets
from pricing.ingest.fetch import Cancelled, FetchResult, fetch
from pricing.ingest.provider import FetchContext, Provider, ProviderUnavailable
from pricing.ingest.recording import make_recorder, make_replayer, read_recording_time
from pricing.models import RefreshRun
from pricing.publish import clock_skew, expected_market, refresh_runs
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish_locked
from pricing.publish.refresh_result import RefreshResult
from pricing.publish.signals import refresh_ended
from pricing.storage import reference
from pricing.storage.locks import AlreadyRunning, provider_lock

log = logging.getLogger(__name__)

DEADLINE_S = 3600.0
"""Longest time of a whole run, s."""
_TICK_S = 0.2
"""How often this thread looks up from waiting, so that Ctrl-C is heard."""


class Listener(Protocol):
    """Who watches a run. Called from the providers' threads too."""

    def started(self, provider: str) -> None: ...

    def progress(self, provider: str, what: str, done: int, total: int | None) -> None: ...

    def finished(self, result: RefreshResult) -> None: ...


class SilentListener:
    """Watches nothing."""

    def started(self, provider: str) -> None:
        return

    def progress(self, provider: str, what: str, done: int, total: int | None) -> None:
        return

    def finished(self, result: RefreshResult) -> None:
        return


@dataclass(frozen=True)
class RefreshOptions:
    """How a run is to be done."""

    regions: tuple[str, ...] = ()
    replay_from: Path | None = None
    record_to: Path | None = None
    dry_run: bool = False
    force: bool = False
    deadline_s: float = DEADLINE_S
    extra: dict[str, object] = field(default_factory=dict)


def refresh(
    providers: Sequence[Provider],
    options: RefreshOptions | None = None,
    listener: Listener | None = None,
) -> list[RefreshResult]:
    """Refresh `providers` and return the result of each, in the order in which they ended.

    Ctrl-C ends the run: providers that have finished stay published, the others are reported
    as interrupted and keep their last revision.
    """
    return _RefreshJob(options or RefreshOptions(), listener or SilentListener()).run(providers)


class _RefreshJob:
    def __init__(self, options: RefreshOptions, listener: Listener) -> None:
        self.options = options
        self.listener = listener
        self.results: list[RefreshResult] = []
        self.fetched: queue.Queue[tuple[str, FetchResult | BaseException]] = queue.Queue()
        self.cancelled = threading.Event()
        self.started = time.monotonic()
        self.deadline = self.started + options.deadline_s
        self.secrets = Secrets.from_settings(dict(os.environ))
        self.records: dict[str, RefreshRun] = {}
        self.unfinished: set[str] = set()

    def run(self, providers: Sequence[Provider]) -> list[RefreshResult]:
        with ExitStack() as locks:
            locked_providers = [p for p in providers if self._acquire_lock(p, locks)]
            try:
                for provider in locked_providers:
                    self._start_provider(provider)
                self._collect_results()
            except KeyboardInterrupt:
                self._abort("interrupted", "stopped by the operator", "Run it again.")
            finally:
                self.cancelled.set()
        if not self.options.dry_run:
            refresh_ended.send_robust(sender=type(self), results=tuple(self.results))
        return self.results

    def _acquire_lock(self, provider: Provider, locks: ExitStack) -> bool:
        try:
            locks.enter_context(provider_lock(provider.name))
        except AlreadyRunning as error:
            hint = "Wait until the other refresh has finished."
            self._record_result(RefreshResult(provider.name, "busy", str(error), hint))
            return False
        return True

    def _start_provider(self, provider: Provider) -> None:
        name = provider.name
        self.unfinished.add(name)
        self.listener.started(name)
        try:
            if not self.options.dry_run:
                self.records[name] = refresh_runs.start_run(name)
            context = self._context(name)
        except Exception as error:
            self._fail(name, error, "the start of the refresh")
            return
        thread = threading.Thread(
            target=self._fetch_provider,
            args=(provider, context),
            name=f"refresh-{name}",
            daemon=True,
        )
        thread.start()

    def _context(self, name: str) -> FetchContext:
        options, now = self.options, timezone.now()
        is_replay = options.replay_from is not None
        read_at = read_recording_time(options.replay_from, name) if options.replay_from else now
        record_to = options.record_to
        return FetchContext(
            settings=dict(os.environ),
            retrieved_at=read_at,
            regions=options.regions,
            known_regions=tuple(sorted(reference.listed_regions(name))),
            progress=partial(self.listener.progress, name),
            deadline=None if is_replay else self.deadline,
            record=make_recorder(record_to, name, read_at) if record_to else None,
            replay=make_replayer(options.replay_from, name) if options.replay_from else None,
            extra=options.extra,
        )

    def _fetch_provider(self, provider: Provider, context: FetchContext) -> None:
        """In the provider's thread: whatever happens is handed to the thread that waits."""
        try:
            outcome: FetchResult | BaseException = fetch(provider, context, self.cancelled)
        except BaseException as error:
            outcome = error
        self.fetched.put((provider.name, outcome))

    def _collect_results(self) -> None:
        while self.unfinished:
            try:
                name, outcome = self.fetched.get(timeout=_TICK_S)
            except queue.Empty:
                if time.monotonic() > self.deadline:
                    what = f"the run's deadline of {self.options.deadline_s:g} s passed"
                    self._abort("failed", what, "Try again, or limit it with --region.")
                continue
            if name in self.unfinished:
                self._publish_fetched(name, outcome)

    def _publish_fetched(self, name: str, outcome: FetchResult | BaseException) -> None:
        if not connection.in_atomic_block:
            close_old_connections()  # it may have been dropped while the provider was read
        if isinstance(outcome, BaseException):
            self._fail(name, outcome)
            return
        try:
            batch = clock_skew.adjust_for_clock_skew(
                self._build_batch(name, outcome), outcome.server_times
            )
            publication = publish_locked(
                batch,
                force=self.options.force,
                dry_run=self.options.dry_run,
                expected=expected_market.read_expected_offers,
            )
        except Exception as error:
            self._fail(name, error, "the publication")
        else:
            message = "; ".join(publication.reasons)
            hint = refresh_runs.hint_for(publication.outcome)
            self._record_result(
                RefreshResult(
                    name, publication.outcome, message, hint, publication, outcome.unchanged
                )
            )

    def _build_batch(self, name: str, fetched: FetchResult) -> OfferBatch:
        return OfferBatch(
            provider=name,
            offers=fetched.offers,
            as_of=fetched.retrieved_at.astimezone(dt.UTC).date(),
            origin="replayed" if self.options.replay_from else "live",
            skipped=fetched.skipped,
            not_read=fetched.not_read,
            regions=self.options.regions,
        )

    def _fail(self, name: str, error: BaseException, where: str = "the adapter") -> None:
        what, hint = refresh_runs.explain_failure(error, where)
        if not isinstance(error, ProviderUnavailable | Cancelled):
            traceback_text = "".join(traceback.format_exception(error))
            log.error("%s: %s", name, self.secrets.scrub(traceback_text))
        self._record_result(
            RefreshResult(name, "failed", self.secrets.scrub(what), self.secrets.scrub(hint))
        )

    def _abort(self, outcome: str, message: str, hint: str) -> None:
        self.cancelled.set()
        for name in sorted(self.unfinished):
            self._record_result(RefreshResult(name, outcome, message, hint))

    def _record_result(self, result: RefreshResult) -> None:
        self.unfinished.discard(result.provider)
        record = self.records.pop(result.provider, None)
        if record is not None:
            refresh_runs.finish_run(record, result)
        self.results.append(result)
        self.listener.finished(result)
