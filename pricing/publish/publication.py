"""The one way in: a batch is checked and published whole, held whole, or refused whole.

Bundled catalog and live refresh both come through `publish`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from django.db import transaction
from django.utils import timezone

from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import ProviderUnavailable
from pricing.models import HeldBatch, Revision
from pricing.publish import batch_checks
from pricing.publish.batch import Batch, by_reason, pack, unpack
from pricing.publish.changes import Changes, compare
from pricing.publish.signals import revision_published
from pricing.storage import bulk, reference, store
from pricing.storage.locks import provider_lock

_CLOCK_TOLERANCE = dt.timedelta(minutes=10)
_ATTEMPTS = 5
"""Times a batch is judged anew because another was published meanwhile."""


@dataclass(frozen=True)
class Publication:
    """What became of a batch."""

    provider: str
    outcome: str
    """published, held, or would_publish / would_hold of a dry run."""
    offers: int
    changes: Changes
    withheld: dict[str, dict[str, object]] = field(default_factory=dict)
    skipped: dict[str, dict[str, object]] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    revision: Revision | None = None
    held_batch: HeldBatch | None = None
    kept: int = 0
    """Offers that stayed in force with their own dates."""


def publish(
    batch: Batch, *, force: bool = False, dry_run: bool = False, today: dt.date | None = None
) -> Publication:
    """Check `batch` and publish it as the next revision, or hold it for review.

    Raises `AlreadyRunning` while the provider is refreshed elsewhere, `ProviderUnavailable`
    when no offer is left to publish. Nothing changes then.
    """
    with provider_lock(batch.provider):
        return publish_locked(batch, force=force, dry_run=dry_run, today=today)


def publish_locked(
    batch: Batch, *, force: bool = False, dry_run: bool = False, today: dt.date | None = None
) -> Publication:
    """`publish` for a caller that holds the provider's lock."""
    batch = replace(batch, offers=store.at_rest(batch.offers))
    day = today or timezone.now().date()
    with bulk.without_collector():
        for _ in range(_ATTEMPTS):
            done = _Attempt(batch, day, force).run(dry_run)
            if done is not None:
                return done
    raise ProviderUnavailable(
        batch.provider,
        "other revisions were published each time this one was about to be",
        "Run the refresh again when the others are through.",
    )


def release(held: HeldBatch, *, today: dt.date | None = None) -> Publication:
    """Publish a held batch as it was fetched, what is held being overruled by a person."""
    if held.state != HeldBatch.State.WAITING:
        raise InvalidInput("held_batch", f"{held} is not waiting; only a waiting one is released")
    batch = unpack(bytes(held.payload))
    with provider_lock(held.provider):
        return publish_locked(batch, force=True, today=today)


class _Attempt:
    """One judgement of a batch against the revision in force, and what follows from it."""

    def __init__(self, batch: Batch, today: dt.date, force: bool) -> None:
        self.batch = batch
        self.base = store.latest(batch.provider)
        self.previous = store.read(self.base) if self.base else []
        self.verdict = batch_checks.check(batch, self._in_force(), today, force=force)
        before = {stored.offer.id: stored.offer for stored in self.previous}
        self.changes = compare(before, self.verdict.offers)

    def _in_force(self) -> batch_checks.InForce:
        return batch_checks.InForce(
            offers=[stored.offer for stored in self.previous],
            as_of=self.base.as_of if self.base else None,
            origin=self.base.origin if self.base else "",
            exchange_rates=reference.exchange_rates(),
            known_regions=reference.region_names(self.batch.provider),
        )

    def run(self, dry_run: bool) -> Publication | None:
        """What became of the batch; None when another was published meanwhile."""
        if not any(offer.sold_now for offer in self.verdict.offers):
            raise ProviderUnavailable(
                self.batch.provider,
                f"nothing to publish: {len(self.batch.offers)} offers came and none passed",
                "What is published stays in force; see the rows withheld for the reasons.",
            )
        if dry_run:
            return self._told("would_hold" if self.verdict.reasons else "would_publish")
        return self._commit(self._hold if self.verdict.reasons else self._publish)

    def _commit(self, act: Callable[[], Publication]) -> Publication | None:
        with transaction.atomic():
            bulk.one_publisher_at_a_time()
            if store.latest(self.batch.provider) != self.base:
                return None
            return act()

    def _publish(self) -> Publication:
        revision = self._revision()
        store.write(revision, self.verdict.offers, self.previous)
        waiting = HeldBatch.objects.filter(
            provider=self.batch.provider, state=HeldBatch.State.WAITING
        )
        if waiting.exists():
            same = waiting.filter(digest=self.batch.digest)
            same.update(state=HeldBatch.State.RELEASED, revision=revision)
            waiting.update(state=HeldBatch.State.SUPERSEDED)
        transaction.on_commit(partial(revision_published.send_robust, Revision, revision=revision))
        return self._told("published", revision=revision)

    def _hold(self) -> Publication:
        digest = self.batch.digest
        known = HeldBatch.objects.filter(
            provider=self.batch.provider, state=HeldBatch.State.WAITING, digest=digest
        ).first()
        if known is not None:
            known.seen_again_at = timezone.now()
            known.save(update_fields=["seen_again_at"])
            return self._told("held", held_batch=known)
        held = HeldBatch.objects.create(
            provider=self.batch.provider,
            reasons=list(self.verdict.reasons),
            offer_count=len(self.batch.offers),
            digest=digest,
            payload=pack(self.batch),
        )
        return self._told("held", held_batch=held)

    def _revision(self) -> Revision:
        offers, changes = self.verdict.offers, self.changes
        sold = [offer.as_of for offer in offers if offer.sold_now]
        now = timezone.now()
        return Revision(
            provider=self.batch.provider,
            number=self.base.number + 1 if self.base else 1,
            # A clock that went back must not put a revision before the one it follows.
            published_at=max(now, self.base.published_at) if self.base else now,
            as_of=self.batch.as_of,
            origin=self.batch.origin,
            offer_count=len(offers),
            sold_count=len(sold),
            oldest_price_as_of=min((day for day in set(sold) if day), default=None),
            undated_prices=sold.count(None),
            added=changes.added,
            gone=changes.gone,
            dearer=changes.dearer,
            cheaper=changes.cheaper,
            changed=changes.changed,
            moves=[asdict(move) for move in changes.moves],
            skipped=by_reason(self.batch.skipped),
            withheld=by_reason(self.verdict.withheld),
            warnings=self._warnings(),
        )

    def _warnings(self) -> list[str]:
        warnings = [*self.batch.warnings]
        if self.base and self.base.published_at > timezone.now() + _CLOCK_TOLERANCE:
            warnings.append(
                f"the revision before was published at {self.base.published_at:%Y-%m-%d %H:%M},"
                " which our clock has not reached; check the clock"
            )
        reasons = dict.fromkeys(part.reason for part in self.batch.not_read)
        return warnings + [f"not read: {reason}" for reason in reasons]

    def _told(
        self,
        outcome: str,
        *,
        revision: Revision | None = None,
        held_batch: HeldBatch | None = None,
    ) -> Publication:
        return Publication(
            provider=self.batch.provider,
            outcome=outcome,
            offers=len(self.verdict.offers),
            changes=self.changes,
            withheld=by_reason(self.verdict.withheld),
            skipped=by_reason(self.batch.skipped),
            reasons=self.verdict.reasons,
            warnings=tuple(self._warnings()),
            revision=revision,
            held_batch=held_batch,
            kept=self.verdict.kept,
        )
