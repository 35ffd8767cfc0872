"""fetch → check → publish: brings providers up to date, side by side, each on its own.

Each provider is fetched in a thread of its own; this thread alone touches the database. One
provider's failure leaves the others, and its own last revision with its date, as they are.
"""

from __future__ import annotations

import datetime as dt
import errno
import logging
import os
import queue
import re
import sqlite3
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from pricing.common.words import pluralize
from pricing.ingest.fetch import FetchResult, fetch
from pricing.ingest.http import Secrets
from pricing.ingest.provider import FetchContext, Provider, ProviderUnavailable
from pricing.models import RefreshRun
from pricing.publish import batch as batches
from pricing.publish.batch import OfferBatch, ReasonCount
from pricing.publish.publication import Publication, publish_locked, refresh_ended
from pricing.revisions import HELD, Freshness
from pricing.storage import reference
from pricing.storage.bulk import AlreadyRunning, provider_lock

log = logging.getLogger(__name__)

DEADLINE_S = 3600.0
"""Longest time of a whole run, s."""
MAX_REASONS = 10
"""Parts that the message of a run names; the page of operators names all."""
_TICK_S = 0.2
"""How often this thread looks up from waiting, so that Ctrl-C is heard."""
REVIEW_HINT = (
    "What is published of it stays in force, all else is published. Release or reject it on the"
    " page /operator/, or refresh with --force."
)
DRY_RUN_HINT = (
    "Nothing was stored: without --dry-run these parts are quarantined for review and all else is"
    " published, with --force these too."
)
_HINTS = {"quarantined": REVIEW_HINT, "would_quarantine": DRY_RUN_HINT}
_DISK_FULL_TEXTS = ("disk is full", "no space left", "disk full", "disk quota")
_NOT_UNDERSTOOD = re.compile(
    r"unknown|unreadable|unclear|unit\b|price is|no (?:price|region|machine name|product name)"
    r"|two prices|several kinds|number of|accelerator count|size of|vCPUs|a part of the machine"
    r"|(?:reservation|savings plan|commitment) without|usage type contradicts|spot history"
)
"""Reasons for which rows were skipped that we could not read; the others are nothing that a plan
could use."""
MAX_IGNORED_SKEW_S = 600.0
"""Difference between two clocks that nobody needs to hear of, s."""
MAX_SKEW_S = 86_400.0
"""From this difference on, s, the day is uncertain and nothing is published."""


@dataclass(frozen=True)
class RefreshResult:
    provider: str
    outcome: str
    """published, quarantined, would_publish, would_quarantine, failed, busy or interrupted."""
    message: str = ""
    hint: str = ""
    publication: Publication | None = None


class Listener:
    """Who watches a run; this one watches nothing. Called from the providers' threads too."""

    def started(self, provider: str) -> None:
        return

    def progress(self, provider: str, what: str, done: int, total: int | None) -> None:
        return

    def finished(self, result: RefreshResult) -> None:
        return


@dataclass(frozen=True)
class RefreshOptions:
    regions: tuple[str, ...] = ()
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
    return _RefreshJob(options or RefreshOptions(), listener or Listener()).run(providers)


