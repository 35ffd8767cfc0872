"""The one way in: a batch is checked and published whole, held whole, or refused whole.

Bundled catalog and live refresh both come through `publish`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from django.db import transaction
from django.utils import timezone

from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import ProviderUnavailable
from pricing.market.offers import Offer
from pricing.models import HeldBatch, QuarantinedPrice, Revision
from pricing.publish import batch_checks, quarantined_prices
from pricing.publish.batch import OfferBatch, ReasonCount, group_by_reason, pack, unpack
from pricing.publish.changes import Changes, compare_offers
from pricing.publish.outliers import Outlier
from pricing.publish.signals import revision_published
from pricing.revisions import LEFT, NOT_READ
from pricing.storage import bulk, reference, store
from pricing.storage.locks import provider_lock

ExpectedOffers = Callable[[str], Sequence[Offer]]
"""provider → offers."""
_CLOCK_TOLERANCE = dt.timedelta(minutes=10)
_MAX_ATTEMPTS = 5
"""Times a batch is judged anew because another was published meanwhile."""


@dataclass(frozen=True)
class Publication:
    """What became of a batch."""

    provider: str
    outcome: str
    """published, held, or would_publish / would_hold of a dry run."""
    offers: int
    changes: Changes
    rejected_rows: dict[str, ReasonCount] = field(default_factory=dict)
    skipped: dict[str, ReasonCount] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    revision: Revision | None = None
    held_batch: HeldBatch | None = None
    carried_over: int = 0
    """Offers that stayed in force with their own dates."""
    outliers: tuple[Outlier, ...] = ()
    """Prices that were quarantined alone."""
    new_outliers: int = 0
    """Those of them that no earlier refresh brought."""


def publish(
    batch: OfferBatch, *, force: bool = False, dry_run: bool = False, today: dt.date | None = None
) -> Publication:
    """Check `batch` and publish it as the next revision, or hold it for review.

    Raises `AlreadyRunning` while the provider is refreshed elsewhere, `ProviderUnavailable`
    when no offer is left to publish. Nothing changes then.
    """
    with provider_lock(batch.provider):
        return publish_locked(batch, force=force, dry_run=dry_run, today=today)


def publish_locked(
    batch: OfferBatch,
    *,
    force: bool = False,
    dry_run: bool = False,
    today: dt.date | None = None,
    expected: ExpectedOffers = lambda _provider: [],
    released: Sequence[QuarantinedPrice] = (),
) -> Publication:
    """`publish` for a caller that holds the provider's lock.

    `expected` gives what the batch is held against where nothing is published yet; `released`
    are the quarantined prices that `batch` puts into what is in force.
    """
    batch = replace(batch, offers=store.to_stored_precision(batch.offers))
    day = today or timezone.now().date()
    with bulk.pause_garbage_collection():
        for _ in range(_MAX_ATTEMPTS):
            publication = _PublicationAttempt(batch, day, force, expected, released).run(dry_run)
            if publication is not None:
                return publication
    raise ProviderUnavailable(
        batch.provider,
        "other revisions were published each time this one was about to be",
        "Run the refresh again when the others have finished.",
    )


def release(held_batch: HeldBatch, *, today: dt.date | None = None) -> Publication:
    """Publish a held batch as it was fetched, what is held being overruled by a person."""
    if held_batch.state != HeldBatch.State.WAITING:
        raise InvalidInput(
            "held_batch", f"{held_batch} is not waiting; only a waiting one is released"
        )
    batch = unpack(bytes(held_batch.payload))
    with provider_lock(held_batch.provider):
        return publish_locked(batch, force=True, today=today)


def release_prices(
    rows: Sequence[QuarantinedPrice], *, today: dt.date | None = None
) -> Publication:
    """Publish quarantined prices of one provider beside all else that is in force of it."""
    provider = quarantined_prices.provider_of(rows)
    with provider_lock(provider):
        batch = quarantined_prices.build_release(rows)
        return publish_locked(batch, force=True, today=today, released=rows)


class _PublicationAttempt:
    """One judgement of a batch against the revision in force, and what follows from it."""

    def __init__(
        self,
        batch: OfferBatch,
        today: dt.date,
        force: bool,
        expected: ExpectedOffers,
        released: Sequence[QuarantinedPrice] = (),
    ) -> None:
        self.batch = batch
        self.released = released
        self.new_outliers = 0
        self.expected = expected
        self.current_revision = store.latest(batch.provider)
        self.stored_offers = (
            store.read_stored_offers(self.current_revision) if self.current_revision else []
        )
        self.check_result = batch_checks.check(
            batch, self._load_published_state(), today, force=force
        )
        before = {stored.offer.id: stored.offer for stored in self.stored_offers}
        self.changes = compare_offers(before, self.check_result.offers)

    def _load_published_state(self) -> batch_checks.PublishedState:
        return batch_checks.PublishedState(
            offers=[stored.offer for stored in self.stored_offers],
            as_of=self.current_revision.as_of if self.current_revision else None,
            origin=self.current_revision.origin if self.current_revision else "",
            expected=[] if self.current_revision else self.expected(self.batch.provider),
            exchange_rates=reference.exchange_rates(),
            known_regions=reference.region_names(self.batch.provider),
            read_ranges=store.read_price_ranges,
        )

    def run(self, dry_run: bool) -> Publication | None:
        """What became of the batch; None when another was published meanwhile."""
        if not any(offer.sold_now for offer in self.check_result.offers):
            raise ProviderUnavailable(
                self.batch.provider,
                f"nothing to publish: {len(self.batch.offers)} offers came and none passed",
                "Published prices stay in force; the rejected rows give the reasons.",
            )
        if dry_run:
            return self._build_publication(
                "would_hold" if self.check_result.reasons else "would_publish"
            )
        return self._commit(self._quarantine if self.check_result.reasons else self._publish)

    def _commit(self, write: Callable[[], Publication]) -> Publication | None:
        with transaction.atomic():
            bulk.lock_publishing()
            if store.latest(self.batch.provider) != self.current_revision:
                return None
            return write()

    def _publish(self) -> Publication:
        revision = self._build_revision()
        store.write_revision(revision, self.check_result.offers, self.stored_offers)
        if self.released:
            quarantined_prices.mark_released(self.released, revision)
            return self._announce(revision)
        self.new_outliers = quarantined_prices.record(
            self.batch.provider, self.check_result.outliers, self.batch.offers
        )
        waiting_batches = HeldBatch.objects.filter(
            provider=self.batch.provider, state=HeldBatch.State.WAITING
        )
        if waiting_batches.exists():
            matching_batches = waiting_batches.filter(digest=self.batch.digest)
            matching_batches.update(state=HeldBatch.State.RELEASED, revision=revision)
            waiting_batches.update(state=HeldBatch.State.SUPERSEDED)
        return self._announce(revision)

    def _announce(self, revision: Revision) -> Publication:
        transaction.on_commit(partial(revision_published.send_robust, Revision, revision=revision))
        return self._build_publication("published", revision=revision)

    def _quarantine(self) -> Publication:
        digest = self.batch.digest
        waiting_batch = HeldBatch.objects.filter(
            provider=self.batch.provider, state=HeldBatch.State.WAITING, digest=digest
        ).first()
        if waiting_batch is not None:
            waiting_batch.seen_again_at = timezone.now()
            waiting_batch.save(update_fields=["seen_again_at"])
            return self._build_publication("held", held_batch=waiting_batch)
        held_batch = HeldBatch.objects.create(
            provider=self.batch.provider,
            reasons=list(self.check_result.reasons),
            offer_count=len(self.batch.offers),
            digest=digest,
            payload=pack(self.batch),
        )
        return self._build_publication("held", held_batch=held_batch)

    def _build_revision(self) -> Revision:
        offers, changes = self.check_result.offers, self.changes
        sold_dates = [offer.as_of for offer in offers if offer.sold_now]
        now = timezone.now()
        return Revision(
            provider=self.batch.provider,
            number=self.current_revision.number + 1 if self.current_revision else 1,
            # A clock that went back must not put a revision before the one it follows.
            published_at=max(now, self.current_revision.published_at)
            if self.current_revision
            else now,
            as_of=self.batch.as_of,
            origin=self.batch.origin,
            offer_count=len(offers),
            sold_count=len(sold_dates),
            oldest_price_as_of=min((day for day in set(sold_dates) if day), default=None),
            undated_prices=sold_dates.count(None),
            added=changes.added,
            gone=changes.gone,
            dearer=changes.dearer,
            cheaper=changes.cheaper,
            changed=changes.changed,
            moves=[asdict(move) for move in changes.moves],
            **self._describe_reading(),
        )

    def _describe_reading(self) -> dict[str, object]:
        """What was read and what was not: as it was where only single prices are released."""
        if self.released and self.current_revision:
            before = self.current_revision
            warnings = [*before.warnings, *(f"released: {row.offer_id}" for row in self.released)]
            return {"skipped": before.skipped, "withheld": before.withheld, "warnings": warnings}
        return {
            "skipped": group_by_reason(self.batch.skipped),
            "withheld": group_by_reason(self.check_result.rejected_rows),
            "warnings": self._collect_warnings(),
        }

    def _collect_warnings(self) -> list[str]:
        warnings = [*self.batch.warnings]
        before = self.current_revision
        if before and before.published_at > timezone.now() + _CLOCK_TOLERANCE:
            warnings.append(
                f"the previous revision was published at {before.published_at:%Y-%m-%d %H:%M},"
                " which is in the future by our clock; check the clock"
            )
        reasons = dict.fromkeys(part.reason for part in self.batch.not_read)
        warnings += [f"{NOT_READ}{reason}" for reason in reasons]
        warnings += [f"{LEFT}{part.reason}" for part in self.check_result.doubtful_parts]
        return warnings + [f"quarantined: {one.describe()}" for one in self.check_result.outliers]

    def _build_publication(
        self,
        outcome: str,
        *,
        revision: Revision | None = None,
        held_batch: HeldBatch | None = None,
    ) -> Publication:
        return Publication(
            provider=self.batch.provider,
            outcome=outcome,
            offers=len(self.check_result.offers),
            changes=self.changes,
            rejected_rows=group_by_reason(self.check_result.rejected_rows),
            skipped=group_by_reason(self.batch.skipped),
            reasons=self.check_result.reasons,
            warnings=tuple(self._collect_warnings()),
            revision=revision,
            held_batch=held_batch,
            carried_over=self.check_result.carried_over,
            outliers=self.check_result.outliers,
            new_outliers=self.new_outliers,
        )
