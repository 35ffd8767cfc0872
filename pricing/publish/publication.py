"""The one way in: a batch is checked and published whole, quarantined whole, or refused whole.

Bundled catalog and live refresh both come through `publish`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import ProviderUnavailable
from pricing.market.offer_rows import from_row, to_row
from pricing.market.offers import Offer
from pricing.models import QuarantinedBatch, QuarantinedPrice, Revision
from pricing.publish import batch_checks
from pricing.publish.batch import (
    Changes,
    OfferBatch,
    ReasonCount,
    compare_offers,
    group_by_reason,
    pack,
    unpack,
)
from pricing.publish.batch_checks import Outlier
from pricing.revisions import LEFT, NOT_READ
from pricing.storage import bulk, reference, store
from pricing.storage.bulk import provider_lock

ExpectedOffers = Callable[[str], Sequence[Offer]]
"""provider → offers."""
_CLOCK_TOLERANCE = dt.timedelta(minutes=10)


@dataclass(frozen=True)
class Publication:
    """What became of a batch."""

    provider: str
    outcome: str
    """published, quarantined, or would_publish / would_quarantine of a dry run."""
    offers: int
    changes: Changes
    rejected_rows: dict[str, ReasonCount] = field(default_factory=dict)
    skipped: dict[str, ReasonCount] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    revision: Revision | None = None
    quarantined_batch: QuarantinedBatch | None = None
    carried_over: int = 0
    """Offers that stayed in force with their own dates."""
    outliers: tuple[Outlier, ...] = ()
    """Prices that were quarantined alone."""
    new_outliers: int = 0
    """Those of them that no earlier refresh brought."""


def publish(
    batch: OfferBatch, *, force: bool = False, dry_run: bool = False, today: dt.date | None = None
) -> Publication:
    """Check `batch` and publish it as the next revision, or quarantine it for review.

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

    `expected` gives what the batch is compared with where nothing is published yet; `released` are
    the quarantined prices that `batch` puts into what is in force.
    """
    batch = replace(batch, offers=store.to_stored_precision(batch.offers))
    day = today or timezone.now().date()
    with bulk.pause_garbage_collection():
        return _PublicationAttempt(batch, day, force, expected, released).run(dry_run)


def release(quarantined_batch: QuarantinedBatch, *, today: dt.date | None = None) -> Publication:
    """Publish a quarantined batch as it was fetched: a person overrules the checks."""
    if quarantined_batch.state != QuarantinedBatch.State.WAITING:
        raise InvalidInput(
            "quarantined_batch",
            f"{quarantined_batch} is not waiting; only a waiting one is released",
        )
    batch = unpack(bytes(quarantined_batch.payload))
    with provider_lock(quarantined_batch.provider):
        return publish_locked(batch, force=True, today=today)


def release_prices(
    rows: Sequence[QuarantinedPrice], *, today: dt.date | None = None
) -> Publication:
    """Publish quarantined prices of one provider beside all else that is in force of it."""
    provider = provider_of(rows)
    with provider_lock(provider):
        # What is in force of the provider, with the prices of `rows`.
        revision = store.latest(rows[0].provider)
        if revision is None:
            raise InvalidInput("rows", f"nothing is published of {rows[0].provider}")
        after = {row.offer_id: from_row(row.after) for row in rows}
        offers = store.read_offers(revision)
        missing = sorted(after.keys() - {offer.id for offer in offers})
        if missing:
            raise InvalidInput("rows", f"{missing[0]} is no longer in force; refresh the prices")
        batch = OfferBatch(
            provider=revision.provider,
            offers=tuple(after.get(offer.id, offer) for offer in offers),
            as_of=revision.as_of,
            origin=revision.origin,
        )
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
        self.current_revision = store.latest(batch.provider)
        self.stored_offers = (
            store.read_stored_offers(self.current_revision) if self.current_revision else []
        )
        current = self.current_revision
        published_state = batch_checks.PublishedState(
            offers=[stored.offer for stored in self.stored_offers],
            as_of=current.as_of if current else None,
            origin=current.origin if current else "",
            expected=[] if current else expected(batch.provider),
            exchange_rates=reference.exchange_rates(),
            known_regions=reference.region_names(batch.provider),
            read_ranges=store.read_price_ranges,
        )
        self.check_result = batch_checks.check(batch, published_state, today, force=force)
        before = {stored.offer.id: stored.offer for stored in self.stored_offers}
        self.changes = compare_offers(before, self.check_result.offers)

    def run(self, dry_run: bool) -> Publication:
        if not any(offer.sold_now for offer in self.check_result.offers):
            raise ProviderUnavailable(
                self.batch.provider,
                f"nothing to publish: {len(self.batch.offers)} offers came and none passed",
                "Published prices stay in force; the rejected rows give the reasons.",
            )
        if dry_run:
            return self._build_publication(
                "would_quarantine" if self.check_result.reasons else "would_publish"
            )
        with transaction.atomic():
            bulk.lock_publishing()
            if store.latest(self.batch.provider) != self.current_revision:
                raise ProviderUnavailable(
                    self.batch.provider,
                    "another revision was published while this one was checked",
                    "Run the refresh again when the other has finished.",
                )
            return self._quarantine() if self.check_result.reasons else self._publish()

    def _publish(self) -> Publication:
        revision = self._build_revision()
        store.write_revision(revision, self.check_result.offers, self.stored_offers)
        if self.released:
            QuarantinedPrice.objects.filter(pk__in=[row.pk for row in self.released]).update(
                state=State.RELEASED, revision=revision
            )
            return self._announce(revision)
        self.new_outliers = record(
            self.batch.provider, self.check_result.outliers, self.batch.offers
        )
        waiting_batches = QuarantinedBatch.objects.filter(
            provider=self.batch.provider, state=QuarantinedBatch.State.WAITING
        )
        if waiting_batches.exists():
            matching_batches = waiting_batches.filter(digest=self.batch.digest)
            matching_batches.update(state=QuarantinedBatch.State.RELEASED, revision=revision)
            waiting_batches.update(state=QuarantinedBatch.State.SUPERSEDED)
        return self._announce(revision)

    def _announce(self, revision: Revision) -> Publication:
        transaction.on_commit(partial(revision_published.send_robust, Revision, revision=revision))
        return self._build_publication("published", revision=revision)

    def _quarantine(self) -> Publication:
        digest = self.batch.digest
        waiting_batch = QuarantinedBatch.objects.filter(
            provider=self.batch.provider, state=QuarantinedBatch.State.WAITING, digest=digest
        ).first()
        if waiting_batch is not None:
            waiting_batch.seen_again_at = timezone.now()
            waiting_batch.save(update_fields=["seen_again_at"])
            return self._build_publication("quarantined", quarantined_batch=waiting_batch)
        quarantined_batch = QuarantinedBatch.objects.create(
            provider=self.batch.provider,
            reasons=list(self.check_result.reasons),
            offer_count=len(self.batch.offers),
            digest=digest,
            payload=pack(self.batch),
        )
        return self._build_publication("quarantined", quarantined_batch=quarantined_batch)

    def _build_revision(self) -> Revision:
        offers, changes = self.check_result.offers, self.changes
        sold_dates = [offer.as_of for offer in offers if offer.sold_now]
        now, before = timezone.now(), self.current_revision
        if self.released and before:
            reading: dict[str, Any] = {
                "skipped": before.skipped,
                "withheld": before.withheld,
                "warnings": [
                    *before.warnings,
                    *(f"released: {row.offer_id}" for row in self.released),
                ],
            }
        else:
            reading = {
                "skipped": group_by_reason(self.batch.skipped),
                "withheld": group_by_reason(self.check_result.rejected_rows),
                "warnings": self._collect_warnings(),
            }
        return Revision(
            provider=self.batch.provider,
            number=before.number + 1 if before else 1,
            # A clock that went back must not put a revision before the one it follows.
            published_at=max(now, before.published_at) if before else now,
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
            **reading,
        )

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
        quarantined_batch: QuarantinedBatch | None = None,
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
            quarantined_batch=quarantined_batch,
            carried_over=self.check_result.carried_over,
            outliers=self.check_result.outliers,
            new_outliers=self.new_outliers,
        )


_PRICE = ("price_per_hour", "upfront", "currency")
State = QuarantinedPrice.State


def record(provider: str, outliers: Iterable[Outlier], read: Iterable[Offer]) -> int:
    """Keep `outliers` for review and let go of those that were `read` within their band.

    Gives how many are new. A price that an operator rejected stays rejected while it is the same.
    Inside the transaction that publishes.
    """
    outliers_by_id = {one.offer.id: one for one in outliers}
    rows = QuarantinedPrice.objects.filter(provider=provider)
    waiting = rows.filter(state=State.WAITING)
    if not outliers_by_id and not waiting.exists():
        return 0
    read_ids = {offer.id for offer in read} - outliers_by_id.keys()
    # By the ids that wait, few: those that were read may be more than a query takes.
    superseded = read_ids.intersection(waiting.values_list("offer_id", flat=True))
    waiting.filter(offer_id__in=superseded).update(state=State.SUPERSEDED)
    decided = rows.filter(
        offer_id__in=list(outliers_by_id), state__in=(State.WAITING, State.REJECTED)
    )
    last = {row.offer_id: row for row in decided.order_by("id")}
    new = [
        one for key, one in outliers_by_id.items() if not _is_same_price(last.get(key), one.offer)
    ]
    again = [row.pk for key, row in last.items() if _is_same_price(row, outliers_by_id[key].offer)]
    rows.filter(pk__in=again).update(seen_again_at=timezone.now())
    waiting.filter(offer_id__in=[one.offer.id for one in new]).update(state=State.SUPERSEDED)
    QuarantinedPrice.objects.bulk_create(
        QuarantinedPrice(
            provider=provider,
            offer_id=one.offer.id,
            before=to_row(one.before),
            after=to_row(one.offer),
            ratio=one.ratio,
        )
        for one in new
    )
    return len(new)


def _is_same_price(row: QuarantinedPrice | None, offer: Offer) -> bool:
    if row is None:
        return False
    now = to_row(offer)
    return all(row.after[name] == now[name] for name in _PRICE)


def provider_of(rows: Sequence[QuarantinedPrice]) -> str:
    """The one provider of `rows`, all of which must wait; `InvalidInput` otherwise."""
    providers = {row.provider for row in rows}
    if len(providers) != 1:
        raise InvalidInput("rows", "prices of one provider are released at a time")
    decided = [row for row in rows if row.state != State.WAITING]
    if decided:
        raise InvalidInput("rows", f"{decided[0]} is not waiting; only a waiting one is released")
    return providers.pop()


revision_published = Signal()
"""Sent once a revision is committed, with `revision`."""

refresh_ended = Signal()
"""Sent once a refresh that may publish has ended, with `results`: what each provider came to."""