class _RefreshJob:
    def __init__(self, options: RefreshOptions, listener: Listener) -> None:
        self.options = options
        self.listener = listener
        self.results: list[RefreshResult] = []
        self.fetched: queue.Queue[tuple[str, FetchResult | BaseException]] = queue.Queue()
        self.cancelled = threading.Event()
        self.started = time.monotonic()
        self.deadline = self.started + options.deadline_s
        self.secrets = Secrets(dict(os.environ))
        self.records: dict[str, RefreshRun] = {}
        self.unfinished: set[str] = set()

    def run(self, providers: Sequence[Provider]) -> list[RefreshResult]:
        with ExitStack() as locks:
            locked_providers = [p for p in providers if self._acquire_lock(p, locks)]
            try:
                for provider in locked_providers:
                    self._start_provider(provider)
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
                # Record that a refresh begins, by the holder of the provider's lock: a run that
                # is still noted as running was killed.
                RefreshRun.objects.filter(provider=name, outcome=RefreshRun.Outcome.RUNNING).update(
                    outcome=RefreshRun.Outcome.INTERRUPTED,
                    finished_at=timezone.now(),
                    message="the process ended before the refresh did",
                )
                self.records[name] = RefreshRun.objects.create(provider=name)
            context = FetchContext(
                settings=dict(os.environ),
                retrieved_at=timezone.now(),
                regions=self.options.regions,
                known_regions=tuple(sorted(reference.listed_regions(name))),
                progress=partial(self.listener.progress, name),
                deadline=self.deadline,
                extra=self.options.extra,
            )
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

    def _fetch_provider(self, provider: Provider, context: FetchContext) -> None:
        try:
            outcome: FetchResult | BaseException = fetch(provider, context, self.cancelled)
        except BaseException as error:
            outcome = error
        self.fetched.put((provider.name, outcome))

    def _publish_fetched(self, name: str, outcome: FetchResult | BaseException) -> None:
        if not connection.in_atomic_block:
            close_old_connections()  # it may have been dropped while the provider was read
        if isinstance(outcome, BaseException):
            self._fail(name, outcome)
            return
        try:
            batch = adjust_for_clock_skew(
                OfferBatch(
                    provider=name,
                    offers=outcome.offers,
                    as_of=outcome.retrieved_at.astimezone(dt.UTC).date(),
                    skipped=outcome.skipped,
                    not_read=outcome.not_read,
                    regions=self.options.regions,
                ),
                outcome.server_time,
                outcome.ahead_s,
            )
            publication = publish_locked(
                batch,
                force=self.options.force,
                dry_run=self.options.dry_run,
                expected=batches.read_expected_offers,
            )
        except Exception as error:
            self._fail(name, error, "the publication")
        else:
            message, hint = _summarize(publication.reasons), _HINTS.get(publication.outcome, "")
            self._record_result(
                RefreshResult(name, publication.outcome, message, hint, publication)
            )

    def _fail(self, name: str, error: BaseException, where: str = "the adapter") -> None:
        what, hint = explain_failure(error, where)
        if not isinstance(error, ProviderUnavailable | ModuleNotFoundError):
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
            finish_run(record, result)
        self.results.append(result)
        self.listener.finished(result)


def _summarize(reasons: Sequence[str]) -> str:
    more = f"; and {len(reasons) - MAX_REASONS} more parts" if len(reasons) > MAX_REASONS else ""
    return "; ".join(reasons[:MAX_REASONS]) + more


def finish_run(run: RefreshRun, result: RefreshResult) -> None:
    """Record what came of a refresh. A database that cannot take it does not hide the result."""
    publication = result.publication
    run.outcome = result.outcome
    run.finished_at = timezone.now()
    run.message, run.remedy = result.message, result.hint
    if publication is not None:
        run.offer_count = publication.offers
        run.skipped_count = sum(row["count"] for row in publication.skipped.values())
        run.revision = publication.revision
    try:
        run.save()
    except DatabaseError:
        log.warning("%s: the outcome %s could not be recorded", run.provider, run.outcome)


def explain_failure(error: BaseException, where: str) -> tuple[str, str]:
    """(what happened, what to do) for an error in `where` that ended a refresh."""
    if isinstance(error, ProviderUnavailable):
        return error.what, error.hint
    text = f"{type(error).__name__}: {error}"
    if is_disk_full(error):
        return f"the disk is full ({text})", "Free disk space and refresh again."
    if isinstance(error, DatabaseError):
        return f"the database refused the revision ({text})", "Check the database; refresh again."
    if isinstance(error, ModuleNotFoundError):
        hint = "Install the extras of the clouds that you read: deploy/install aws azure gcp."
        return f"the package {error.name} is not installed", hint
    if isinstance(error, OSError):
        return text, "Check the file or the network and refresh again."
    return f"a defect in {where} ({text})", "Report it with the log; refresh again later."


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_disk_full(error: BaseException) -> bool:
    """Whether the system, PostgreSQL or SQLite says that there is no room."""
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return True
    return isinstance(error, DatabaseError | sqlite3.Error) and any(
        word in str(error).lower() for word in _DISK_FULL_TEXTS
    )


def to_dict(result: RefreshResult, freshness: Freshness | None) -> dict[str, Any]:
    publication = result.publication
    return {
        "provider": result.provider,
        "outcome": result.outcome,
        "message": result.message,
        "remedy": result.hint,
        "in_force": _published_dict(freshness),
        "revision": publication.revision.number if publication and publication.revision else None,
        "offers": publication.offers if publication else None,
        "quarantined": list(publication.reasons) if publication else [],
        "kept": publication.carried_over if publication else None,
        "changes": asdict(publication.changes) if publication else None,
        "skipped": publication.skipped if publication else {},
        "not_understood": find_not_understood(publication.skipped) if publication else [],
        "withheld": publication.rejected_rows if publication else {},
        "warnings": list(publication.warnings) if publication else [],
    }


def format_lines(result: RefreshResult, freshness: Freshness | None) -> Iterator[str]:
    """The result in words, the most important first."""
    publication = result.publication
    if publication is None:
        yield f"{result.provider}: {result.outcome}: {result.message}. {result.hint}"
        yield f"  in force: {_describe_published(freshness)}"
        return
    label = publication.outcome.replace("_", " ")
    if publication.revision is not None:
        label = f"published revision {publication.revision.number} of {publication.revision.as_of}"
    carried = publication.carried_over
    unread = f", {carried:,} of them carried over unread" if carried else ""
    yield f"{result.provider}: {label}: {pluralize(publication.offers, 'offer')}{unread}"
    names = ("added", "gone", "dearer", "cheaper", "changed", "unchanged")
    yield "  " + ", ".join(f"{getattr(publication.changes, name):,} {name}" for name in names)
    for reason in publication.reasons:
        yield f"  quarantined: {reason}"
    if publication.reasons:
        yield f"  in force: {_describe_published(freshness)}. {result.hint}"
    for move in publication.changes.moves:
        yield (
            f"  {move.offer_id}: {move.before} → {move.after} {move.currency}/h"
            f" (× {move.ratio:.3g})"
        )
    odd = find_not_understood(publication.skipped)
    rest = [reason for reason in publication.skipped if reason not in odd]
    for label, reasons in (("not understood", odd), ("left out on purpose", rest)):
        yield from _format_reasons(label, {name: publication.skipped[name] for name in reasons})
    yield from _format_reasons("rejected", publication.rejected_rows)
    for warning in publication.warnings:
        if not warning.startswith(HELD):
            yield f"  warning: {warning}"


def _format_reasons(label: str, reasons: Mapping[str, ReasonCount]) -> Iterator[str]:
    for reason, row in reasons.items():
        examples = ", ".join(list(row["examples"])[:3])
        rows = pluralize(row["count"], "row")
        yield f"  {label}: {reason}: {rows}{f' ({examples})' if examples else ''}"


def _published_dict(freshness: Freshness | None) -> dict[str, Any] | None:
    if freshness is None or freshness.revision is None:
        return None
    names = ("revision", "as_of", "oldest_price_as_of", "age_days", "level")
    return {name: getattr(freshness, name) for name in names}


def _describe_published(freshness: Freshness | None) -> str:
    if freshness is None or freshness.revision is None:
        return "nothing; this provider has no published prices"
    age = (
        "of unknown age"
        if freshness.age_days is None
        else f"of {freshness.oldest_price_as_of}, {pluralize(freshness.age_days, 'day')} old"
    )
    return f"revision {freshness.revision}, read on {freshness.as_of}, oldest price {age}"


def find_not_understood(reasons: Iterable[str]) -> list[str]:
    """Those of `reasons` for which a price may be missing; the others are left out on purpose.

    >>> find_not_understood(["Windows", "unknown accelerator", "unit is not an hour"])
    ['unknown accelerator', 'unit is not an hour']
    """
    return [reason for reason in reasons if _NOT_UNDERSTOOD.match(reason)]


def adjust_for_clock_skew(
    batch: OfferBatch, server_time: dt.datetime | None, ahead_s: float
) -> OfferBatch:
    """`batch` dated by the earlier of the provider's clock and ours, which is `ahead_s` before it,
    with a warning where they differ; `ProviderUnavailable` where they differ by a day or more.

    Offers that carry the batch's day, or a later one, are dated with it.
    """
    if server_time is None or abs(ahead_s) <= MAX_IGNORED_SKEW_S:
        return batch
    hours, minutes = divmod(round(abs(ahead_s) / 60), 60)
    skew = (
        f"{f'{hours} h ' if hours else ''}{minutes} min {'ahead of' if ahead_s > 0 else 'behind'}"
    )
    if abs(ahead_s) >= MAX_SKEW_S:
        raise ProviderUnavailable(
            batch.provider,
            f"our clock is {skew} the provider's, which says {server_time:%Y-%m-%d %H:%M}",
            "Set the clock of this machine and refresh again.",
        )
    day = min(batch.as_of, server_time.astimezone(dt.UTC).date())
    warning = f"our clock is {skew} the provider's; prices are dated {day}, the earlier day"
    offers = tuple(replace(o, as_of=day) if o.as_of and o.as_of > day else o for o in batch.offers)
    return replace(batch, as_of=day, offers=offers, warnings=(*batch.warnings, warning))
